//===- Passes.h - Memory planning -------------------------------*- C++ -*-===//
#ifndef PASSES_MEMORY_PASSES_H
#define PASSES_MEMORY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "passes/memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"

} // namespace npu

#endif // PASSES_MEMORY_PASSES_H
