#include "test/e2e/golden.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "absl/strings/str_cat.h"
#include "runtime/support/file.h"

namespace npu::golden {

std::vector<Model> models() {
  const char *root = std::getenv("NPU_MODELS");
  std::vector<Model> list;
  if (!root)
    return list;
  auto json = rt::readJsonFile("test/e2e/golden.json");
  if (!json.ok())
    return list;
  for (const rt::Json &entry : (*json)["models"]) {
    Model model;
    model.name = entry["model"];
    model.path = absl::StrCat(root, "/golden/", model.name, ".onnx");
    if (!std::filesystem::exists(model.path))
      continue;
    model.kind = entry["kind"];
    model.knownCosine = entry.value("int8_cosine_known", 0.0);
    model.later = entry.value("later", std::string());
    std::string data = entry.value("data", std::string());
    if (!data.empty() &&
        std::filesystem::exists(absl::StrCat(root, "/data/", data)))
      model.data = absl::StrCat(root, "/data/", data);
    if (entry.contains("input")) {
      auto config = parseConfig(rt::Json{{"input", entry["input"]}}.dump(),
                                model.name, "");
      if (config.ok())
        model.inputs = config->inputs;
    }
    list.push_back(std::move(model));
  }
  return list;
}

std::vector<Model> moreModels() {
  std::vector<Model> list;
  const char *folder = std::getenv("NPU_MORE_MODELS");
  std::error_code error;
  for (const auto &file :
       std::filesystem::directory_iterator(folder ? folder : "", error)) {
    if (file.path().extension() != ".onnx")
      continue;
    Model model;
    model.name = file.path().stem();
    model.path = file.path();
    model.kind = "other";
    list.push_back(std::move(model));
  }
  return list;
}

absl::StatusOr<std::unique_ptr<Compiler>> Toolchain::import() {
  auto compiler = std::make_unique<Compiler>("");
  ImportRequest request;
  for (const InputConfig &input : model_.inputs)
    if (!input.shape.empty())
      request.shapes[input.preprocess.name] = input.shape;
  absl::Status status = compiler->import(model_.path, request);
  if (status.ok())
    status = compiler->optimise();
  if (!status.ok())
    return status;
  specs_.clear();
  for (const TensorSignature &t : compiler->inputs()) {
    InputSpec spec{t.name, t.shape, std::nullopt};
    for (const InputConfig &input : model_.inputs)
      if (input.isPicture &&
          (input.preprocess.name.empty() || input.preprocess.name == t.name))
        spec.picture = input.preprocess;
    specs_.push_back(spec);
  }
  return compiler;
}

absl::StatusOr<std::vector<Sample>> Toolchain::samples(int count) {
  std::vector<Sample> result;
  if (!model_.data.empty()) {
    auto dataset = openDataset(model_.data, specs_, count);
    if (!dataset.ok())
      return dataset.status();
    for (size_t i = 0; i < (*dataset)->size(); ++i) {
      auto sample = (*dataset)->get(i);
      if (!sample.ok())
        return sample.status();
      result.push_back(*std::move(sample));
    }
    return result;
  }
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int i = 0; i < count; ++i) {
    Sample sample;
    for (const InputSpec &spec : specs_) {
      calibration::InputTensor tensor{spec.name, spec.shape, {}};
      int64_t n = 1;
      for (int64_t d : spec.shape)
        n *= d;
      for (int64_t k = 0; k < n; ++k)
        tensor.data.push_back(normal(random));
      sample.push_back(std::move(tensor));
    }
    result.push_back(std::move(sample));
  }
  return result;
}

