//===- Encode.h - cmdq ops as commands --------------------------*- C++ -*-===//
#ifndef DIALECTS_CMDQ_ENCODE_H
#define DIALECTS_CMDQ_ENCODE_H

#include "dialects/cmdq/Cmdq.h"

namespace npu::cmdq {

/// Where a buffer starts.
struct Address {
  rt::Space space;
  int io = 0;         ///< index of the bound tensor, in space kIo
  int64_t offset = 0; ///< bytes
};

/// The address of a root buffer (what `rootBuffer` returns).
using AddressOf = llvm::function_ref<Address(mlir::Value)>;

/// The address that a cmdq.buffer states.
Address addressOf(BufferOp buffer);

/// `view` (of any root buffer) as an operand.
rt::Operand encodeOperand(mlir::Value view, AddressOf addressOf);

/// The command that `op` stands for, field by field; `layer` is the index of
/// its layer in the blob's table. Unused fields are 0 (aux: -1).
rt::Command encodeCommand(CommandOpInterface op, AddressOf addressOf,
                          uint32_t layer = 0);

} // namespace npu::cmdq

#endif // DIALECTS_CMDQ_ENCODE_H
