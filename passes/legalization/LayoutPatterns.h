//===- LayoutPatterns.h - Patterns of npu-clean-layouts ---------*- C++ -*-===//
#ifndef PASSES_LEGALIZATION_LAYOUTPATTERNS_H
#define PASSES_LEGALIZATION_LAYOUTPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace npu {

/// op(transpose(x)) becomes transpose(op(x)).
void addSinkPatterns(mlir::RewritePatternSet &patterns);

/// Chains of reshapes and transposes, movements of constants, slices of slices
/// and of concatenations.
void addMovementPatterns(mlir::RewritePatternSet &patterns);

} // namespace npu

#endif // PASSES_LEGALIZATION_LAYOUTPATTERNS_H
