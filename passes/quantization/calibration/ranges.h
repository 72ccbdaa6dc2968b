//===- ranges.h - From statistics to a quantisation range -------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CALIBRATION_RANGES_H
#define PASSES_QUANTIZATION_CALIBRATION_RANGES_H

#include <string>

#include "absl/status/statusor.h"
#include "passes/quantization/calibration/stats.h"

namespace npu::calibration {

/// How a tensor's range is chosen from what was seen of it.
enum class Method {
  kMinMax,     ///< the extremes
  kPercentile, ///< the part of the values that is to stay unclipped
  kEntropy,    ///< least Kullback-Leibler divergence
  kMse,        ///< least squared error, clipping and rounding together
};

/// "minmax", "percentile", "entropy", "mse"; an error lists them.
absl::StatusOr<Method> parseMethod(const std::string &name);
const char *methodName(Method method);

struct RangeOptions {
  Method method = Method::kMinMax;
  /// kPercentile: per cent of the values inside the range, half of the rest is
  /// clipped at each end. In (50, 100].
  double percentile = 99.99;
};

/// min <= 0 <= max: an asymmetric 8-bit grid always has to hold zero.
struct Range {
  double min = 0, max = 0;
};

/// The range of `stats` by `options`, inside [min(0, stats.min), max(0,
/// stats.max)].
Range chooseRange(const TensorStats &stats, const RangeOptions &options);

/// Expected squared error per value when the values of `stats` are rounded to
/// the 256 steps of `range`: s^2/12 inside (0 for exact zeros), the squared
/// distance outside.
double meanSquaredError(const TensorStats &stats, Range range);

/// Kullback-Leibler divergence in nats between the distribution clipped to
/// `range` and its 256-level version; see ranges.cc.
double divergence(const TensorStats &stats, Range range);

} // namespace npu::calibration

#endif // PASSES_QUANTIZATION_CALIBRATION_RANGES_H
