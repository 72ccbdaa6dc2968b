//===- Passes.td - Legalisation -------------------------------------------===//

#ifndef PASSES_LEGALIZATION_PASSES_TD
#define PASSES_LEGALIZATION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Float level: before quantisation, for every target
//===----------------------------------------------------------------------===//

def NpuFoldAffinePass : Pass<"npu-fold-affine", "::mlir::func::FuncOp"> {
  let summary = "Folds scales, offsets and padding into convolutions";
  let description = [{
    Multiplications and additions by per-channel constants (batch
    normalisation, mean and deviation) become part of the weights and the bias
    of the convolution or matrix product before them; or of the ones after
    them, if those pad nothing or there is no offset. What is left of a chain
    is merged into one multiplication and one addition. Padding by
    `npu.pad` moves into convolutions and pools that mean the same by their own.
    Works on f32; sums are made in double and rounded once.
  }];
}

def NpuRecogniseCompositesPass
    : Pass<"npu-recognise-composites", "::mlir::func::FuncOp"> {
  let summary = "Finds activations that exporters take to pieces";
  let description = [{
    hard_swish, hard_sigmoid, swish, sigmoid, gelu (both forms), leaky_relu and
    clip in the spellings that exporters use become one operator each, so that
    quantisation rounds once and fusion has something to fuse.
  }];
}

def NpuCleanLayoutsPass : Pass<"npu-clean-layouts", "::mlir::func::FuncOp"> {
  let summary = "Transposes and reshapes meet and disappear";
  let description = [{
    Transposes move through elementwise operators, reductions, softmax,
    concatenations, slices and pads towards the results. Chains of reshapes and
    transposes are taken for the movement they make and become the least that
    makes it: nothing, a reshape, a transpose, `npu.depth_to_space`,
    `npu.space_to_depth`, or `npu.gather` along one axis (a channel shuffle).
    Movements of constants are done here and now, splits become slices, slices of
    slices, concatenations and gathers are merged. If more elements are moved
    afterwards than before, transposes stay where they were.
  }];
}

//===----------------------------------------------------------------------===//
// Target level: after quantisation and fusion, before tiling
//===----------------------------------------------------------------------===//

def NpuLegalizeDepthwisePass
    : Pass<"npu-legalize-depthwise", "::mlir::func::FuncOp"> {
  let summary = "Depthwise and grouped convolutions as the target runs them best";
  let description = [{
    For each `npu.depthwise_conv2d` and grouped `npu.conv2d`, the cheapest of:
    the target's native kernel; dense convolutions of blocks of groups, with
    zeros between the groups of a block; a chain of `npu.vector_mac`, one for
    each tap, and `npu.rescale`; repeated input channels and the native kernel,
    for a channel multiplier. The cost model of the module's target compares
    them. All give the same integers.

    Remarks (category "npu-legalize-depthwise") say what was taken and what the
    others would have cost. Fails if the target can do none of them.
  }];
  let options = [
    Option<"force", "force", "std::string", /*default=*/"\"\"",
           "Only native, dense, vector_mac or expand">
  ];
}

def NpuLegalizePass : Pass<"npu-legalize", "::mlir::func::FuncOp"> {
  let summary = "Operators that no command executes, by those that do";
  let description = [{
    Transposed convolutions become one convolution for each phase of the output
    and an interleaving of them; window pads of a kernel's extent or more become
    `npu.pad`, negative pads slices; splits become slices; softmax, reductions,
    arg_max and gather of more than 6 dimensions work on fewer; f16 is computed
    in f32; a quantised maximum or nearest resize that changes its type
    requantises after it; powers and products along axes leave quantisation;
    a bias that is no constant becomes an addition. The results are the same
    integers. Goes before npu-legalize-depthwise, for which it may make grouped
    convolutions.
  }];
}

#endif
