//===- Passes.td - Quantisation -------------------------------------------===//

#ifndef PASSES_QUANTIZATION_PASSES_TD
#define PASSES_QUANTIZATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NpuImportCalibrationPass
    : Pass<"npu-import-calibration", "::mlir::func::FuncOp"> {
  let summary = "Puts the ranges of a calibration file on the operators";
  let description = [{
    Reads a file of statistics (see passes/quantization/calibration/stats.h),
    chooses the range of each tensor and writes it as `npu.range = array<f64:
    min, max>` on the operator whose `npu.tensor` has that name, and on the
    function's inputs (by `npu.name`); likewise the channels' means and ranges,
    `npu.mean` and `npu.channel_range`. Nothing is lost: another method is
    another run of this pass.

    An f32 result that has no statistics and whose range does not follow from
    its operands' gets a warning. A file in which no tensor of the function is
    found belongs to another model and is an error.
  }];
  let options = [
    Option<"stats", "stats", "std::string", /*default=*/"\"\"",
           "The calibration file">,
    Option<"method", "method", "std::string", /*default=*/"\"minmax\"",
           "minmax, percentile, entropy or mse">,
    Option<"percentile", "percentile", "double", /*default=*/"99.99",
           "For percentile: per cent of the values inside the range">
  ];
}

def NpuEqualizePass : Pass<"npu-equalize", "::mlir::func::FuncOp"> {
  let summary = "Gives small channels more of their tensor's 256 levels";
  let description = [{
    A tensor has one scale, set by its largest channel. Where everything that
    makes a tensor and everything that reads it can take a factor per channel,
    channels of small values are multiplied by up to `max-factor` where they
    are made and divided by it where they are read: both in the filters, so
    nothing is computed that was not before, and the f32 function is the same.
    Between filters may lie relu, leaky_relu, prelu, pools, spatial reductions,
    movements that keep channels, sums of tensors and products with gates; a
    clip only as far as calibration saw none of the channel's values clipped.

    A channel grows until it nearly fills the range that calibration saw
    (`npu.range`, `npu.channel_range`). A depthwise filter has a weight scale
    for each input channel and takes any factor; a dense one has not, so there
    the factor is the one of least noise, from rounding activations and weights
    together. `npu.range`, `npu.mean` and `npu.channel_range` follow. Tensors
    without `npu.channel_range` stay as they are.

    After: Nagel et al., "Data-Free Quantization Through Weight Equalization
    and Bias Correction", ICCV 2019, section 4.1, with ranges of activations in
    place of those of weights. Each region gets a remark (category
    "npu-equalize").
  }];
  let options = [
    Option<"maxFactor", "max-factor", "double", /*default=*/"16",
           "Largest factor of a channel">
  ];
}

def NpuSplitChannelsPass : Pass<"npu-split-channels", "::mlir::func::FuncOp"> {
  let summary = "Gives channels of unlike ranges scales of their own";
  let description = [{
    Between a dense filter and the depthwise filter after it, with only
    functions of one value in between, a channel meets no other one. Where one of
    them (swish, hard_swish, ...) kept `npu-equalize` from making the channels
    alike, they are sorted by range and put in up to `max-groups` groups: each gets
    its own part of the dense filter, of the functions and of the depthwise
    filter, hence scales of its own, and a concatenation joins the results. As
    many multiply-accumulates as before; the order of the channels goes into
    the constants at either end of the region, which has to be channel by
    channel in between.

    The measure is the bits that a channel loses, log2 of its tensor's step
    over the step that its own range would have (`npu.channel_range`), averaged
    over channels; a step below what rounding behind the depthwise filter hides
    does not count. There are as many groups as gain at least `gain` bits each.
    Each split chain gets a remark (category "npu-split-channels").
  }];
  let options = [
    Option<"maxGroups", "max-groups", "int64_t", /*default=*/"4",
           "Most groups of a tensor; 1: nothing is split">,
    Option<"gain", "gain", "double", /*default=*/"0.5",
           "Bits per channel that one more group has to gain">
  ];
}

