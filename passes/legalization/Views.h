//===- Views.h - Short forms of data movement -------------------*- C++ -*-===//
#ifndef PASSES_LEGALIZATION_VIEWS_H
#define PASSES_LEGALIZATION_VIEWS_H

#include "passes/legalization/Constants.h"

namespace npu {

mlir::Value reshapeTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);
mlir::Value transposeBy(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value value, llvm::ArrayRef<int64_t> perm);
/// `sizes` elements from `starts`, every `strides`-th (empty: every one); the
/// value itself if that is all of it.
mlir::Value sliceOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides = {});
/// Constant padding; the value itself if there is none.
mlir::Value padBy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                  llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                  float with = 0);
mlir::Value concatOf(mlir::OpBuilder &b, mlir::Location loc,
                     llvm::ArrayRef<mlir::Value> values, int64_t axis);

} // namespace npu

#endif // PASSES_LEGALIZATION_VIEWS_H
