//===- NPUElementwiseOps.td - Elementwise operators and reductions --------===//

#ifndef DIALECTS_NPU_NPUELEMENTWISEOPS_TD
#define DIALECTS_NPU_NPUELEMENTWISEOPS_TD

include "dialects/npu/NPUBase.td"

class NPU_BinaryOp<string mnemonic, string what, list<Trait> traits = []>
    : NPU_PureOp<mnemonic, traits> {
  let summary = what;
  let description = [{
    Elementwise with NumPy broadcasting; f32, i32, i64, ui64, or quantised per tensor
    (each operand and the result with a scale of its own). `activation` is
    applied before rounding to the result's type when it is a clip; any other
    one after rounding to `pre_activation_type`.
  }];
  let arguments = (ins NPU_Tensor:$lhs, NPU_Tensor:$rhs,
    OptionalAttr<NPU_ActivationAttr>:$activation,
    OptionalAttr<TypeAttr>:$pre_activation_type);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_AddOp : NPU_BinaryOp<"add", "Sum">;
def NPU_SubOp : NPU_BinaryOp<"sub", "Difference">;
def NPU_MulOp : NPU_BinaryOp<"mul", "Product">;
def NPU_DivOp : NPU_BinaryOp<"div", "Quotient">;
def NPU_MinOp : NPU_BinaryOp<"min", "Minimum">;
def NPU_MaxOp : NPU_BinaryOp<"max", "Maximum">;
def NPU_PowOp : NPU_BinaryOp<"pow", "Power; not of quantised types">;
def NPU_PReluOp : NPU_BinaryOp<"prelu", "x < 0 ? x * slope : x, lhs being x and rhs the slope">;

class NPU_UnaryOp<string mnemonic, string what, dag attrs = (ins)>
    : NPU_PureOp<mnemonic, []> {
  let summary = what;
  let arguments = !con((ins NPU_Tensor:$input), attrs);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_ReluOp : NPU_UnaryOp<"relu", "max(x, 0)">;
def NPU_ClipOp : NPU_UnaryOp<"clip", "min(max(x, min), max), bounds in real units",
    (ins F32Attr:$min, F32Attr:$max)>;
def NPU_LeakyReluOp : NPU_UnaryOp<"leaky_relu", "x < 0 ? alpha * x : x", (ins F32Attr:$alpha)>;
def NPU_EluOp : NPU_UnaryOp<"elu", "x < 0 ? alpha * (exp(x) - 1) : x", (ins F32Attr:$alpha)>;
def NPU_SigmoidOp : NPU_UnaryOp<"sigmoid", "1 / (1 + exp(-x))">;
def NPU_HardSigmoidOp : NPU_UnaryOp<"hard_sigmoid", "max(0, min(1, alpha * x + beta))",
    (ins F32Attr:$alpha, F32Attr:$beta)>;
def NPU_HardSwishOp : NPU_UnaryOp<"hard_swish", "x * max(0, min(1, x / 6 + 0.5))">;
def NPU_SwishOp : NPU_UnaryOp<"swish", "x * sigmoid(alpha * x)",
    (ins DefaultValuedAttr<F32Attr, "1.0f">:$alpha)>;
def NPU_TanhOp : NPU_UnaryOp<"tanh", "Hyperbolic tangent">;
def NPU_GeluOp : NPU_UnaryOp<"gelu", "0.5 x (1 + erf(x / sqrt 2)), or its tanh approximation",
    (ins DefaultValuedAttr<BoolAttr, "false">:$tanh)>;
def NPU_ExpOp : NPU_UnaryOp<"exp", "e to the x">;
def NPU_LogOp : NPU_UnaryOp<"log", "Natural logarithm">;
def NPU_SqrtOp : NPU_UnaryOp<"sqrt", "Square root">;
def NPU_ReciprocalOp : NPU_UnaryOp<"reciprocal", "1 / x">;
def NPU_AbsOp : NPU_UnaryOp<"abs", "Absolute value">;
def NPU_NegOp : NPU_UnaryOp<"neg", "-x">;
def NPU_ErfOp : NPU_UnaryOp<"erf", "Gauss error function">;
def NPU_FloorOp : NPU_UnaryOp<"floor", "Largest integer not above x">;
def NPU_CeilOp : NPU_UnaryOp<"ceil", "Smallest integer not below x">;
def NPU_RoundOp : NPU_UnaryOp<"round", "Nearest integer, ties to even">;
def NPU_SoftplusOp : NPU_UnaryOp<"softplus", "log(1 + exp(x))">;

def NPU_SoftmaxOp : NPU_PureOp<"softmax"> {
  let summary = "exp(x) / sum(exp(x)) along one axis";
  let arguments = (ins NPU_Tensor:$input, I64Attr:$axis);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class NPU_ReduceOp<string mnemonic, string what> : NPU_PureOp<mnemonic> {
  let summary = what;
  let description = [{
    `axes` (sorted, non-negative) become 1, or vanish without `keepdims`. A
    global average pool is `reduce_mean` over H and W.
  }];
  let arguments = (ins NPU_Tensor:$input, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_ReduceMeanOp : NPU_ReduceOp<"reduce_mean", "Mean along axes">;
def NPU_ReduceSumOp : NPU_ReduceOp<"reduce_sum", "Sum along axes">;
def NPU_ReduceMaxOp : NPU_ReduceOp<"reduce_max", "Maximum along axes">;
def NPU_ReduceMinOp : NPU_ReduceOp<"reduce_min", "Minimum along axes">;
def NPU_ReduceProdOp : NPU_ReduceOp<"reduce_prod", "Product along axes; f32 only">;

def NPU_ArgMaxOp : NPU_PureOp<"arg_max"> {
  let summary = "Index of the first maximum along an axis, i32 or i64";
  let arguments = (ins NPU_Tensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class NPU_PoolOp<string mnemonic, string what, dag attrs = (ins)> : NPU_PureOp<mnemonic> {
  let summary = what;
  let description = [{
    input [N,H,W,C], output [N,OH,OW,C]; sizes as `npu.conv2d`. `pads` is top,
    left, bottom, right; each less than the kernel's extent.
  }];
  let arguments = !con((ins NPU_Tensor:$input, DenseI64ArrayAttr:$kernel,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
    DenseI64ArrayAttr:$dilations), attrs);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_MaxPool2DOp : NPU_PoolOp<"max_pool2d", "2-D maximum pool; padding never wins">;
def NPU_AvgPool2DOp : NPU_PoolOp<"avg_pool2d", "2-D average pool",
    (ins DefaultValuedAttr<BoolAttr, "false">:$count_include_pad)>;

#endif
