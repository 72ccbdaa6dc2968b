//===- Passes.h - npu -> cmdq -----------------------------------*- C++ -*-===//
#ifndef LOWERING_NPU_TO_CMDQ_PASSES_H
#define LOWERING_NPU_TO_CMDQ_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace npu {

#define GEN_PASS_DECL
#include "lowering/npu_to_cmdq/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/npu_to_cmdq/Passes.h.inc"

} // namespace npu

#endif // LOWERING_NPU_TO_CMDQ_PASSES_H
