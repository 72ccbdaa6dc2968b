//===- CmdqCommandOps.td - One op per command -----------------------------===//

#ifndef DIALECTS_CMDQ_CMDQCOMMANDOPS_TD
#define DIALECTS_CMDQ_CMDQCOMMANDOPS_TD

include "dialects/cmdq/CmdqBase.td"
include "dialects/cmdq/CmdqInterfaces.td"

defvar Out = Arg<Cmdq_Buffer, "what the command writes", [MemWrite]>;
defvar In = Arg<Cmdq_Buffer, "", [MemRead]>;
defvar OptIn = Arg<Optional<Cmdq_Buffer>, "", [MemRead]>;

defvar Zero = DefaultValuedAttr<I32Attr, "0">;
defvar FZero = DefaultValuedAttr<F32Attr, "0.0f">;

// What every command has beside its own operands and parameters.
defvar Common = (ins Cmdq_EngineAttr:$engine, Zero:$core,
  OptionalAttr<StrAttr>:$layer, OptionalAttr<StrAttr>:$tap,
  OptionalAttr<Cmdq_WaitArrayAttr>:$waits);

// `operands` are, in this order, the present ones of the slots out, in0, in1,
// in2 and aux0 to aux3; `slots` and `aux` are C++ lists that name them.
class Cmdq_Command<string mnemonic, string opcode, dag operands, dag params,
                   string slots, string aux, string format,
                   list<Trait> traits = []>
    : Cmdq_Op<mnemonic,
        [Cmdq_CommandOpInterface] # traits> {
  let arguments = !con(operands, params, Common);
  let assemblyFormat = "`on` `` $engine " # format # " attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration =
    "::npu::rt::Opcode getOpcode() { return ::npu::rt::Opcode::" # opcode # "; }\n" #
    "::std::array<::mlir::Value, 4> getSlots() { return {" # slots # "}; }\n" #
    "::std::array<::mlir::Value, 4> getAuxSlots() { return {" # aux # "}; }\n";
}

// Two fixed operands: out and one input.
class Cmdq_UnaryLike<string mnemonic, string opcode, dag params>
    : Cmdq_Command<mnemonic, opcode, (ins Out:$out, In:$in), params,
        "getOut(), getIn()", "", [{
          `outs` `(` $out `:` type($out) `)` `ins` `(` $in `:` type($in) `)`
        }]>;

defvar OutsIn = "`outs` `(` $out `:` type($out) `)` `ins` `(` $in `:` type($in) `)` ";
defvar OutsIn2 = "`outs` `(` $out `:` type($out) `)` `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)` ";
defvar OutsConv = "`outs` `(` $out `:` type($out) `)` `ins` `(` $in `,` $filter `:` type($in) `,` type($filter) `)` ";
defvar EpilogueFormat = [{
  (`residual` `(` $residual^ `:` type($residual) `)`)?
  (`bias` `(` $bias^ `:` type($bias) `)`)?
  (`multipliers` `(` $multipliers^ `:` type($multipliers) `)`)?
  (`lut` `(` $lut^ `:` type($lut) `)`)?
}];
defvar EpilogueOperands = (ins OptIn:$residual, OptIn:$bias,
                               OptIn:$multipliers, OptIn:$lut);

def Cmdq_NopOp : Cmdq_Command<"nop", "kNop", (ins), (ins), "", "", "", []> {
  let summary = "Carries waits only";
  let hasVerifier = 0;
}

def Cmdq_DmaOp : Cmdq_UnaryLike<"dma", "kDma", (ins)> {
  let summary = "out = in; same dims and element size";
}

def Cmdq_FillOp : Cmdq_Command<"fill", "kFill", (ins Out:$out),
    (ins I64Attr:$bits), "getOut()", "", "`outs` `(` $out `:` type($out) `)`"> {
  let summary = "Fills with the low bytes of `bits`";
}

