//===- Epilogue.h - Fused epilogues of matrix operators ---------*- C++ -*-===//
#ifndef LOWERING_NPU_TO_CMDQ_EPILOGUE_H
#define LOWERING_NPU_TO_CMDQ_EPILOGUE_H

#include "lowering/npu_to_cmdq/Lowering.h"

namespace npu {

/// What the operator says about its epilogue; null and none where absent.
struct EpilogueRequest {
  mlir::Value output; ///< the npu op's result
  mlir::Value bias;
  mlir::Value residual;
  ActivationAttr activation;
  std::optional<mlir::Type> preActivationType, residualType;
  ActivationAttr residualActivation;
  /// Quantised: scale of the accumulator, one value or one per channel.
  llvm::SmallVector<float> accumulatorScales;
};

/// Reads the epilogue arguments that all matrix operators share.
template <typename Op> EpilogueRequest epilogueOf(Op op) {
  EpilogueRequest request;
  request.output = op.getOutput();
  request.bias = op.getBias();
  request.residual = op.getResidual();
  request.activation = op.getActivationAttr();
  request.preActivationType = op.getPreActivationType();
  request.residualType = op.getResidualType();
  request.residualActivation = op.getResidualActivationAttr();
  return request;
}

/// Operands and attribute of a command's epilogue (residual: the caller's).
struct Epilogue {
  mlir::Value bias, multipliers, lut;
  cmdq::EpilogueAttr attr;
};
mlir::FailureOr<Epilogue> buildEpilogue(Lowering &l, mlir::Operation *op,
                                        const EpilogueRequest &request);

} // namespace npu

#endif // LOWERING_NPU_TO_CMDQ_EPILOGUE_H
