//===- Types.h - Quantised types and constants ------------------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_TYPES_H
#define PASSES_QUANTIZATION_TYPES_H

#include "dialects/npu/NPU.h"
#include "passes/quantization/Intervals.h"

#include <optional>
#include <vector>

namespace npu {

using PerTensorType = mlir::quant::UniformQuantizedType;

/// i8 with `scale` (rounded to f32, as devices hold it) and `zeroPoint`.
PerTensorType int8Type(mlir::MLIRContext *context, double scale,
                       int64_t zeroPoint);
/// The i8 grid over `range`, which is widened to hold zero. Null if the range
/// is not finite.
PerTensorType activationType(mlir::MLIRContext *context, Interval range);
/// The range of `type` in 10 bits.
PerTensorType wideType(PerTensorType type);
/// The grid of an operator whose result has bounds of its own, or null.
PerTensorType fixedType(mlir::Operation *op);

/// The elements of an f32 constant; none if `value` is not one.
std::optional<std::vector<float>> constantFloats(mlir::Value value);

/// A constant of quantised `type` per tensor with these values.
mlir::Value quantizedConstant(mlir::OpBuilder &b, mlir::Location loc,
                              llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<float> values, PerTensorType type);

/// The ranges of the channels of an operator's result; empty if not known.
llvm::SmallVector<Interval> channelRanges(mlir::Value tensor);

/// Which channels an element of a filter connects.
class FilterIndex {
public:
  explicit FilterIndex(mlir::Operation *op);
  int64_t outputs() const { return outputs_; }
  /// Output channel of element `n`.
  int64_t output(size_t n) const { return n / inner_ % outputs_; }
  /// The input channel that element `n` multiplies.
  int64_t input(size_t n) const {
    int64_t c = output(n);
    return depthwise_ ? c / perInput_
                      : n % perGroup_ + c / perInput_ * perGroup_;
  }

private:
  bool depthwise_;
  /// `perInput_`: output channels of an input channel, or of a group.
  int64_t outputs_, inner_ = 1, perInput_, perGroup_ = 1;
};

/// Filter and bias of `op` in INT8 and INT32, the filter symmetric per output
/// channel; `bias` is null if there is none. A channel whose bias would leave
/// i32 gets a wider scale. `biasShift`, unless empty, is added to the biases.
struct QuantizedFilter {
  mlir::Value filter, bias;
};
QuantizedFilter quantizeFilter(mlir::OpBuilder &b, mlir::Operation *op,
                               double inputScale, llvm::ArrayRef<float> filter,
                               std::optional<llvm::ArrayRef<float>> bias,
                               llvm::ArrayRef<double> inputMeans,
                               llvm::ArrayRef<double> biasShift);

} // namespace npu

#endif // PASSES_QUANTIZATION_TYPES_H
