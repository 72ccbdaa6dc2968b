//===- stats_json.cc - Reads and writes calibration statistics ------------===//
#include "passes/quantization/calibration/stats.h"

#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/support/file.h"
#include "runtime/support/json_object.h"

namespace npu::calibration {
namespace {

using rt::Json;
using rt::JsonObject;

constexpr char kFormat[] = "npu-calibration";

absl::Status invalid(const std::string &path, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

Json histogramJson(const Histogram &h) {
  const std::vector<uint64_t> &counts = h.counts();
  size_t first = 0, last = counts.size();
  while (first < last && counts[first] == 0)
    ++first;
  while (last > first && counts[last - 1] == 0)
    --last;
  Json list = Json::array();
  for (size_t i = first; i < last; ++i)
    list.push_back(counts[i]);
  return {{"low", h.low()},
          {"width", h.width()},
          {"first", first},
          {"counts", std::move(list)}};
}

absl::StatusOr<Histogram>
readHistogram(const Json &value, const std::string &path, uint64_t total) {
  JsonObject object(value, path);
  double low = 0, width = 0;
  int64_t first = 0;
  std::vector<int64_t> list;
  object.require("low", &low);
  object.require("width", &width);
  object.require("first", &first);
  object.require("counts", &list);
  if (absl::Status status = object.finish(); !status.ok())
    return status;
  if (!std::isfinite(low) || !std::isfinite(width) || width < 0)
    return invalid(path, "low and width must be finite, width not negative");
  if (width == 0) {
    if (!list.empty())
      return invalid(object.pathOf("counts"), "must be empty when width is 0");
    return Histogram::fromParts(low, 0, {}, total);
  }
  if (first < 0 || first > Histogram::kBins ||
      list.size() > size_t(Histogram::kBins - first))
    return invalid(path, absl::StrCat("first + number of counts must be in 0..",
                                      int(Histogram::kBins)));
  std::vector<uint64_t> counts(Histogram::kBins);
  uint64_t sum = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0)
      return invalid(absl::StrCat(object.pathOf("counts"), "[", i, "]"),
                     absl::StrCat(list[i], " is negative"));
    sum += counts[first + i] = static_cast<uint64_t>(list[i]);
  }
  if (sum != total)
    return invalid(object.pathOf("counts"),
                   absl::StrCat("sum to ", sum, ", but count is ", total));
  return Histogram::fromParts(low, width, std::move(counts), total);
}

/// float32, finite.
void requireFloat(JsonObject &object, const char *key, float *out) {
  double x = 0;
  object.require(key, &x);
  if (!(std::abs(x) <= std::numeric_limits<float>::max()))
    object.fail(invalid(object.pathOf(key), "does not fit float32"));
  *out = static_cast<float>(x);
}

void requireCount(JsonObject &object, const char *key, uint64_t *out) {
  int64_t n = 0;
  object.require(key, &n);
  if (n < 0)
    object.fail(invalid(object.pathOf(key), absl::StrCat(n, " is negative")));
  *out = static_cast<uint64_t>(n);
}

/// A list of finite float32.
void readFloats(JsonObject &object, const char *key,
                const std::vector<double> &values, std::vector<float> *out) {
  for (double x : values) {
    if (!(std::abs(x) <= std::numeric_limits<float>::max()))
      object.fail(invalid(object.pathOf(key), "does not fit float32"));
    out->push_back(static_cast<float>(x));
  }
}

absl::Status checkChannels(const TensorStats &t, const std::string &path) {
  if (t.channelMin.size() != t.channelMax.size())
    return invalid(path, "channel_min and channel_max differ in length");
  if (!t.channelMean.empty() && !t.channelMin.empty() &&
      t.channelMean.size() != t.channelMin.size())
    return invalid(path, "channel_min and channel_mean differ in length");
  for (size_t c = 0; c < t.channelMin.size(); ++c)
    if (t.channelMin[c] > t.channelMax[c])
      return invalid(path, absl::StrCat("channel_min[", c,
                                        "] is above channel_max[", c, "]"));
  return absl::OkStatus();
}

absl::StatusOr<TensorStats> readTensor(const Json &value,
                                       const std::string &path) {
  JsonObject object(value, path);
  TensorStats t;
  std::vector<double> means, lows, highs;
  object.require("name", &t.name);
  requireFloat(object, "min", &t.min);
  requireFloat(object, "max", &t.max);
  requireCount(object, "count", &t.count);
  requireCount(object, "zeros", &t.zeros);
  object.require("channel_mean", &means);
  readFloats(object, "channel_mean", means, &t.channelMean);
  object.get("channel_min", &lows);
  readFloats(object, "channel_min", lows, &t.channelMin);
  object.get("channel_max", &highs);
  readFloats(object, "channel_max", highs, &t.channelMax);
  const Json *histogram = object.get("histogram");
  if (!histogram)
    object.fail(invalid(path, "missing key \"histogram\""));
  if (absl::Status status = object.finish(); !status.ok())
    return status;
  if (t.min > t.max)
    return invalid(path, absl::StrCat("min ", t.min, " is above max ", t.max));
  if (t.count == 0 || t.zeros > t.count)
    return invalid(path, "count must be positive, and zeros not above it");
  if (absl::Status status = checkChannels(t, path); !status.ok())
    return status;
  absl::StatusOr<Histogram> h =
      readHistogram(*histogram, object.pathOf("histogram"), t.count);
  if (!h.ok())
    return h.status();
  t.histogram = *std::move(h);
  return t;
}

absl::StatusOr<CalibrationStats> readStats(const Json &root) {
  JsonObject object(root, "$");
  std::string format;
  int64_t version = 0;
  object.require("format", &format);
  if (format != kFormat)
    object.fail(
        invalid("$.format", absl::StrCat("expected \"", kFormat, "\", found \"",
                                         format, "\"")));
  object.require("version", &version);
  if (version < 1 || version > CalibrationStats::kVersion)
    object.fail(invalid("$.version",
                        absl::StrCat("version ", version,
                                     " is not supported (this tool reads 1 to ",
                                     int(CalibrationStats::kVersion),
                                     "); calibrate again to make a new file")));
  CalibrationStats stats;
  object.require("model_hash", &stats.modelHash);
  object.require("dataset_digest", &stats.datasetDigest);
  object.require("samples", &stats.samples);
  const Json *list = object.get("tensors");
  if (!list || !list->is_array())
    object.fail(invalid("$.tensors", "expected an array"));
  if (absl::Status status = object.finish(); !status.ok())
    return status;
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < list->size(); ++i) {
    std::string path = absl::StrCat("$.tensors[", i, "]");
    absl::StatusOr<TensorStats> tensor = readTensor((*list)[i], path);
    if (!tensor.ok())
      return tensor.status();
    if (!names.insert(tensor->name).second)
      return invalid(
          path, absl::StrCat("tensor \"", tensor->name, "\" is listed twice"));
    stats.tensors.push_back(*std::move(tensor));
  }
  return stats;
}

