//===- Activations.h - Functions as part of their producer ------*- C++ -*-===//
#ifndef PASSES_FUSION_ACTIVATIONS_H
#define PASSES_FUSION_ACTIVATIONS_H

#include "dialects/npu/NPU.h"

namespace npu {

/// `op` as a fused activation; null if it is none.
ActivationAttr activationOf(mlir::Operation *op);

/// `producer`, which does the work of `last` (one result each), gets its
/// result's type, uses, location and discardable attributes; `last` is erased.
void takeResult(mlir::Operation *producer, mlir::Operation *last);

} // namespace npu

#endif // PASSES_FUSION_ACTIVATIONS_H
