#include "runtime/host/host_model.h"

#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/host/library.h"

namespace npu::rt {

using ort::call;

int toOnnxType(DType type) {
  switch (type) {
  case DType::kI8:
    return 3;
  case DType::kU8:
    return 2;
  case DType::kI16:
    return 5;
  case DType::kI32:
    return 6;
  case DType::kI64:
    return 7;
  case DType::kF16:
    return 10;
  case DType::kF32:
    return 1;
  case DType::kBool:
    return 9;
  case DType::kU16:
    return 4;
  case DType::kU32:
    return 12;
  case DType::kU64:
    return 13;
  case DType::kF64:
    return 11;
  case DType::kBF16:
    return 16;
  }
  return 0;
}

std::optional<DType> fromOnnxType(int type) {
  for (int t = 0; t < kNumDTypes; ++t)
    if (toOnnxType(static_cast<DType>(t)) == type)
      return static_cast<DType>(t);
  return std::nullopt;
}

/// Bytes of an element of any numeric type; 0 for the others.
static int64_t onnxTypeSize(int type) {
  static constexpr int kSizes[] = {0, 4, 1, 1, 2, 2, 4,  8, 0,
                                   1, 2, 8, 4, 8, 8, 16, 2};
  return type >= 0 && type < int(std::size(kSizes)) ? kSizes[type] : 0;
}

static int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

absl::StatusOr<std::string> hostRuntimeVersion(const std::string &library) {
  absl::StatusOr<const HostLibrary *> loaded = hostLibrary(library);
  if (!loaded.ok())
    return loaded.status();
  return (*loaded)->version;
}

struct HostModel::Impl {
  const HostLibrary *library = nullptr;
  std::string what;
  ort::Session *session = nullptr;
  ort::MemoryInfo *memory = nullptr;
  std::vector<const char *> inputNames, outputNames;

  ~Impl() {
    if (session)
      call<void>(library->table, ort::kReleaseSession, session);
    if (memory)
      call<void>(library->table, ort::kReleaseMemoryInfo, memory);
  }

  /// Calls a function that returns a status.
  template <typename... Args> absl::Status run(ort::Slot slot, Args... args) {
    return library->check(call<ort::Status *>(library->table, slot, args...),
                          what);
  }

  absl::Status open(absl::string_view bytes, int threads);
  absl::Status describe(bool input, std::vector<HostTensorInfo> *out);
  absl::Status describeType(ort::TypeInfo *type, HostTensorInfo *info);
  absl::Status shapeOf(const ort::ShapeInfo *shape, int *type,
                       std::vector<int64_t> *dims);
  absl::StatusOr<HostArray> read(ort::Value *value);
};

#define RETURN_IF_BAD(expression)                                              \
  if (absl::Status bad = (expression); !bad.ok())                              \
  return bad

namespace {

/// Values given back to the library in the end.
struct Values {
  explicit Values(const HostLibrary *library) : library(library) {}
  Values(const Values &) = delete;
  Values &operator=(const Values &) = delete;
  ~Values() {
    for (ort::Value *value : list)
      if (value)
        call<void>(library->table, ort::kReleaseValue, value);
  }

  absl::Status add(ort::MemoryInfo *memory, void *data, size_t bytes,
                   const std::vector<int64_t> &shape, int type,
                   const std::string &what) {
    ort::Value *value = nullptr;
    ort::Status *status =
        call<ort::Status *>(library->table, ort::kCreateTensorWithData,
                            static_cast<const ort::MemoryInfo *>(memory), data,
                            bytes, shape.data(), shape.size(), type, &value);
    list.push_back(value);
    return library->check(status, what);
  }

