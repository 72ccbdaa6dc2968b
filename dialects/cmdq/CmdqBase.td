//===- CmdqBase.td - The cmdq dialect, its attributes and op classes ------===//

#ifndef DIALECTS_CMDQ_CMDQBASE_TD
#define DIALECTS_CMDQ_CMDQBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cmdq_Dialect : Dialect {
  let name = "cmdq";
  let cppNamespace = "::npu::cmdq";
  let summary = "The NPU's command queues, one op per command";
  let description = [{
    A `cmdq.program` is a straight line of commands over memrefs in the NPU's
    memory spaces. Every command op has exactly the operands and parameters of
    the command of the same name in `runtime/queue/command.h`, which also
    defines what it computes. See RATIONALE.md.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let extraClassDeclaration = "void registerOps();";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Cmdq_Attr<string name, string attrMnemonic> : AttrDef<Cmdq_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Cmdq_Enum<string name, string desc, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, desc, cases> {
  let cppNamespace = "::npu::cmdq";
  let genSpecializedAttr = 0;
}

// The numbers of all enums below are those of runtime/queue/command.h
// (checked by static_assert in Cmdq.cc).

def Cmdq_SpaceKind : Cmdq_Enum<"SpaceKind", "memory space", [
  I32EnumAttrCase<"Const", 0, "const">,
  I32EnumAttrCase<"Dram", 1, "dram">,
  I32EnumAttrCase<"Sram", 2, "sram">,
  I32EnumAttrCase<"Io", 3, "io">
]>;
def Cmdq_SpaceAttr : Cmdq_Attr<"Space", "space"> {
  let summary = "Memory space of a memref";
  let description = [{
    `#cmdq.space<const>`: the blob's weights, read-only; `dram`: the session's
    activation arena; `sram`: the on-chip memory of one core; `io`: a bound
    input or output.
  }];
  let parameters = (ins EnumParameter<Cmdq_SpaceKind>:$kind);
  let assemblyFormat = "`<` $kind `>`";
}

def Cmdq_EngineKind : Cmdq_Enum<"EngineKind", "engine of a core", [
  I32EnumAttrCase<"Matrix", 0, "matrix">,
  I32EnumAttrCase<"Vector", 1, "vector">,
  I32EnumAttrCase<"DmaIn", 2, "dma_in">,
  I32EnumAttrCase<"DmaOut", 3, "dma_out">
]>;
def Cmdq_EngineAttr : EnumAttr<Cmdq_Dialect, Cmdq_EngineKind, "engine">;

def Cmdq_Function : Cmdq_Enum<"Function", "function of one value", [
  I32EnumAttrCase<"Identity", 0, "identity">,
  I32EnumAttrCase<"Clip", 1, "clip">,
  I32EnumAttrCase<"LeakyRelu", 2, "leaky_relu">,
  I32EnumAttrCase<"Sigmoid", 3, "sigmoid">,
  I32EnumAttrCase<"HardSigmoid", 4, "hard_sigmoid">,
  I32EnumAttrCase<"HardSwish", 5, "hard_swish">,
  I32EnumAttrCase<"Swish", 6, "swish">,
  I32EnumAttrCase<"Tanh", 7, "tanh">,
  I32EnumAttrCase<"Gelu", 8, "gelu">,
  I32EnumAttrCase<"GeluTanh", 9, "gelu_tanh">,
  I32EnumAttrCase<"Exp", 10, "exp">,
  I32EnumAttrCase<"Log", 11, "log">,
  I32EnumAttrCase<"Sqrt", 12, "sqrt">,
  I32EnumAttrCase<"Reciprocal", 13, "reciprocal">,
  I32EnumAttrCase<"Abs", 14, "abs">,
  I32EnumAttrCase<"Neg", 15, "neg">,
  I32EnumAttrCase<"Erf", 16, "erf">,
  I32EnumAttrCase<"Floor", 17, "floor">,
  I32EnumAttrCase<"Ceil", 18, "ceil">,
  I32EnumAttrCase<"Round", 19, "round">,
  I32EnumAttrCase<"Elu", 20, "elu">,
  I32EnumAttrCase<"Softplus", 21, "softplus">,
  I32EnumAttrCase<"Sin", 22, "sin">,
  I32EnumAttrCase<"Cos", 23, "cos">,
  I32EnumAttrCase<"Tan", 24, "tan">,
  I32EnumAttrCase<"Asin", 25, "asin">,
  I32EnumAttrCase<"Acos", 26, "acos">,
  I32EnumAttrCase<"Atan", 27, "atan">,
  I32EnumAttrCase<"Sinh", 28, "sinh">,
  I32EnumAttrCase<"Cosh", 29, "cosh">,
  I32EnumAttrCase<"Asinh", 30, "asinh">,
  I32EnumAttrCase<"Acosh", 31, "acosh">,
  I32EnumAttrCase<"Atanh", 32, "atanh">,
  I32EnumAttrCase<"Sign", 33, "sign">
]>;
def Cmdq_FunctionAttr : EnumAttr<Cmdq_Dialect, Cmdq_Function, "function">;

def Cmdq_BinaryKind : Cmdq_Enum<"BinaryKind", "function of two values", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Min", 4, "min">,
  I32EnumAttrCase<"Max", 5, "max">,
  I32EnumAttrCase<"Pow", 6, "pow">,
  I32EnumAttrCase<"Prelu", 7, "prelu">,
  I32EnumAttrCase<"Rem", 8, "rem">,
  I32EnumAttrCase<"Mod", 9, "mod">,
  I32EnumAttrCase<"And", 10, "and">,
  I32EnumAttrCase<"Or", 11, "or">,
  I32EnumAttrCase<"Xor", 12, "xor">,
  I32EnumAttrCase<"Shl", 13, "shl">,
  I32EnumAttrCase<"Shr", 14, "shr">
]>;
def Cmdq_BinaryKindAttr : EnumAttr<Cmdq_Dialect, Cmdq_BinaryKind, "binary_kind">;

def Cmdq_CompareKind : Cmdq_Enum<"CompareKind", "comparison of two values", [
  I32EnumAttrCase<"Equal", 0, "equal">,
  I32EnumAttrCase<"Less", 1, "less">,
  I32EnumAttrCase<"LessEqual", 2, "less_equal">
]>;
def Cmdq_CompareKindAttr : EnumAttr<Cmdq_Dialect, Cmdq_CompareKind, "compare_kind">;

def Cmdq_PoolKind : Cmdq_Enum<"PoolKind", "kind of pooling", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">
]>;
def Cmdq_PoolKindAttr : EnumAttr<Cmdq_Dialect, Cmdq_PoolKind, "pool_kind">;

