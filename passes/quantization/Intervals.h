//===- Intervals.h - Ranges of tensors --------------------------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_INTERVALS_H
#define PASSES_QUANTIZATION_INTERVALS_H

#include "mlir/IR/Operation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace npu {

/// Values in [min, max].
struct Interval {
  double min = 0, max = 0;

  bool finite() const {
    return std::isfinite(min) && std::isfinite(max) && min <= max;
  }
  double magnitude() const { return std::max(std::fabs(min), std::fabs(max)); }
  Interval hull(Interval other) const {
    return {std::min(min, other.min), std::max(max, other.max)};
  }
};

/// The `npu.range` of an operator's result or a function's argument; none if
/// it has none or an impossible one.
std::optional<Interval> rangeAttribute(mlir::Value value);
constexpr const char *kRangeAttr = "npu.range";
/// The mean of each channel (the innermost dimension) of a tensor, f64 array.
constexpr const char *kMeanAttr = "npu.mean";
/// The range of each channel, f64 array: min, max of the first, and so on.
constexpr const char *kChannelRangeAttr = "npu.channel_range";
/// What quantisation adds to the bias of each output channel of an operator
/// with a filter, in units of its result, f64 array.
constexpr const char *kBiasShiftAttr = "npu.bias_shift";

/// What a relu or clip lets through.
Interval clipBounds(mlir::Operation *op);

/// The range of `op`'s results if it follows from its operands'. `rangeOf`
/// gives the range of an operand (a constant's, too) or none.
std::optional<Interval>
deriveRange(mlir::Operation *op,
            llvm::function_ref<std::optional<Interval>(mlir::Value)> rangeOf);

/// The part of `in` that matters to a function of one value: outside of it the
/// result differs by at most `tolerance` from that at the nearer end. Such
/// tails (of swish below -5, say) would only make the argument's steps coarser.
/// `in` itself for other operators.
Interval usefulInput(mlir::Operation *op, Interval in, double tolerance);

} // namespace npu

#endif // PASSES_QUANTIZATION_INTERVALS_H
