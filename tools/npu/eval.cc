#include <algorithm>
#include <filesystem>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/npz/npz.h"
#include "runtime/support/file.h"
#include "tools/npu/commands.h"
#include "tools/npu/dataset.h"
#include "tools/npu/session_runner.h"
#include "tools/npu/table.h"

namespace npu {
namespace {

/// Samples and their classes: a CSV of files, or a .npz with labels `y`.
struct Labelled {
  std::vector<std::string> files;   ///< empty: rows of `arrays`
  std::vector<std::string> classes; ///< a name or a number
  std::string arrays;
};

absl::StatusOr<Labelled> readCsv(const EvalOptions &options) {
  absl::StatusOr<std::string> text = rt::readFile(options.labels);
  if (!text.ok())
    return text.status();
  Labelled data;
  std::string folder = options.folder;
  if (folder.empty())
    folder = std::filesystem::path(options.labels).parent_path().string();
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty())
      continue;
    std::pair<std::string, std::string> fields =
        absl::StrSplit(line, absl::MaxSplits(',', 1));
    if (number == 1 && fields.first == "file")
      continue;
    if (fields.second.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(options.labels, ":", number, ": expected FILE,CLASS"));
    data.files.push_back(folder + "/" + fields.first);
    data.classes.push_back(fields.second);
  }
  if (data.files.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(options.labels, ": holds no samples"));
  return data;
}

absl::StatusOr<Labelled> readLabels(const EvalOptions &options) {
  if (!absl::EndsWithIgnoreCase(options.labels, ".npz"))
    return readCsv(options);
  auto arrays = rt::readArrays(options.labels);
  if (!arrays.ok())
    return arrays.status();
  for (const rt::Array &array : *arrays)
    if (array.name == "y" && array.shape.size() == 1) {
      Labelled data;
      data.arrays = options.labels;
      for (float value : array.floats())
        data.classes.push_back(absl::StrCat(int64_t(value)));
      return data;
    }
  return absl::InvalidArgumentError(
      absl::StrCat(options.labels, ": has no labels; name the array y"));
}

/// The class's index: a number, or a name among the blob's labels.
absl::StatusOr<int64_t> classIndex(const std::string &text,
                                   const std::vector<std::string> &labels,
                                   int64_t offset) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == text)
      return int64_t(i);
  int64_t index;
  if (absl::SimpleAtoi(text, &index))
    return index + offset;
  return absl::NotFoundError(absl::StrCat(
      "class '", text, "' is no number and not among the blob's labels"));
}

struct Accuracy {
  std::string blob, mode;
  int64_t samples = 0, top1 = 0, top5 = 0;
  std::vector<int64_t> predicted;
};

absl::StatusOr<Accuracy> evaluate(const std::string &path, const Labelled &data,
                                  const EvalOptions &options) {
  auto blob = rt::Blob::open(path);
  if (!blob.ok())
    return blob.status();
  auto specs = inputSpecs(**blob);
  if (!specs.ok())
    return specs.status();
  std::unique_ptr<calibration::Dataset> rows;
  if (data.files.empty()) {
    auto opened = openDataset(data.arrays, *specs, 0);
    if (!opened.ok())
      return opened.status();
    rows = *std::move(opened);
  }
  rt::DeviceOptions device;
  device.threads = options.threads;
  auto runner = SessionRunner::create(*blob, device);
  if (!runner.ok())
    return runner.status();
  std::vector<std::string> labels =
      absl::StrSplit((*blob)->info("labels"), '\n');
  Accuracy result{std::filesystem::path(path).filename().string(),
                  (*blob)->info("mode"),
                  0,
                  0,
                  0,
                  {}};
  size_t count = data.classes.size();
  if (options.limit > 0)
    count = std::min<size_t>(count, options.limit);
  for (size_t i = 0; i < count; ++i) {
    auto sample = rows ? rows->get(i) : readSample(data.files[i], *specs);
    if (!sample.ok())
      return sample.status();
    if (absl::Status s = (*runner)->run(*sample, nullptr); !s.ok())
      return s;
    std::vector<float> values = (*runner)->output(0);
    auto expected = classIndex(data.classes[i], labels, options.labelOffset);
    if (!expected.ok())
      return expected.status();
    if (*expected < 0 || *expected >= int64_t(values.size()))
      return absl::OutOfRangeError(
          absl::StrCat("class ", data.classes[i], " of sample ", i,
                       " is outside the output's ", values.size()));
    int64_t better = 0;
    for (float v : values)
      better += v > values[*expected];
    ++result.samples;
    result.top1 += better < 1;
    result.top5 += better < 5;
    result.predicted.push_back(std::max_element(values.begin(), values.end()) -
                               values.begin());
  }
  return result;
}

} // namespace

absl::Status eval(const EvalOptions &options) {
  auto data = readLabels(options);
  if (!data.ok())
    return data.status();
  std::vector<Accuracy> all;
  for (const std::string &blob : options.blobs) {
    auto accuracy = evaluate(blob, *data, options);
    if (!accuracy.ok())
      return accuracy.status();
    all.push_back(*std::move(accuracy));
  }
  rt::Json json = rt::Json::array();
  std::vector<std::vector<std::string>> table = {
      {"blob", "mode", "samples", "top-1 %", "top-5 %", "same as first %"}};
  for (const Accuracy &a : all) {
    int64_t same = 0;
    for (size_t i = 0; i < a.predicted.size(); ++i)
      same += a.predicted[i] == all[0].predicted[i];
    auto percent = [&](int64_t n) { return 100.0 * n / a.samples; };
    json.push_back({{"blob", a.blob},
                    {"mode", a.mode},
                    {"samples", a.samples},
                    {"top1", percent(a.top1)},
                    {"top5", percent(a.top5)},
                    {"same_as_first", percent(same)}});
    table.push_back({a.blob, a.mode, absl::StrCat(a.samples),
                     absl::StrFormat("%.2f", percent(a.top1)),
                     absl::StrFormat("%.2f", percent(a.top5)),
                     absl::StrFormat("%.2f", percent(same))});
  }
  if (options.json)
    std::cout << json.dump(2) << "\n";
  else
    std::cout << formatTable(table);
  return absl::OkStatus();
}

} // namespace npu
