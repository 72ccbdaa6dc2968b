//===- Passes.h - Fusion ----------------------------------------*- C++ -*-===//
#ifndef PASSES_FUSION_PASSES_H
#define PASSES_FUSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "passes/fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/fusion/Passes.h.inc"

} // namespace npu

#endif // PASSES_FUSION_PASSES_H
