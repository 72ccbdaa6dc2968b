//===- GroupedConv.h - Depthwise and grouped convolution, one view -*- C++ -*-//
//
// `npu.depthwise_conv2d` (with its channel multiplier) and `npu.conv2d` with
// groups are the same thing: blocks of channels that do not meet. The rewrites
// of npu-legalize-depthwise work on this view and differ in what they make.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_LEGALIZATION_GROUPEDCONV_H
#define PASSES_LEGALIZATION_GROUPEDCONV_H

#include "dialects/npu/NPU.h"
#include "target/cost_model.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace npu {

struct GroupedConv {
  mlir::Operation *op = nullptr;
  mlir::Value input, filter, bias, residual, output;
  llvm::SmallVector<int64_t> strides, pads, dilations;
  int64_t groups = 1, icg = 1, ocg = 1; ///< channels of one group
  int64_t kernelH = 1, kernelW = 1;
  bool depthwiseOp = false; ///< the filter is [KH,KW,C*M]

  /// None if `op` is neither, or has one group.
  static std::optional<GroupedConv> of(mlir::Operation *op);

  llvm::ArrayRef<int64_t> inShape() const;
  llvm::ArrayRef<int64_t> outShape() const;
  int64_t channels() const { return groups * ocg; }
  rt::DType type() const;       ///< i8 or f32
  rt::DType outputType() const; ///< i8, i32 or f32
  /// The convolution of the cost model with `groups` blocks left.
  target::ConvShape shape(int64_t groups) const;
};

/// Filter elements as they are stored: i8 or f32, in the order [OC,KH,KW,ICG].
struct FilterData {
  llvm::SmallVector<int8_t> i8;
  llvm::SmallVector<float> f32;
  int8_t zero = 0; ///< the storage of a weight that does nothing

  /// None if the filter is no constant of these types.
  static std::optional<FilterData> of(const GroupedConv &conv);
};

/// Output channels [first, first + count) of the convolution's filter type,
/// seen with `shape` and per-axis scales along `axis`.
mlir::RankedTensorType filterType(const GroupedConv &conv,
                                  llvm::ArrayRef<int64_t> shape, int64_t axis,
                                  int64_t first, int64_t count);

/// A constant of `type` with elements from `data`; index -1 is a zero weight.
mlir::Value makeFilter(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::RankedTensorType type, const FilterData &data,
                       llvm::ArrayRef<int64_t> indices);

} // namespace npu

#endif // PASSES_LEGALIZATION_GROUPEDCONV_H
