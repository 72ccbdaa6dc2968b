//===- stats.h - Calibration statistics and their file ----------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CALIBRATION_STATS_H
#define PASSES_QUANTIZATION_CALIBRATION_STATS_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/quantization/calibration/histogram.h"

namespace npu::calibration {

/// What was seen of one tensor. Independent of the method by which a range is
/// chosen later: any method can be tried without running the model again.
struct TensorStats {
  std::string name;
  float min = 0, max = 0; ///< exact extremes over all samples
  uint64_t count = 0;     ///< values seen
  uint64_t zeros = 0;     ///< of these exactly 0
  Histogram histogram;
  /// Mean of each channel (the innermost dimension); empty if not collected.
  std::vector<float> channelMean;
  /// Extremes of each channel; as many, or empty.
  std::vector<float> channelMin, channelMax;
};

/// Statistics of all tensors of one model on one data set.
///
/// File (JSON): {"format": "npu-calibration", "version": 2, "model_hash",
/// "dataset_digest", "samples", "tensors": [{"name", "min", "max", "count",
/// "zeros", "histogram": {"low", "width", "first", "counts"},
/// "channel_mean", "channel_min", "channel_max"}]}; version 1 had no
/// "channel_min" and "channel_max" and is read as well. `counts` is without the zeros at both ends and begins at
/// bin `first`. A constant tensor has width 0 and no counts.
struct CalibrationStats {
  static constexpr int kVersion = 2;

  std::string modelHash;     ///< of the model file, "" if unknown
  std::string datasetDigest; ///< of the samples used, "" if unknown
  int64_t samples = 0;
  std::vector<TensorStats> tensors; ///< in execution order, names unique

  /// The statistics of `name`, or null.
  const TensorStats *find(const std::string &name) const;

  std::string toJson() const;
  /// Strict: unknown keys, wrong types, impossible values are errors that
  /// give the JSON path ("$.tensors[3].min: ...").
  static absl::StatusOr<CalibrationStats> fromJson(const std::string &text);

  /// Writes to a temporary file beside `path`, then renames it.
  absl::Status save(const std::string &path) const;
  static absl::StatusOr<CalibrationStats> load(const std::string &path);
};

} // namespace npu::calibration

#endif // PASSES_QUANTIZATION_CALIBRATION_STATS_H
