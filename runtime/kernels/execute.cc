#include "runtime/kernels/families.h"
#include "runtime/kernels/kernels.h"

namespace npu::rt {

void execute(const Command &command, Context &context) {
  switch (command.opcode) {
  case Opcode::kNop:
    return;
  case Opcode::kDma:
    return runDma(command, context);
  case Opcode::kFill:
    return runFill(command, context);
  case Opcode::kConv2d:
    return runConv2d(command, context);
  case Opcode::kDepthwiseConv2d:
    return runDepthwise(command, context);
  case Opcode::kMatmul:
    return runMatmul(command, context);
  case Opcode::kPool2d:
    return runPool2d(command, context);
  case Opcode::kReduce:
    return runReduce(command, context);
  case Opcode::kBinary:
    return runBinary(command, context);
  case Opcode::kUnary:
    return runUnary(command, context);
  case Opcode::kLut:
    return runLut(command, context);
  case Opcode::kSoftmax:
    return runSoftmax(command, context);
  case Opcode::kResize2d:
    return runResize2d(command, context);
  case Opcode::kGather:
    return runGather(command, context);
  case Opcode::kConvert:
    return runConvert(command, context);
  case Opcode::kVectorMac:
    return runVectorMac(command, context);
  case Opcode::kRequantize:
    return runRequantize(command, context);
  case Opcode::kArgMax:
    return runArgMax(command, context);
  case Opcode::kCompare:
    return runCompare(command, context);
  case Opcode::kSelect:
    return runSelect(command, context);
  }
}

bool packWeights(const Command &command, const MemoryMap &memory, Isa,
                 PackedWeights *out) {
  if (command.operands[2].space != Space::kConst)
    return false;
  if (command.opcode == Opcode::kConv2d)
    packConv2d(command, memory, out);
  else if (command.opcode == Opcode::kDepthwiseConv2d &&
           command.operands[2].dtype == DType::kI8)
    packDepthwise(command, memory, out);
  else
    return false;
  return true;
}

} // namespace npu::rt
