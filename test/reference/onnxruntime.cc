#include "test/reference/onnxruntime.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "third_party/onnxruntime/include/onnxruntime_c_api.h"

namespace npu::reference {

namespace {

absl::StatusOr<const OrtApi *> api() {
  static void *library = [] {
    const char *path = std::getenv("NPU_ONNXRUNTIME");
    return dlopen(path ? path
                       : "third_party/onnxruntime/lib/libonnxruntime.so.1",
                  RTLD_NOW | RTLD_LOCAL);
  }();
  if (!library)
    return absl::UnavailableError(
        absl::StrCat("ONNX Runtime is not installed: ", dlerror(),
                     "; run tools/dev/setup.sh test"));
  auto base = reinterpret_cast<const OrtApiBase *(*)()>(
      dlsym(library, "OrtGetApiBase"));
  return base()->GetApi(ORT_API_VERSION);
}

size_t sizeOfType(ONNXTensorElementDataType type) {
  switch (type) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    return 1;
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
    return 2;
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
    return 4;
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
    return 8;
  default:
    return 0;
  }
}

template <typename T>
std::vector<float> convert(const std::vector<uint8_t> &bytes) {
  std::vector<float> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
    out[i] = float(value);
  }
  return out;
}

} // namespace

int64_t Tensor::count() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

std::vector<float> Tensor::floats() const {
  switch (type) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
    return convert<float>(bytes);
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
    return convert<double>(bytes);
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
    return convert<int8_t>(bytes);
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
    return convert<uint8_t>(bytes);
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
    return convert<int16_t>(bytes);
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
    return convert<int32_t>(bytes);
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
    return convert<int64_t>(bytes);
  default:
    return {};
  }
}

Tensor Tensor::ofFloats(std::string name, std::vector<int64_t> shape,
                        const std::vector<float> &values) {
  Tensor t{std::move(name),
           ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
           std::move(shape),
           {}};
  t.bytes.resize(values.size() * sizeof(float));
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

struct Model::Impl {
  const OrtApi *ort;
  OrtEnv *env = nullptr;
  OrtSession *session = nullptr;
  OrtMemoryInfo *memory = nullptr;
  std::vector<ValueInfo> inputs, outputs;

  ~Impl() {
    if (session)
      ort->ReleaseSession(session);
    if (memory)
      ort->ReleaseMemoryInfo(memory);
    if (env)
      ort->ReleaseEnv(env);
  }

  absl::Status check(OrtStatus *status) {
    if (!status)
      return absl::OkStatus();
    absl::Status result = absl::InternalError(
        absl::StrCat("ONNX Runtime: ", ort->GetErrorMessage(status)));
    ort->ReleaseStatus(status);
    return result;
  }

  absl::Status open(const std::string &path, int threads, bool optimise);
  absl::Status describe(bool input, std::vector<ValueInfo> *out);
  absl::StatusOr<Tensor> read(const std::string &name, OrtValue *value);
};

#define RETURN_IF_BAD(expression)                                              \
  if (absl::Status status = check(expression); !status.ok())                   \
  return status

absl::Status Model::Impl::open(const std::string &path, int threads,
                               bool optimise) {
  RETURN_IF_BAD(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "reference", &env));
  OrtSessionOptions *options;
  RETURN_IF_BAD(ort->CreateSessionOptions(&options));
  std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions *)> owner(
      options, ort->ReleaseSessionOptions);
  RETURN_IF_BAD(ort->SetIntraOpNumThreads(options, threads));
  RETURN_IF_BAD(ort->SetInterOpNumThreads(options, 1));
  RETURN_IF_BAD(ort->SetSessionGraphOptimizationLevel(
      options, optimise ? ORT_ENABLE_ALL : ORT_DISABLE_ALL));
  RETURN_IF_BAD(ort->CreateSession(env, path.c_str(), options, &session));
  RETURN_IF_BAD(
      ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  if (absl::Status status = describe(true, &inputs); !status.ok())
    return status;
  return describe(false, &outputs);
}