absl::StatusOr<CalibrationStats> parse(const std::string &text,
                                       const std::string &what) {
  absl::StatusOr<Json> root = rt::parseJson(text, what);
  if (!root.ok())
    return root.status();
  absl::StatusOr<CalibrationStats> stats = readStats(*root);
  if (stats.ok())
    return stats;
  return absl::Status(
      stats.status().code(),
      absl::StrCat(what, ": ", std::string(stats.status().message())));
}

} // namespace

const TensorStats *CalibrationStats::find(const std::string &name) const {
  for (const TensorStats &t : tensors)
    if (t.name == name)
      return &t;
  return nullptr;
}

std::string CalibrationStats::toJson() const {
  Json list = Json::array();
  for (const TensorStats &t : tensors)
    list.push_back({{"name", t.name},
                    {"min", t.min},
                    {"max", t.max},
                    {"count", t.count},
                    {"zeros", t.zeros},
                    {"histogram", histogramJson(t.histogram)},
                    {"channel_mean", t.channelMean},
                    {"channel_min", t.channelMin},
                    {"channel_max", t.channelMax}});
  Json root = {{"format", kFormat},       {"version", int(kVersion)},
               {"model_hash", modelHash}, {"dataset_digest", datasetDigest},
               {"samples", samples},      {"tensors", std::move(list)}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<CalibrationStats>
CalibrationStats::fromJson(const std::string &text) {
  return parse(text, "calibration statistics");
}

absl::Status CalibrationStats::save(const std::string &path) const {
  return rt::writeFileAtomically(path, toJson());
}

absl::StatusOr<CalibrationStats>
CalibrationStats::load(const std::string &path) {
  absl::StatusOr<std::string> text = rt::readFile(path);
  if (!text.ok())
    return text.status();
  return parse(*text, path);
}

} // namespace npu::calibration
