//===- OpClasses.h - What quantisation has to know of operators -*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_OPCLASSES_H
#define PASSES_QUANTIZATION_OPCLASSES_H

#include "dialects/npu/NPU.h"

namespace npu {

inline mlir::Type elementTypeOf(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? type.getElementType() : mlir::Type();
}
inline bool isFloatTensor(mlir::Value value) {
  mlir::Type element = elementTypeOf(value);
  return element && element.isF32();
}
inline bool isQuantizedTensor(mlir::Value value) {
  return mlir::isa_and_nonnull<mlir::quant::QuantizedType>(
      elementTypeOf(value));
}

/// Only picks elements of its operand, so that scale and zero point stay.
inline bool keepsScale(mlir::Operation *op) {
  if (auto resize = mlir::dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::Nearest;
  return mlir::isa<ReshapeOp, TransposeOp, SliceOp, SplitOp, PadOp, GatherOp,
                   BroadcastToOp, DepthToSpaceOp, SpaceToDepthOp, MaxPool2DOp,
                   ReduceMaxOp, ReduceMinOp>(op);
}

/// min(max(x, low), high): rounding to a grid can happen before or after it.
inline bool isClip(mlir::Operation *op) {
  return mlir::isa<ReluOp, ClipOp>(op);
}

/// Has a filter and maybe a bias.
inline bool hasFilter(mlir::Operation *op) {
  return mlir::isa<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp,
                   FullyConnectedOp>(op);
}

inline bool isBinary(mlir::Operation *op) {
  return mlir::isa<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, PReluOp>(op);
}

/// Becomes a table of 256 values in INT8.
inline bool isFunction(mlir::Operation *op) {
  return mlir::isa<ReluOp, ClipOp, LeakyReluOp, EluOp, SigmoidOp, HardSigmoidOp,
                   HardSwishOp, SwishOp, TanhOp, GeluOp, ExpOp, LogOp, SqrtOp,
                   ReciprocalOp, AbsOp, NegOp, ErfOp, FloorOp, CeilOp, RoundOp,
                   SoftplusOp>(op);
}

/// Has an INT8 command with scales of its own for operands and result.
inline bool computesQuantized(mlir::Operation *op) {
  if (auto resize = mlir::dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::Linear;
  return hasFilter(op) || isBinary(op) || isFunction(op) ||
         mlir::isa<MatMulOp, SoftmaxOp, ReduceMeanOp, ReduceSumOp, AvgPool2DOp>(
             op);
}

/// Operand numbers of filter and bias.
constexpr unsigned kFilterOperand = 1, kBiasOperand = 2;
/// The axis along which a filter is quantised: its output channels.
inline int filterAxis(mlir::Operation *op) {
  return mlir::isa<DepthwiseConv2DOp>(op) ? 2 : 0;
}
inline mlir::Value biasOf(mlir::Operation *op) {
  if (auto conv = mlir::dyn_cast<Conv2DOp>(op))
    return conv.getBias();
  if (auto conv = mlir::dyn_cast<DepthwiseConv2DOp>(op))
    return conv.getBias();
  if (auto conv = mlir::dyn_cast<TransposeConv2DOp>(op))
    return conv.getBias();
  if (auto full = mlir::dyn_cast<FullyConnectedOp>(op))
    return full.getBias();
  return {};
}

} // namespace npu

#endif // PASSES_QUANTIZATION_OPCLASSES_H