absl::Status Model::Impl::describe(bool input, std::vector<ValueInfo> *out) {
  size_t count;
  RETURN_IF_BAD(input ? ort->SessionGetInputCount(session, &count)
                      : ort->SessionGetOutputCount(session, &count));
  OrtAllocator *allocator;
  RETURN_IF_BAD(ort->GetAllocatorWithDefaultOptions(&allocator));
  for (size_t i = 0; i < count; ++i) {
    ValueInfo info;
    char *name;
    RETURN_IF_BAD(
        input ? ort->SessionGetInputName(session, i, allocator, &name)
              : ort->SessionGetOutputName(session, i, allocator, &name));
    info.name = name;
    allocator->Free(allocator, name);
    OrtTypeInfo *type;
    RETURN_IF_BAD(input ? ort->SessionGetInputTypeInfo(session, i, &type)
                        : ort->SessionGetOutputTypeInfo(session, i, &type));
    const OrtTensorTypeAndShapeInfo *tensor = nullptr;
    RETURN_IF_BAD(ort->CastTypeInfoToTensorInfo(type, &tensor));
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    if (tensor) {
      RETURN_IF_BAD(ort->GetTensorElementType(tensor, &element));
      RETURN_IF_BAD(ort->GetDimensionsCount(tensor, &rank));
      info.shape.resize(rank);
      RETURN_IF_BAD(ort->GetDimensions(tensor, info.shape.data(), rank));
    }
    info.type = element;
    ort->ReleaseTypeInfo(type);
    out->push_back(std::move(info));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Model::Impl::read(const std::string &name,
                                         OrtValue *value) {
  Tensor t;
  t.name = name;
  OrtTensorTypeAndShapeInfo *info;
  RETURN_IF_BAD(ort->GetTensorTypeAndShape(value, &info));
  std::unique_ptr<OrtTensorTypeAndShapeInfo,
                  void (*)(OrtTensorTypeAndShapeInfo *)>
      owner(info, ort->ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type;
  size_t rank;
  RETURN_IF_BAD(ort->GetTensorElementType(info, &type));
  RETURN_IF_BAD(ort->GetDimensionsCount(info, &rank));
  t.type = type;
  t.shape.resize(rank);
  RETURN_IF_BAD(ort->GetDimensions(info, t.shape.data(), rank));
  void *data;
  RETURN_IF_BAD(ort->GetTensorMutableData(value, &data));
  t.bytes.resize(t.count() * sizeOfType(type));
  std::memcpy(t.bytes.data(), data, t.bytes.size());
  return t;
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

absl::StatusOr<std::unique_ptr<Model>> Model::load(const std::string &path,
                                                   int threads, bool optimise) {
  absl::StatusOr<const OrtApi *> ort = api();
  if (!ort.ok())
    return ort.status();
  auto impl = std::make_unique<Impl>();
  impl->ort = *ort;
  if (absl::Status status = impl->open(path, threads, optimise); !status.ok())
    return status;
  return std::unique_ptr<Model>(new Model(std::move(impl)));
}

const std::vector<ValueInfo> &Model::inputs() const { return impl_->inputs; }
const std::vector<ValueInfo> &Model::outputs() const { return impl_->outputs; }

absl::StatusOr<std::vector<Tensor>>
Model::run(const std::vector<Tensor> &inputs) {
  const OrtApi *ort = impl_->ort;
  auto check = [&](OrtStatus *status) { return impl_->check(status); };
  using Value = std::unique_ptr<OrtValue, void (*)(OrtValue *)>;
  std::vector<Value> owned;
  std::vector<const OrtValue *> values;
  std::vector<const char *> inputNames, outputNames;
  for (const Tensor &t : inputs) {
    OrtValue *value;
    RETURN_IF_BAD(ort->CreateTensorWithDataAsOrtValue(
        impl_->memory, const_cast<uint8_t *>(t.bytes.data()), t.bytes.size(),
        t.shape.data(), t.shape.size(), ONNXTensorElementDataType(t.type),
        &value));
    owned.emplace_back(value, ort->ReleaseValue);
    values.push_back(value);
    inputNames.push_back(t.name.c_str());
  }
  for (const ValueInfo &info : impl_->outputs)
    outputNames.push_back(info.name.c_str());
  std::vector<OrtValue *> results(outputNames.size(), nullptr);
  RETURN_IF_BAD(ort->Run(impl_->session, nullptr, inputNames.data(),
                         values.data(), values.size(), outputNames.data(),
                         outputNames.size(), results.data()));
  for (OrtValue *value : results)
    owned.emplace_back(value, ort->ReleaseValue);
  std::vector<Tensor> out;
  for (size_t i = 0; i < results.size(); ++i) {
    absl::StatusOr<Tensor> t = impl_->read(outputNames[i], results[i]);
    if (!t.ok())
      return t.status();
    out.push_back(*std::move(t));
  }
  return out;
}

} // namespace npu::reference
