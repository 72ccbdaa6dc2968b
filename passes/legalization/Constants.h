//===- Constants.h - Constant operands and node bookkeeping -----*- C++ -*-===//
//
// What the rewrites of passes/ share: reading and making constants, names and
// locations of merged operators.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_LEGALIZATION_CONSTANTS_H
#define PASSES_LEGALIZATION_CONSTANTS_H

#include "dialects/npu/NPU.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace npu {

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline mlir::Type elementType(mlir::Value value) {
  return tensorType(value).getElementType();
}

/// The f32 values of a constant (splats expanded); none for anything else.
std::optional<llvm::SmallVector<float>> floatsOf(mlir::Value value);

/// The integers of an i8 or i32 constant, of a quantised one its storage.
std::optional<llvm::SmallVector<int8_t>> int8sOf(mlir::Value value);
std::optional<llvm::SmallVector<int32_t>> int32sOf(mlir::Value value);

/// The value of an f32 constant whose elements are all equal.
std::optional<float> scalarOf(mlir::Value value);

/// An f32 constant that varies along the last dimension only: `channels`
/// values, or 1 if they are one scalar. None for anything else.
std::optional<llvm::SmallVector<float>> channelsOf(mlir::Value value,
                                                   int64_t channels);

mlir::Value makeFloats(mlir::OpBuilder &b, mlir::Location loc,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<float> values);
mlir::Value makeWords(mlir::OpBuilder &b, mlir::Location loc,
                      llvm::ArrayRef<int32_t> values);
/// `type` may be quantised; the values are its storage.
mlir::Value makeBytes(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::RankedTensorType type,
                      llvm::ArrayRef<int8_t> values);

/// The location of an operator that does the work of several.
mlir::Location fuseLocs(llvm::ArrayRef<mlir::Operation *> ops);

/// `to` computes what `from` did: it takes over the name of the tensor.
void moveTensorName(mlir::Operation *from, mlir::Operation *to);

/// fl(s_input * s_filter[c]), one or one per channel; empty for f32.
llvm::SmallVector<float> accumulatorScales(mlir::Value input,
                                           mlir::Value filter);

/// Erases operators without side effects that nobody uses.
void eraseDead(mlir::Operation *root);

} // namespace npu

#endif // PASSES_LEGALIZATION_CONSTANTS_H
