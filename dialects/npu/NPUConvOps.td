//===- NPUConvOps.td - Convolutions and matrix products -------------------===//

#ifndef DIALECTS_NPU_NPUCONVOPS_TD
#define DIALECTS_NPU_NPUCONVOPS_TD

include "dialects/npu/NPUBase.td"

// Everything that runs on the matrix engine ends in the same epilogue:
//   v = accumulator                 rounded to pre_activation_type if given
//   v = activation(v)               rounded to residual_type (if there is one)
//   v = residual_activation(v + residual)
// and last to the result's element type. In float the types are absent.
// pre_activation_type may have up to 10 bits (i16<-512:511>): functions are
// tables, and steep ones need finer steps than the 8 bits of a tensor.
defvar EpilogueArgs = (ins
  Optional<NPU_Tensor>:$residual,
  OptionalAttr<NPU_ActivationAttr>:$activation,
  OptionalAttr<TypeAttr>:$pre_activation_type,
  OptionalAttr<TypeAttr>:$residual_type,
  OptionalAttr<NPU_ActivationAttr>:$residual_activation);

class NPU_MatrixOp<string mnemonic, list<Trait> traits = []>
    : NPU_PureOp<mnemonic, [AttrSizedOperandSegments] # traits> {
  let results = (outs NPU_Tensor:$output);
  let hasVerifier = 1;
}

def NPU_Conv2DOp : NPU_MatrixOp<"conv2d"> {
  let summary = "2-D convolution (cross-correlation), NHWC, with groups";
  let description = [{
    input [N,H,W,IC], filter [OC,KH,KW,IC/groups], bias [OC] (f32, or i32 at
    scale s_input * s_filter[c] when quantised), residual and output
    [N,OH,OW,OC] with OH = floor((H + top + bottom - dilation*(KH-1) - 1) /
    stride) + 1. `pads` is top, left, bottom, right; outside the input lies
    real zero. Quantised: input and output per tensor, filter per tensor or
    per axis 0 with zero point 0. An i32 output is the bare accumulator.
  }];
  let arguments = !con((ins NPU_Tensor:$input, NPU_Tensor:$filter,
    Optional<NPU_Tensor>:$bias), EpilogueArgs, (ins
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups));
  let assemblyFormat = [{
    `(` $input `,` $filter (`,` `bias` $bias^)? (`residual` $residual^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def NPU_DepthwiseConv2DOp : NPU_MatrixOp<"depthwise_conv2d"> {
  let summary = "Depthwise 2-D convolution, NHWC";
  let description = [{
    input [N,H,W,C], filter [KH,KW,C*M], bias [C*M], output [N,OH,OW,C*M];
    output channel c*M+m reads input channel c. Otherwise as `npu.conv2d`; a
    per-axis filter is quantised along axis 2.
  }];
  let arguments = !con((ins NPU_Tensor:$input, NPU_Tensor:$filter,
    Optional<NPU_Tensor>:$bias), EpilogueArgs, (ins
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
    DenseI64ArrayAttr:$dilations));
  let assemblyFormat = [{
    `(` $input `,` $filter (`,` `bias` $bias^)? (`residual` $residual^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def NPU_TransposeConv2DOp : NPU_MatrixOp<"transpose_conv2d"> {
  let summary = "Transposed 2-D convolution, NHWC";
  let description = [{
    input [N,H,W,IC], filter [OC,KH,KW,IC/groups], bias [OC], output
    [N,OH,OW,OC] with OH = stride*(H-1) + output_pad + dilation*(KH-1) + 1 -
    top - bottom. It is the gradient of `npu.conv2d` with respect to its
    input: filter taps are not flipped.
  }];
  let arguments = !con((ins NPU_Tensor:$input, NPU_Tensor:$filter,
    Optional<NPU_Tensor>:$bias), EpilogueArgs, (ins
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_pads,
    DefaultValuedAttr<I64Attr, "1">:$groups));
  let assemblyFormat = [{
    `(` $input `,` $filter (`,` `bias` $bias^)? (`residual` $residual^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def NPU_FullyConnectedOp : NPU_MatrixOp<"fully_connected"> {
  let summary = "Matrix product with a weight matrix";
  let description = [{
    input [...,K], filter [N,K], bias [N], output [...,N]; a per-axis filter
    is quantised along axis 0.
  }];
  let arguments = !con((ins NPU_Tensor:$input, NPU_Tensor:$filter,
    Optional<NPU_Tensor>:$bias), EpilogueArgs);
  let assemblyFormat = [{
    `(` $input `,` $filter (`,` `bias` $bias^)? (`residual` $residual^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def NPU_MatMulOp : NPU_PureOp<"matmul"> {
  let summary = "Batched matrix product of two activations";
  let description = [{
    a [B...,M,K] times b [B...,K,N] (or [B...,N,K] with `transpose_b`); batch
    dimensions broadcast as in NumPy. Both quantised per tensor.
  }];
  let arguments = (ins NPU_Tensor:$a, NPU_Tensor:$b,
    DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs NPU_Tensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = "`(` $a `,` $b `)` attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Depthwise convolution on the vector engine
//===----------------------------------------------------------------------===//

def NPU_VectorMacOp : NPU_PureOp<"vector_mac"> {
  let summary = "One tap of a depthwise convolution: accumulator + input * weight";
  let description = [{
    input [N,H,W,C] quantised, weight [C] quantised, accumulator and output
    [N,H,W,C] i32: output = accumulator + (input - zp) * weight. Without an
    accumulator it starts from 0.
  }];
  let arguments = (ins NPU_Tensor:$input, NPU_Tensor:$weight,
                       Optional<NPU_Tensor>:$accumulator);
  let results = (outs NPU_Tensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(` $input `,` $weight (`,` `acc` $accumulator^)? `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def NPU_RescaleOp : NPU_MatrixOp<"rescale"> {
  let summary = "i32 accumulator to a quantised tensor, with the epilogue";
  let description = [{
    input [...,C] i32 at scale `scales` (1 or C values: s_input * s_filter[c]),
    bias [C] i32, output [...,C] quantised: what a convolution does after its
    sum, as an operator of its own.
  }];
  let arguments = !con((ins NPU_Tensor:$input, Optional<NPU_Tensor>:$bias),
    EpilogueArgs, (ins DenseF32ArrayAttr:$scales));
  let assemblyFormat = [{
    `(` $input (`,` `bias` $bias^)? (`residual` $residual^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif
