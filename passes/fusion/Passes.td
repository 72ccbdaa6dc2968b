//===- Passes.td - Fusion -------------------------------------------------===//

#ifndef PASSES_FUSION_PASSES_TD
#define PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuFuseEpiloguePass : Pass<"npu-fuse-epilogue", "::mlir::func::FuncOp"> {
  let summary = "Bias, activation and residual into the operator before them";
  let description = [{
    Convolutions, matrix products and rescales take over the addition of a
    constant bias, an activation, the addition of another tensor and a clip
    after it, in this order; binary elementwise operators an activation. The
    tensor in between must have no other use. Quantised operators are fused only
    where the fused one gives the same integers: activations that are no clip
    of the same type keep the type in between as `pre_activation_type`, residuals
    as `residual_type`. A convolution to i32 and the rescale after it become
    one convolution if they agree about the scales.
  }];
}

#endif
