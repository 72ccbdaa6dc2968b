//===- QdqPatterns.h - Rewrites of quantise and dequantise ------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_QDQPATTERNS_H
#define PASSES_QUANTIZATION_QDQPATTERNS_H

#include "mlir/IR/PatternMatch.h"
#include "passes/quantization/Types.h"

namespace npu {

/// Per tensor, signed, 8 bits: what commands work on. Null if it is not.
PerTensorType int8TypeOf(mlir::Value value);

/// The dequantise that produces `value` from such a tensor, or null.
DequantizeOp dequantizeOf(mlir::Value value);

/// The type to which all users quantise `value`; null if one does not, or they
/// differ.
PerTensorType quantizedByUsers(mlir::Value value);

/// Towards each other: dequantise down and quantise up through operators that
/// move data or clip.
void addMotionPatterns(mlir::RewritePatternSet &patterns);

} // namespace npu

#endif // PASSES_QUANTIZATION_QDQPATTERNS_H
