//===- NPUDataOps.td - Data movement, type changes, constants, host -------===//

#ifndef DIALECTS_NPU_NPUDATAOPS_TD
#define DIALECTS_NPU_NPUDATAOPS_TD

include "dialects/npu/NPUBase.td"

def NPU_ConstantOp : NPU_PureOp<"constant", [ConstantLike]> {
  let summary = "Weights and other constants";
  let description = [{
    `value` holds the storage (i8 for a quantised type with i8 storage); the
    result's type may be quantised.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "attr-dict $value `->` type($output)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

class NPU_DataOp<string mnemonic, string what, dag attrs = (ins)> : NPU_PureOp<mnemonic> {
  let summary = what;
  let arguments = !con((ins NPU_Tensor:$input), attrs);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_ResizeOp : NPU_DataOp<"resize",
    "Resizes H and W of an NHWC tensor", (ins NPU_ResizeModeAttr:$mode,
    NPU_CoordinateModeAttr:$coordinate_mode, NPU_NearestModeAttr:$nearest_mode,
    DenseI64ArrayAttr:$sizes, DenseF32ArrayAttr:$scales)> {
  let description = [{
    `sizes` is OH, OW; `scales` the factors that the coordinate transformation
    uses (output over input).
  }];
}
def NPU_PadOp : NPU_DataOp<"pad", "Pads; `value` in real units",
    (ins DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, NPU_PadModeAttr:$mode,
         DefaultValuedAttr<F32Attr, "0.0f">:$value)>;
def NPU_SliceOp : NPU_DataOp<"slice", "Every `strides`-th element from `starts`, `sizes` of them",
    (ins DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes,
         DenseI64ArrayAttr:$strides)> {
  let description = "Strides may be negative; then the elements run backwards.";
}
def NPU_ReshapeOp : NPU_DataOp<"reshape", "Same elements in row-major order, another shape",
    (ins DenseI64ArrayAttr:$shape)> { let hasFolder = 1; }
def NPU_TransposeOp : NPU_DataOp<"transpose", "Output dimension i is input dimension perm[i]",
    (ins DenseI64ArrayAttr:$perm)> { let hasFolder = 1; }
def NPU_BroadcastToOp : NPU_DataOp<"broadcast_to", "NumPy broadcast to a shape",
    (ins DenseI64ArrayAttr:$shape)>;
def NPU_DepthToSpaceOp : NPU_DataOp<"depth_to_space",
    "[N,H,W,C*b*b] to [N,H*b,W*b,C]",
    (ins I64Attr:$block_size, NPU_DepthToSpaceModeAttr:$mode)>;
def NPU_SpaceToDepthOp : NPU_DataOp<"space_to_depth",
    "[N,H*b,W*b,C] to [N,H,W,b*b*C]", (ins I64Attr:$block_size)>;
def NPU_GatherOp : NPU_DataOp<"gather",
    "Picks constant indices (1-D) along an axis",
    (ins DenseI64ArrayAttr:$indices, I64Attr:$axis)>;

def NPU_ConcatOp : NPU_PureOp<"concat"> {
  let summary = "Concatenation along an axis; all operands and the result of one element type";
  let arguments = (ins Variadic<NPU_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_SplitOp : NPU_PureOp<"split"> {
  let summary = "Pieces of `sizes` along an axis; its canonical form is slices";
  let arguments = (ins NPU_Tensor:$input, I64Attr:$axis, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<NPU_Tensor>:$outputs);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NPU_CastOp : NPU_DataOp<"cast", "Changes the element type; no scales involved">;
def NPU_QuantizeOp : NPU_DataOp<"quantize", "f32 to a quantised type, or one quantised type to another">;
def NPU_DequantizeOp : NPU_DataOp<"dequantize", "Quantised to f32">;

def NPU_StorageCastOp : NPU_DataOp<"storage_cast",
    "Reads a quantised tensor's storage as plain integers, or back; no data moves"> {
  let description = [{
    Between `!quant.uniform<i8:f32, s:z>` and i8. A model whose own inputs or
    outputs are integers ends in one.
  }];
  let hasFolder = 1;
}

def NPU_HostCallOp : NPU_Op<"host_call", [Pure]> {
  let summary = "A subgraph that the target cannot run";
  let description = [{
    `model` is a serialised ONNX model whose inputs and outputs are, in order,
    the operands and results, in ONNX's own layout and never quantised. `nodes`
    describes the ONNX nodes in it: `name`, `op`, `reason` (why it is here),
    `fix` (what the user can change) and, where known, `macs` and `bytes` (of
    its constants and results). The attribute `npu.tensors` names the results.
  }];
  let arguments = (ins Variadic<NPU_Tensor>:$inputs, StrAttr:$model,
    DictArrayAttr:$nodes);
  let results = (outs Variadic<NPU_Tensor>:$outputs);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
