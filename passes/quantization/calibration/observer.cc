//===- observer.cc - Collects statistics of tensors -----------------------===//
#include "passes/quantization/calibration/observer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace npu::calibration {
namespace {

absl::Status nonFinite(const std::string &name, const float *data, size_t n) {
  size_t i = 0;
  while (i < n && std::isfinite(data[i]))
    ++i;
  return absl::InvalidArgumentError(absl::StrCat(
      "tensor \"", name, "\": element ", i, " is ",
      i < n && std::isnan(data[i]) ? "NaN" : "infinite",
      "; check the model's weights and the preprocessing of its inputs"));
}

} // namespace

absl::Status Observer::observe(const std::string &name, const float *data,
                               size_t n, size_t channels) {
  if (n == 0)
    return absl::OkStatus();
  if (channels && n % channels)
    return absl::InvalidArgumentError(
        absl::StrCat("tensor \"", name, "\": ", n,
                     " values are no multiple of ", channels, " channels"));
  Scan seen = scan(data, n);
  if (!seen.finite)
    return nonFinite(name, data, n);
  auto [it, isNew] = index.try_emplace(name, entries.size());
  if (isNew) {
    entries.emplace_back();
    entries.back().stats.name = name;
    entries.back().stats.min = seen.min;
    entries.back().stats.max = seen.max;
    entries.back().channels = channels;
    entries.back().channelSums.resize(channels);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    entries.back().stats.channelMin.assign(channels, kInfinity);
    entries.back().stats.channelMax.assign(channels, -kInfinity);
  }
  Entry &entry = entries[it->second];
  if (entry.channels != channels)
    return absl::InvalidArgumentError(absl::StrCat("tensor \"", name, "\" has ",
                                                   channels, " channels, but ",
                                                   entry.channels, " before"));
  TensorStats &stats = entry.stats;
  stats.min = std::min(stats.min, seen.min);
  stats.max = std::max(stats.max, seen.max);
  stats.count += n;
  stats.zeros += seen.zeros;
  stats.histogram.add(data, n, seen.min, seen.max);
  if (!channels)
    return absl::OkStatus();
  addChannelSums(data, n, channels, entry.channelSums.data());
  widenChannels(data, n, channels, stats.channelMin.data(),
                stats.channelMax.data());
  return absl::OkStatus();
}

CalibrationStats Observer::finish() const {
  CalibrationStats out;
  for (const Entry &entry : entries) {
    out.tensors.push_back(entry.stats);
    double rows =
        entry.channels ? double(entry.stats.count) / entry.channels : 1;
    for (double sum : entry.channelSums)
      out.tensors.back().channelMean.push_back(static_cast<float>(sum / rows));
  }
  return out;
}

} // namespace npu::calibration
