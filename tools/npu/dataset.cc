#include "tools/npu/dataset.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/npz/npz.h"
#include "runtime/support/file.h"

namespace npu {

using calibration::Dataset;
using calibration::InputTensor;
using rt::Array;
using Inputs = std::vector<InputSpec>;

namespace {

bool isPicture(const std::string &path) {
  for (const std::string &extension : rt::imageExtensions())
    if (absl::EndsWithIgnoreCase(path, extension))
      return true;
  return false;
}

std::string join(const std::vector<int64_t> &dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

/// The input that pictures go to.
absl::StatusOr<const InputSpec *> pictureInput(const Inputs &inputs,
                                               const std::string &path) {
  if (inputs.size() != 1)
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": a picture is one input, the model has ", inputs.size(),
        "; give .npz files with an array for each"));
  if (!inputs[0].picture)
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": how a picture becomes the input '", inputs[0].name, "' ",
        join(inputs[0].shape),
        " is not known; give mean, std, format and layout under \"input\" of "
        "--config"));
  return &inputs[0];
}

/// One sample of an array: row `i`, or all of it when `i` < 0.
absl::StatusOr<InputTensor> fromArray(const Array &array, int64_t i,
                                      const InputSpec &input,
                                      const std::string &what) {
  Array sample = i < 0 ? array : array.row(i);
  InputTensor tensor{input.name, input.shape, {}};
  size_t rank = sample.shape.size();
  bool picture = input.picture && sample.dtype == rt::DType::kU8 &&
                 (rank == 3 || (rank == 4 && sample.shape[0] == 1)) &&
                 sample.shape[rank - 1] == 3;
  if (picture) {
    rt::Image image;
    image.height = sample.shape[rank - 3];
    image.width = sample.shape[rank - 2];
    image.pixels.assign(sample.bytes.begin(), sample.bytes.end());
    int64_t count = 1;
    for (int64_t d : input.shape)
      count *= d;
    tensor.data.resize(count);
    if (absl::Status s = rt::preprocessImage(image, *input.picture, input.shape,
                                             tensor.data.data());
        !s.ok())
      return absl::Status(s.code(), absl::StrCat(what, ": ", s.message()));
    return tensor;
  }
  // A sample may come without the batch dimension, or with it.
  std::vector<int64_t> given = sample.shape, expected = input.shape;
  auto dropBatch = [](std::vector<int64_t> *dims) {
    if (!dims->empty() && dims->front() == 1)
      dims->erase(dims->begin());
  };
  if (given != expected) {
    dropBatch(&given);
    dropBatch(&expected);
  }
  if (given != expected)
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": input '", input.name, "' takes ",
                     join(input.shape), ", not ", join(sample.shape)));
  tensor.data = sample.floats();
  return tensor;
}

/// The array of each input.
absl::StatusOr<std::vector<const Array *>>
match(const std::vector<Array> &arrays, const Inputs &inputs,
      const std::string &path) {
  std::vector<const Array *> found;
  for (const InputSpec &input : inputs) {
    const Array *array = nullptr;
    for (const Array &a : arrays)
      if (a.name == input.name ||
          (!array && inputs.size() == 1 && (a.name == "x" || a.name.empty())))
        array = &a;
    if (!array) {
      std::vector<std::string> names;
      for (const Array &a : arrays)
        names.push_back(a.name);
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": no array for input '", input.name,
                       "'; it holds ", absl::StrJoin(names, ", ")));
    }
    found.push_back(array);
  }
  return found;
}

std::vector<size_t> spread(size_t all, int64_t limit) {
  size_t n = limit > 0 ? std::min<size_t>(all, limit) : all;
  std::vector<size_t> picked(n);
  for (size_t i = 0; i < n; ++i)
    picked[i] = i * all / n;
  return picked;
}

class FolderDataset : public Dataset {
public:
  FolderDataset(std::vector<std::string> files, Inputs inputs)
      : files_(std::move(files)), inputs_(std::move(inputs)) {}
  size_t size() const override { return files_.size(); }
  std::string name(size_t i) const override { return files_[i]; }
  absl::StatusOr<std::vector<InputTensor>> get(size_t i) override {
    return readSample(files_[i], inputs_);
  }

private:
  std::vector<std::string> files_;
  Inputs inputs_;
};