def Cmdq_ReduceKind : Cmdq_Enum<"ReduceKind", "kind of reduction", [
  I32EnumAttrCase<"Mean", 0, "mean">,
  I32EnumAttrCase<"Sum", 1, "sum">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Prod", 4, "prod">,
  I32EnumAttrCase<"SumSquare", 5, "sum_square">
]>;
def Cmdq_ReduceKindAttr : EnumAttr<Cmdq_Dialect, Cmdq_ReduceKind, "reduce_kind">;

def Cmdq_EpilogueAttr : Cmdq_Attr<"Epilogue", "epilogue"> {
  let summary = "What a matrix command does to its accumulator";
  let description = [{
    The fields of `npu::rt::Epilogue` by name; those that are all zero bits are
    not printed. The flags are printed as words: `lut`, `wide_lut`,
    `residual`, `per_channel`. Example: `#cmdq.epilogue<per_channel, mid_zp = -128,
    lo = -128, hi = 127>`.
  }];
  let parameters = (ins
    AttrParameter<"::npu::cmdq::EpilogueValue", "the fields">:$value);
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "const ::npu::rt::Epilogue &":$value)>];
}

def Cmdq_WaitAttr : Cmdq_Attr<"Wait", "wait"> {
  let summary = "Wait until a queue has completed a number of commands";
  let description = [{
    `#cmdq.wait<2, 5>`: queue index (core * 4 + engine) and count.
  }];
  let parameters = (ins "uint32_t":$queue, "uint32_t":$count);
  let assemblyFormat = "`<` $queue `,` $count `>`";
}
def Cmdq_WaitArrayAttr : TypedArrayAttrBase<Cmdq_WaitAttr, "waits">;

//===----------------------------------------------------------------------===//
// Types and op classes
//===----------------------------------------------------------------------===//

def Cmdq_Buffer : Type<
    CPred<"::npu::cmdq::isBufferType($_self)">,
    "memref of rank 1 to 6, static shape and strides, in a #cmdq.space",
    "::mlir::MemRefType">;

class Cmdq_Op<string mnemonic, list<Trait> traits = []>
    : Op<Cmdq_Dialect, mnemonic, traits>;

#endif
