//===- LegalizePatterns.h - Patterns of npu-legalize ------------*- C++ -*-===//
#ifndef PASSES_LEGALIZATION_LEGALIZEPATTERNS_H
#define PASSES_LEGALIZATION_LEGALIZEPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace npu {

/// transpose_conv2d into convolutions, one for each phase of its output.
void addTransposeConvPatterns(mlir::RewritePatternSet &patterns);

/// Padding that is too wide for a window, negative padding.
void addWindowPatterns(mlir::RewritePatternSet &patterns);

/// More dimensions than a command has.
void addRankPatterns(mlir::RewritePatternSet &patterns);

/// f16, types that change where they must not, operators without a quantised
/// form, biases that are no constants.
void addTypePatterns(mlir::RewritePatternSet &patterns);

/// split into slices.
void addSplitPattern(mlir::RewritePatternSet &patterns);

} // namespace npu

#endif // PASSES_LEGALIZATION_LEGALIZEPATTERNS_H
