//===- Passes.h - Tiling ----------------------------------------*- C++ -*-===//
#ifndef PASSES_TILING_PASSES_H
#define PASSES_TILING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "passes/tiling/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/tiling/Passes.h.inc"

} // namespace npu

#endif // PASSES_TILING_PASSES_H