class ArrayDataset : public Dataset {
public:
  ArrayDataset(std::string path, std::vector<Array> arrays, Inputs inputs,
               std::vector<size_t> rows)
      : path_(std::move(path)), arrays_(std::move(arrays)),
        inputs_(std::move(inputs)), rows_(std::move(rows)) {}
  size_t size() const override { return rows_.size(); }
  std::string name(size_t i) const override {
    return absl::StrCat(path_, "[", rows_[i], "]");
  }
  absl::StatusOr<std::vector<InputTensor>> get(size_t i) override {
    auto matched = match(arrays_, inputs_, path_);
    if (!matched.ok())
      return matched.status();
    std::vector<InputTensor> sample;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      auto tensor = fromArray(*(*matched)[k], rows_[i], inputs_[k], name(i));
      if (!tensor.ok())
        return tensor.status();
      sample.push_back(*std::move(tensor));
    }
    return sample;
  }

private:
  std::string path_;
  std::vector<Array> arrays_;
  Inputs inputs_;
  std::vector<size_t> rows_;
};

absl::StatusOr<std::unique_ptr<Dataset>>
openArrays(const std::string &path, const Inputs &inputs, int64_t limit) {
  auto arrays = rt::readArrays(path);
  if (!arrays.ok())
    return arrays.status();
  auto matched = match(*arrays, inputs, path);
  if (!matched.ok())
    return matched.status();
  int64_t rows = -1;
  for (const Array *array : *matched) {
    int64_t n = array->shape.empty() ? 0 : array->shape[0];
    if (n == 0 || (rows >= 0 && n != rows))
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": arrays must have one sample per index of their first "
                "dimension, the same number in all"));
    rows = n;
  }
  std::vector<size_t> picked = spread(rows, limit);
  return std::unique_ptr<Dataset>(
      new ArrayDataset(path, *std::move(arrays), inputs, std::move(picked)));
}

} // namespace

absl::StatusOr<Inputs> inputSpecs(const rt::Blob &blob) {
  Inputs specs;
  for (const rt::TensorInfo &input : blob.inputs()) {
    InputSpec spec{input.name, input.shape, std::nullopt};
    if (!input.preprocess.empty()) {
      auto picture = rt::preprocessFromJson(input.preprocess);
      if (!picture.ok())
        return picture.status();
      spec.picture = *std::move(picture);
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

absl::StatusOr<std::vector<InputTensor>> readSample(const std::string &path,
                                                    const Inputs &inputs) {
  if (isPicture(path)) {
    auto input = pictureInput(inputs, path);
    if (!input.ok())
      return input.status();
    auto data = rt::preprocessFile(path, *(*input)->picture, (*input)->shape);
    if (!data.ok())
      return data.status();
    return std::vector<InputTensor>{
        {(*input)->name, (*input)->shape, *std::move(data)}};
  }
  if (!absl::EndsWithIgnoreCase(path, ".npz") &&
      !absl::EndsWithIgnoreCase(path, ".npy"))
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": not a picture (", absl::StrJoin(rt::imageExtensions(), " "),
        "), .npy or .npz file"));
  auto arrays = rt::readArrays(path);
  if (!arrays.ok())
    return arrays.status();
  auto matched = match(*arrays, inputs, path);
  if (!matched.ok())
    return matched.status();
  std::vector<InputTensor> sample;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto tensor = fromArray(*(*matched)[i], -1, inputs[i], path);
    if (!tensor.ok())
      return tensor.status();
    sample.push_back(*std::move(tensor));
  }
  return sample;
}

absl::StatusOr<std::unique_ptr<Dataset>>
openDataset(const std::string &path, const Inputs &inputs, int64_t limit) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    if (absl::EndsWithIgnoreCase(path, ".npz"))
      return openArrays(path, inputs, limit);
    return absl::NotFoundError(absl::StrCat(
        path, ": no such folder; give a folder of pictures, .npy or .npz "
              "files, or one .npz file"));
  }
  auto pictures = rt::listFiles(path, rt::imageExtensions());
  auto arrays = rt::listFiles(path, {".npy", ".npz"});
  if (!pictures.ok() || !arrays.ok())
    return pictures.ok() ? arrays.status() : pictures.status();
  if (pictures->empty() && arrays->empty())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": holds no pictures (",
                     absl::StrJoin(rt::imageExtensions(), " "),
                     ") and no .npy or .npz files"));
  if (!pictures->empty() && !arrays->empty())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": holds both pictures and arrays; keep one kind"));
  if (!pictures->empty())
    if (auto input = pictureInput(inputs, path); !input.ok())
      return input.status();
  const auto &all = pictures->empty() ? *arrays : *pictures;
  std::vector<std::string> files;
  for (size_t i : spread(all.size(), limit))
    files.push_back(all[i]);
  return std::unique_ptr<Dataset>(new FolderDataset(std::move(files), inputs));
}

} // namespace npu
