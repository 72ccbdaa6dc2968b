//===- Passes.h - Passes about the target -----------------------*- C++ -*-===//
#ifndef TARGET_PASSES_H
#define TARGET_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace npu::target {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "target/Passes.h.inc"

} // namespace npu::target

#endif // TARGET_PASSES_H