absl::Status Toolchain::calibrate(int count, const std::string &stats) {
  auto compiler = import();
  if (!compiler.ok())
    return compiler.status();
  auto bytes = (*compiler)->calibrationBlob();
  if (!bytes.ok())
    return bytes.status();
  auto blob = rt::Blob::parse(*bytes, "the float program");
  if (!blob.ok())
    return blob.status();
  rt::DeviceOptions device;
  device.threads = 0;
  auto runner = SessionRunner::create(*blob, device);
  if (!runner.ok())
    return runner.status();
  class Memory : public calibration::Dataset {
  public:
    explicit Memory(std::vector<Sample> samples)
        : samples_(std::move(samples)) {}
    size_t size() const override { return samples_.size(); }
    std::string name(size_t i) const override { return absl::StrCat(i); }
    absl::StatusOr<Sample> get(size_t i) override { return samples_[i]; }

  private:
    std::vector<Sample> samples_;
  };
  auto all = samples(count);
  if (!all.ok())
    return all.status();
  Tuner::Samples shown = *all;
  Memory dataset(*std::move(all));
  auto result = calibration::runCalibration(**runner, dataset, {});
  if (!result.ok())
    return result.status();
  if (absl::Status s = result->save(stats); !s.ok())
    return s;
  auto tuner = Tuner::create(**compiler, **runner, std::move(shown));
  if (!tuner.ok())
    return tuner.status();
  request_.stats = stats;
  request_.method = "auto";
  return (*tuner)->settle(&request_).status();
}

absl::StatusOr<std::shared_ptr<const rt::Blob>>
Toolchain::build(const std::string &target, const std::string &stats) {
  auto compiler = import();
  if (!compiler.ok())
    return compiler.status();
  absl::Status status;
  if (!stats.empty())
    status = (*compiler)->quantise(request_);
  if (status.ok())
    status = (*compiler)->compile(target, 0);
  if (!status.ok())
    return status;
  auto bytes = (*compiler)->emit({});
  if (!bytes.ok())
    return bytes.status();
  return rt::Blob::parse(*bytes, "the blob");
}

absl::StatusOr<Outputs> run(std::shared_ptr<const rt::Blob> blob,
                            const Sample &sample, int threads, bool portable) {
  rt::DeviceOptions device;
  device.threads = threads;
  device.portable = portable;
  size_t count = blob->outputs().size();
  auto runner = SessionRunner::create(std::move(blob), device);
  if (!runner.ok())
    return runner.status();
  if (absl::Status s = (*runner)->run(sample, nullptr); !s.ok())
    return s;
  Outputs outputs;
  for (size_t i = 0; i < count; ++i)
    outputs.push_back((*runner)->output(i));
  return outputs;
}

absl::StatusOr<Outputs> runReference(reference::Model &model,
                                     const Sample &sample) {
  std::vector<reference::Tensor> inputs;
  for (const calibration::InputTensor &input : sample) {
    int type = 1;
    for (const reference::ValueInfo &info : model.inputs())
      if (info.name == input.name)
        type = info.type;
    reference::Tensor tensor =
        reference::Tensor::ofFloats(input.name, input.shape, input.data);
    // ONNX's numbers of element types.
    auto as = [&](rt::DType dtype) {
      tensor.type = type;
      tensor.bytes.resize(input.data.size() * rt::sizeOf(dtype));
      fromFloats(input.data.data(), input.data.size(), dtype,
                 tensor.bytes.data());
    };
    if (type == 2)
      as(rt::DType::kU8);
    else if (type == 3)
      as(rt::DType::kI8);
    else if (type == 6)
      as(rt::DType::kI32);
    else if (type == 7)
      as(rt::DType::kI64);
    inputs.push_back(std::move(tensor));
  }
  auto result = model.run(inputs);
  if (!result.ok())
    return result.status();
  Outputs outputs;
  for (const reference::Tensor &tensor : *result)
    outputs.push_back(tensor.floats());
  return outputs;
}

double relativeError(const std::vector<float> &a, const std::vector<float> &b) {
  if (a.size() != b.size())
    return INFINITY;
  double error = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == a[i]))
      return INFINITY;
    error = std::max<double>(error, std::fabs(a[i] - b[i]));
    largest = std::max<double>(largest, std::fabs(b[i]));
  }
  return largest < 1e-6 ? error : error / largest;
}

} // namespace npu::golden
