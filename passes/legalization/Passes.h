//===- Passes.h - Legalisation ----------------------------------*- C++ -*-===//
#ifndef PASSES_LEGALIZATION_PASSES_H
#define PASSES_LEGALIZATION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "passes/legalization/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/legalization/Passes.h.inc"

} // namespace npu

#endif // PASSES_LEGALIZATION_PASSES_H