def NpuQuantizePass : Pass<"npu-quantize", "::mlir::func::FuncOp"> {
  let summary = "Float operators with ranges to INT8";
  let description = [{
    Activations become `!quant.uniform<i8:f32, scale:zero_point>`, filters
    symmetric i8 per output channel, biases i32 at s_input * s_filter[c]. The
    function keeps its f32 signature: `npu.quantize` follows the inputs,
    `npu.dequantize` precedes the results, and both surround whatever stays
    float.

    Scales are chosen for groups of tensors, not one by one: operators that
    move data or pick a maximum keep their input's scale; a tensor that only a
    relu or clip reads gets the scale of what comes out of it, so that fusion
    costs nothing; the operands of a concatenation get its scale where nobody
    else reads them or where theirs is nearly the same, and are requantised
    otherwise. Softmax, sigmoid, hard_sigmoid (1/256, -128) and tanh (1/128, 0)
    have fixed scales. A tensor that only saturating functions read gets the
    range that they can tell apart: for a swish, say, not the values below -5.

    With `bias-correction`, the mean error that rounding the weights makes is
    taken off the bias: sum over (rounded - exact weight) * mean of the input
    channel (`npu.mean`). Source: Nagel et al., "Data-Free Quantization Through
    Weight Equalization and Bias Correction", ICCV 2019, section 4.2.

    `npu.bias_shift = array<f64: ...>` on an operator with a filter, a number
    for each output channel, is added to its bias in any case: what measuring
    the quantised network (`npu-probe-filters`) has shown to be missing.

    With `wide-pre-activations`, a function (hard_swish, sigmoid, ..., no clip)
    that alone reads the result of an operator with a filter becomes its fused
    activation, and what it looks up, `pre_activation_type`, has 10 bits: the
    steep part of a function is a small part of its argument's range.

    With `float-tail`, functions, arithmetic and concatenations on which only
    outputs depend stay f32: they are few and the outputs are f32.

    Stays float, each with a remark (category "npu-quantize") that says why: an
    operator without an INT8 command, one of which a range is missing, one
    whose argument comes so close to a pole that 8 bits cannot express it, and
    the nodes of `keep-float`.
  }];
  let options = [
    ListOption<"keepFloat", "keep-float", "std::string",
               "Nodes that stay in f32, by name or /regex/">,
    Option<"biasCorrection", "bias-correction", "bool", /*default=*/"true",
           "Correct biases for the mean error of rounded weights">,
    Option<"floatTail", "float-tail", "bool", /*default=*/"true",
           "Leave light operators ahead of the outputs in f32">,
    Option<"widen", "wide-pre-activations", "bool", /*default=*/"true",
           "Give what a function alone reads from a filter 10 bits">
  ];
}

def NpuProbeFiltersPass : Pass<"npu-probe-filters", "::mlir::func::FuncOp"> {
  let summary = "Returns what the operators with filters compute";
  let description = [{
    Makes the function return, in place of its results, those of its operators
    with filters (convolutions, fully_connected), in order, as f32 tensors named
    `filter<n>` after their place among all of them. What only the old results
    needed is erased. To compare a float function with what quantisation made
    of it: the numbers are the same in both.

    A quantised operator's result is returned as it is before it is rounded and
    clipped to its type, by a copy of the operator in f32 on the dequantised
    input, filter and bias.

    An operator's level is how many others with filters lie before it on the
    longest path from an input; `level` picks those of one level. Error: there
    is none, or a quantised operator's filter or bias is no constant.
  }];
  let options = [
    Option<"level", "level", "int64_t", /*default=*/"-1",
           "Only operators of this level; -1: all">
  ];
}

def NpuFoldQdqPass : Pass<"npu-fold-qdq", "::mlir::func::FuncOp"> {
  let summary = "Operators between dequantise and quantise become quantised";
  let description = [{
    For models that arrive quantised in QDQ form. `npu.dequantize` moves down
    and `npu.quantize` up through operators that only move data or clip, which
    is exact; an operator whose operands are all dequantised and whose result
    everybody quantises to one type becomes the operator on quantised types
    (filters per tensor or per output channel; an i32 bias is used as it is if
    its scale is s_input * s_filter, and rescaled if not); a pair of equal types
    that is left meets and vanishes. Pairs of different types stay, because by
    way of f32 they round as ONNX does. A dequantised constant that is still
    read in float becomes a float constant.
  }];
}

#endif
