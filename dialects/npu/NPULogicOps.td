//===- NPULogicOps.td - Integers, truth values, choices ------------------===//

#ifndef DIALECTS_NPU_NPULOGICOPS_TD
#define DIALECTS_NPU_NPULOGICOPS_TD

include "dialects/npu/NPUBase.td"

class NPU_PairOp<string mnemonic, string what> : NPU_PureOp<mnemonic> {
  let summary = what;
  let arguments = (ins NPU_Tensor:$lhs, NPU_Tensor:$rhs);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class NPU_IntegerOp<string mnemonic, string what, string types = "i32, i64 or ui64">
    : NPU_PairOp<mnemonic, what> {
  let description = "Elementwise with NumPy broadcasting; " # types # [{,
    operands and result alike.
  }];
}

def NPU_RemOp : NPU_IntegerOp<"rem",
    "Remainder of the truncated quotient, of lhs' sign; 0 for a divisor of 0",
    "f32, i32, i64 or ui64">;
def NPU_ModOp : NPU_IntegerOp<"mod",
    "Remainder of the floored quotient, of rhs' sign; 0 for a divisor of 0">;
def NPU_AndOp : NPU_IntegerOp<"and", "Bits of both", "i1, i32, i64 or ui64">;
def NPU_OrOp : NPU_IntegerOp<"or", "Bits of either", "i1, i32, i64 or ui64">;
def NPU_XorOp : NPU_IntegerOp<"xor", "Bits that differ", "i1, i32, i64 or ui64">;
def NPU_ShlOp : NPU_IntegerOp<"shl", "lhs * 2^rhs; 0 by all the bits">;
def NPU_ShrOp : NPU_IntegerOp<"shr", "Bits moved down by rhs, zeros come in">;

class NPU_CompareOp<string mnemonic, string what> : NPU_PairOp<mnemonic, what> {
  let description = [{
    Elementwise with NumPy broadcasting; operands f32, i32, i64 or ui64 alike,
    the result i1. False where an operand is not a number.
  }];
}

def NPU_EqualOp : NPU_CompareOp<"equal", "lhs == rhs">;
def NPU_LessOp : NPU_CompareOp<"less", "lhs < rhs">;
def NPU_LessEqualOp : NPU_CompareOp<"less_equal", "lhs <= rhs">;

def NPU_SelectOp : NPU_PureOp<"select"> {
  let summary = "condition ? lhs : rhs";
  let description = [{
    Elementwise with NumPy broadcasting of all three; `condition` is i1, lhs,
    rhs and the result of one type, which may be any.
  }];
  let arguments = (ins NPU_Tensor:$condition, NPU_Tensor:$lhs, NPU_Tensor:$rhs);
  let results = (outs NPU_Tensor:$output);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DIALECTS_NPU_NPULOGICOPS_TD