  const HostLibrary *library;
  std::vector<ort::Value *> list;
};

} // namespace

absl::Status HostModel::Impl::open(absl::string_view bytes, int threads) {
  ort::SessionOptions *options = nullptr;
  RETURN_IF_BAD(run(ort::kCreateSessionOptions, &options));
  absl::Status status = run(ort::kSetIntraOpNumThreads, options, threads);
  if (status.ok())
    status = run(ort::kSetInterOpNumThreads, options, 1);
  if (status.ok())
    status = run(ort::kCreateSessionFromArray,
                 static_cast<const ort::Env *>(library->env),
                 static_cast<const void *>(bytes.data()), bytes.size(),
                 static_cast<const ort::SessionOptions *>(options), &session);
  call<void>(library->table, ort::kReleaseSessionOptions, options);
  RETURN_IF_BAD(status);
  return run(ort::kCreateCpuMemoryInfo, ort::kArenaAllocator,
             ort::kDefaultMemory, &memory);
}

absl::Status HostModel::Impl::shapeOf(const ort::ShapeInfo *shape, int *type,
                                      std::vector<int64_t> *dims) {
  size_t rank = 0;
  RETURN_IF_BAD(run(ort::kGetTensorElementType, shape, type));
  RETURN_IF_BAD(run(ort::kGetDimensionsCount, shape, &rank));
  dims->resize(rank);
  return run(ort::kGetDimensions, shape, dims->data(), rank);
}

absl::Status HostModel::Impl::describeType(ort::TypeInfo *type,
                                           HostTensorInfo *info) {
  const ort::ShapeInfo *tensor = nullptr; // owned by `type`
  RETURN_IF_BAD(run(ort::kCastTypeInfoToTensorInfo,
                    static_cast<const ort::TypeInfo *>(type), &tensor));
  return tensor ? shapeOf(tensor, &info->type, &info->shape) : absl::OkStatus();
}

absl::Status HostModel::Impl::describe(bool input,
                                       std::vector<HostTensorInfo> *out) {
  auto *s = static_cast<const ort::Session *>(session);
  size_t count = 0;
  RETURN_IF_BAD(
      run(input ? ort::kSessionGetInputCount : ort::kSessionGetOutputCount, s,
          &count));
  ort::Allocator *allocator = nullptr;
  RETURN_IF_BAD(run(ort::kGetAllocatorWithDefaultOptions, &allocator));
  for (size_t i = 0; i < count; ++i) {
    HostTensorInfo info;
    char *name = nullptr;
    RETURN_IF_BAD(
        run(input ? ort::kSessionGetInputName : ort::kSessionGetOutputName, s,
            i, allocator, &name));
    info.name = name;
    RETURN_IF_BAD(
        run(ort::kAllocatorFree, allocator, static_cast<void *>(name)));
    ort::TypeInfo *type = nullptr;
    RETURN_IF_BAD(run(input ? ort::kSessionGetInputTypeInfo
                            : ort::kSessionGetOutputTypeInfo,
                      s, i, &type));
    absl::Status status = describeType(type, &info);
    call<void>(library->table, ort::kReleaseTypeInfo, type);
    RETURN_IF_BAD(status);
    out->push_back(std::move(info));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostArray> HostModel::Impl::read(ort::Value *value) {
  HostArray array;
  int isTensor = 0;
  RETURN_IF_BAD(
      run(ort::kIsTensor, static_cast<const ort::Value *>(value), &isTensor));
  if (!isTensor)
    return array;
  ort::ShapeInfo *shape = nullptr;
  RETURN_IF_BAD(run(ort::kGetTensorTypeAndShape,
                    static_cast<const ort::Value *>(value), &shape));
  absl::Status status = shapeOf(shape, &array.type, &array.shape);
  call<void>(library->table, ort::kReleaseShapeInfo, shape);
  RETURN_IF_BAD(status);
  void *data = nullptr;
  RETURN_IF_BAD(run(ort::kGetTensorMutableData, value, &data));
  size_t bytes = countOf(array.shape) * onnxTypeSize(array.type);
  if (bytes)
    array.bytes.assign(static_cast<const char *>(data), bytes);
  return array;
}

HostModel::HostModel() : impl_(std::make_unique<Impl>()) {}
HostModel::~HostModel() = default;

absl::StatusOr<std::unique_ptr<HostModel>>
HostModel::load(absl::string_view bytes, const std::string &what,
                const HostOptions &options) {
  absl::StatusOr<const HostLibrary *> library = hostLibrary(options.library);
  if (!library.ok())
    return absl::Status(library.status().code(),
                        absl::StrCat(what, ": ", library.status().message()));
  int threads = options.threads
                    ? options.threads
                    : std::max(1u, std::thread::hardware_concurrency());
  std::unique_ptr<HostModel> model(new HostModel);
  model->impl_->library = *library;
  model->impl_->what = what;
  RETURN_IF_BAD(model->impl_->open(bytes, threads));
  RETURN_IF_BAD(model->impl_->describe(true, &model->inputs_));
  RETURN_IF_BAD(model->impl_->describe(false, &model->outputs_));
  for (const HostTensorInfo &info : model->inputs_)
    model->impl_->inputNames.push_back(info.name.c_str());
  for (const HostTensorInfo &info : model->outputs_)
    model->impl_->outputNames.push_back(info.name.c_str());
  return model;
}

static size_t bytesOf(const HostTensorInfo &info) {
  return countOf(info.shape) * onnxTypeSize(info.type);
}

absl::Status HostModel::run(const std::vector<uint8_t *> &inputs,
                            const std::vector<uint8_t *> &outputs) {
  Impl &m = *impl_;
  Values in(m.library), out(m.library);
  for (auto [data, infos, values] :
       {std::tuple{&inputs, &inputs_, &in}, {&outputs, &outputs_, &out}}) {
    if (data->size() != infos->size())
      return absl::InvalidArgumentError(
          absl::StrCat(m.what, ": ", data->size(), " buffers for ",
                       infos->size(), " tensors"));
    for (size_t i = 0; i < infos->size(); ++i) {
      const HostTensorInfo &info = (*infos)[i];
      RETURN_IF_BAD(values->add(m.memory, (*data)[i], bytesOf(info), info.shape,
                                info.type, m.what));
    }
  }
  return m.run(ort::kRun, m.session, static_cast<const void *>(nullptr),
               static_cast<const char *const *>(m.inputNames.data()),
               static_cast<const ort::Value *const *>(in.list.data()),
               in.list.size(),
               static_cast<const char *const *>(m.outputNames.data()),
               out.list.size(), out.list.data());
}

absl::StatusOr<std::vector<HostArray>>
HostModel::evaluate(const std::vector<HostArray> &inputs) {
  Impl &m = *impl_;
  Values in(m.library), out(m.library);
  for (const HostArray &a : inputs)
    RETURN_IF_BAD(in.add(m.memory, const_cast<char *>(a.bytes.data()),
                         a.bytes.size(), a.shape, a.type, m.what));
  out.list.resize(outputs_.size(), nullptr);
  RETURN_IF_BAD(m.run(ort::kRun, m.session, static_cast<const void *>(nullptr),
                      static_cast<const char *const *>(m.inputNames.data()),
                      static_cast<const ort::Value *const *>(in.list.data()),
                      in.list.size(),
                      static_cast<const char *const *>(m.outputNames.data()),
                      out.list.size(), out.list.data()));
  std::vector<HostArray> results;
  for (ort::Value *value : out.list) {
    absl::StatusOr<HostArray> array = m.read(value);
    if (!array.ok())
      return array.status();
    results.push_back(*std::move(array));
  }
  return results;
}

} // namespace npu::rt