def Cmdq_Conv2dOp : Cmdq_Command<"conv2d", "kConv2d",
    !con((ins Out:$out, In:$in, In:$filter), EpilogueOperands),
    (ins DenseI32ArrayAttr:$strides, DenseI32ArrayAttr:$dilations,
         DenseI32ArrayAttr:$pads, DefaultValuedAttr<I32Attr, "1">:$groups,
         Zero:$in_zp, Zero:$w_zp, Cmdq_EpilogueAttr:$epilogue),
    "getOut(), getIn(), getFilter(), getResidual()",
    "getBias(), getMultipliers(), getLut()", !strconcat(OutsConv, EpilogueFormat),
    [AttrSizedOperandSegments]> {
  let summary = "ConvParams; filter [OC,KH,KW,IC/groups]";
}

def Cmdq_DepthwiseConv2dOp : Cmdq_Command<"depthwise_conv2d", "kDepthwiseConv2d",
    !con((ins Out:$out, In:$in, In:$filter), EpilogueOperands),
    (ins DenseI32ArrayAttr:$strides, DenseI32ArrayAttr:$dilations,
         DenseI32ArrayAttr:$pads, DefaultValuedAttr<I32Attr, "1">:$groups,
         Zero:$in_zp, Zero:$w_zp, Cmdq_EpilogueAttr:$epilogue),
    "getOut(), getIn(), getFilter(), getResidual()",
    "getBias(), getMultipliers(), getLut()", !strconcat(OutsConv, EpilogueFormat),
    [AttrSizedOperandSegments]> {
  let summary = "ConvParams; filter [KH,KW,C], groups ignored";
}

def Cmdq_MatmulOp : Cmdq_Command<"matmul", "kMatmul",
    !con((ins Out:$out, In:$lhs, In:$rhs), EpilogueOperands),
    (ins Zero:$a_zp, Zero:$b_zp, Cmdq_EpilogueAttr:$epilogue),
    "getOut(), getLhs(), getRhs(), getResidual()",
    "getBias(), getMultipliers(), getLut()", !strconcat(OutsIn2, EpilogueFormat),
    [AttrSizedOperandSegments]> {
  let summary = "MatmulParams";
}

def Cmdq_Pool2dOp : Cmdq_UnaryLike<"pool2d", "kPool2d", (ins
    Cmdq_PoolKindAttr:$kind, DenseI32ArrayAttr:$kernel,
    DenseI32ArrayAttr:$strides, DenseI32ArrayAttr:$dilations,
    DenseI32ArrayAttr:$pads, Zero:$in_zp, Zero:$out_zp, FZero:$multiplier,
    Zero:$lo, Zero:$hi, UnitAttr:$count_include_pad)> {
  let summary = "PoolParams";
}

def Cmdq_ReduceOp : Cmdq_UnaryLike<"reduce", "kReduce", (ins
    Cmdq_ReduceKindAttr:$kind, DenseI32ArrayAttr:$axes, Zero:$in_zp,
    Zero:$out_zp, FZero:$multiplier, Zero:$lo, Zero:$hi)> {
  let summary = "ReduceParams; `axes` as a sorted list";
}

def Cmdq_BinaryOp : Cmdq_Command<"binary", "kBinary",
    (ins Out:$out, In:$lhs, In:$rhs, OptIn:$lut),
    (ins Cmdq_BinaryKindAttr:$kind,
     DefaultValuedAttr<Cmdq_FunctionAttr, "::npu::cmdq::Function::Identity">:$function,
     Zero:$a_zp, Zero:$b_zp, Zero:$out_zp, FZero:$a_mul, FZero:$b_mul,
     Zero:$lo, Zero:$hi, FZero:$alpha, FZero:$beta),
    "getOut(), getLhs(), getRhs()", "::mlir::Value(), ::mlir::Value(), getLut()",
    OutsIn2 # "(`lut` `(` $lut^ `:` type($lut) `)`)?"> {
  let summary = "BinaryParams; kLutFlag is set when `lut` is there";
}

def Cmdq_CompareOp : Cmdq_Command<"compare", "kCompare",
    (ins Out:$out, In:$lhs, In:$rhs), (ins Cmdq_CompareKindAttr:$kind),
    "getOut(), getLhs(), getRhs()", "", OutsIn2> {
  let summary = "CompareParams; out is i1";
}

