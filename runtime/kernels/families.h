//===- families.h - One entry per kernel family -----------------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_FAMILIES_H
#define RUNTIME_KERNELS_FAMILIES_H

#include "runtime/kernels/context.h"

namespace npu::rt {

/// Operand `i` of the command: 0 is the output.
inline View viewOf(const Command &command, int i, const MemoryMap &memory) {
  const Operand &operand = command.operands[i];
  if (operand.rank == 0)
    return {nullptr, &operand};
  return {memory.region(operand, command.core).data + operand.offset, &operand};
}

/// The same without an address, when only its shape is wanted.
inline View shapeOf(const Command &command, int i) {
  return {nullptr, &command.operands[i]};
}

template <typename T>
const T *auxOf(const Command &command, int i, const MemoryMap &memory) {
  return command.aux[i] < 0 ? nullptr
                            : reinterpret_cast<const T *>(
                                  memory.constants.data + command.aux[i]);
}

void runConv2d(const Command &command, Context &context);
void runDepthwise(const Command &command, Context &context);
void runMatmul(const Command &command, Context &context);
void runRequantize(const Command &command, Context &context);
void runVectorMac(const Command &command, Context &context);
void runPool2d(const Command &command, Context &context);
void runReduce(const Command &command, Context &context);
void runBinary(const Command &command, Context &context);
void runBinaryInteger(const Command &command, Context &context);
void runCompare(const Command &command, Context &context);
void runSelect(const Command &command, Context &context);
void runUnary(const Command &command, Context &context);
void runLut(const Command &command, Context &context);
void runConvert(const Command &command, Context &context);
void runSoftmax(const Command &command, Context &context);
void runArgMax(const Command &command, Context &context);
void runResize2d(const Command &command, Context &context);
void runGather(const Command &command, Context &context);
void runDma(const Command &command, Context &context);
void runFill(const Command &command, Context &context);

void packConv2d(const Command &command, const MemoryMap &memory,
                PackedWeights *out);
void packDepthwise(const Command &command, const MemoryMap &memory,
                   PackedWeights *out);

/// The packed weights of the running command, packing them now when the
/// program could not do it ahead.
template <typename Pack>
const PackedWeights &packedWeights(const Command &command, Context &context,
                                   Pack pack) {
  if (context.packed) {
    auto it = context.packed->find(context.command);
    if (it != context.packed->end())
      return it->second;
  }
  pack(command, *context.memory, &context.packedNow);
  return context.packedNow;
}

/// Applies a float epilogue to `count` values; `residual` may be null.
void epilogueF32(float *values, int64_t count, const Epilogue &epilogue,
                 const float *residual);

} // namespace npu::rt

#endif // RUNTIME_KERNELS_FAMILIES_H
