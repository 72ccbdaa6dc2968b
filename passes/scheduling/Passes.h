//===- Passes.h - Scheduling -----------------------------------*- C++ -*-===//
#ifndef PASSES_SCHEDULING_PASSES_H
#define PASSES_SCHEDULING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "passes/scheduling/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/scheduling/Passes.h.inc"

} // namespace npu

#endif // PASSES_SCHEDULING_PASSES_H
