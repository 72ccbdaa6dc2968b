//===- FilterLevels.h - Depth of operators with filters ---------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_FILTERLEVELS_H
#define PASSES_QUANTIZATION_FILTERLEVELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace npu {

/// An operator with a filter, and how many others lie before it on the longest
/// path from an input.
struct FilterLevel {
  mlir::Operation *op;
  int64_t level;
};

/// Those of a function, in order.
llvm::SmallVector<FilterLevel> filterLevels(mlir::func::FuncOp function);

} // namespace npu

#endif // PASSES_QUANTIZATION_FILTERLEVELS_H
