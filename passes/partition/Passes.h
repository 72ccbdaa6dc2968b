//===- Passes.h - Partitioning between NPU and host -------------*- C++ -*-===//
#ifndef PASSES_PARTITION_PASSES_H
#define PASSES_PARTITION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "passes/partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/partition/Passes.h.inc"

} // namespace npu

#endif // PASSES_PARTITION_PASSES_H