def Cmdq_SelectOp : Cmdq_Command<"select", "kSelect",
    (ins Out:$out, In:$condition, In:$lhs, In:$rhs), (ins),
    "getOut(), getCondition(), getLhs(), getRhs()", "", [{
      `outs` `(` $out `:` type($out) `)` `ins` `(` $condition `,` $lhs `,` $rhs
      `:` type($condition) `,` type($lhs) `,` type($rhs) `)`
    }]> {
  let summary = "out = condition ? lhs : rhs; condition is i1";
}

def Cmdq_UnaryOp : Cmdq_UnaryLike<"unary", "kUnary", (ins
    Cmdq_FunctionAttr:$function, FZero:$alpha, FZero:$beta)> {
  let summary = "UnaryParams";
}

def Cmdq_LutOp : Cmdq_Command<"lut", "kLut",
    (ins Out:$out, In:$in, In:$table), (ins), "getOut(), getIn()", "getTable()",
    OutsIn # "`table` `(` $table `:` type($table) `)`"> {
  let summary = "out[i] = table[in[i] + 128]";
}

def Cmdq_SoftmaxOp : Cmdq_Command<"softmax", "kSoftmax",
    (ins Out:$out, In:$in, OptIn:$table), (ins Zero:$out_zp, FZero:$multiplier),
    "getOut(), getIn()", "getTable()",
    OutsIn # "(`table` `(` $table^ `:` type($table) `)`)?"> {
  let summary = "SoftmaxParams; over the last dimension, table 256 x f32";
}

def Cmdq_Resize2dOp : Cmdq_Command<"resize2d", "kResize2d",
    (ins Out:$out, In:$in, In:$rows, In:$columns),
    (ins Zero:$in_zp, Zero:$out_zp, FZero:$multiplier, UnitAttr:$nearest),
    "getOut(), getIn()", "getRows(), getColumns()",
    OutsIn # "`taps` `(` $rows `,` $columns `:` type($rows) `,` type($columns) `)`"> {
  let summary = "ResizeParams";
  let description = [{
    `rows` and `columns` are OH x 4 and OW x 4 i32: the ResizeTap structures,
    i0, i1 and the bits of w0, w1.
  }];
}

def Cmdq_GatherOp : Cmdq_Command<"gather", "kGather",
    (ins Out:$out, In:$in, In:$indices), (ins I32Attr:$axis),
    "getOut(), getIn()", "getIndices()",
    OutsIn # "`indices` `(` $indices `:` type($indices) `)`"> {
  let summary = "GatherParams; indices n x i32";
}

def Cmdq_ConvertOp : Cmdq_UnaryLike<"convert", "kConvert", (ins
    UnitAttr:$quantize, Zero:$in_zp, Zero:$out_zp, FZero:$scale)> {
  let summary = "ConvertParams";
}

def Cmdq_VectorMacOp : Cmdq_Command<"vector_mac", "kVectorMac",
    (ins Arg<Cmdq_Buffer, "", [MemRead, MemWrite]>:$out, In:$in, In:$weight),
    (ins Zero:$in_zp, Zero:$w_zp, UnitAttr:$first),
    "getOut(), getIn(), getWeight()", "",
    "`outs` `(` $out `:` type($out) `)` `ins` `(` $in `,` $weight `:` type($in) `,` type($weight) `)`"> {
  let summary = "VectorMacParams; unless `first`, out is read too";
}

def Cmdq_RequantizeOp : Cmdq_Command<"requantize", "kRequantize",
    !con((ins Out:$out, In:$in), EpilogueOperands),
    (ins Cmdq_EpilogueAttr:$epilogue),
    "getOut(), getIn(), ::mlir::Value(), getResidual()",
    "getBias(), getMultipliers(), getLut()", !strconcat(OutsIn, EpilogueFormat),
    [AttrSizedOperandSegments]> {
  let summary = "RequantizeParams";
}

def Cmdq_ArgMaxOp : Cmdq_UnaryLike<"arg_max", "kArgMax", (ins)> {
  let summary = "Index of the first maximum over the last dimension";
  let description = "`out` has the dims of `in` with 1 as the last.";
}

#endif
