//===- Passes.h - Quantisation ----------------------------------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_PASSES_H
#define PASSES_QUANTIZATION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace npu {

#define GEN_PASS_DECL
#include "passes/quantization/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/quantization/Passes.h.inc"

} // namespace npu

#endif // PASSES_QUANTIZATION_PASSES_H
