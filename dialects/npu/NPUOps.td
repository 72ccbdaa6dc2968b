//===- NPUOps.td - All operators of the npu dialect -----------------------===//

#ifndef DIALECTS_NPU_NPUOPS_TD
#define DIALECTS_NPU_NPUOPS_TD

include "dialects/npu/NPUConvOps.td"
include "dialects/npu/NPUElementwiseOps.td"
include "dialects/npu/NPUDataOps.td"
include "dialects/npu/NPULogicOps.td"

include "dialects/npu/NPUTargetAttr.td"

#endif
