//===- Encode.cc - cmdq ops as commands -----------------------------------===//

#include "dialects/cmdq/Encode.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu::cmdq {

Address addressOf(BufferOp buffer) {
  return {static_cast<rt::Space>(spaceOf(buffer.getType())),
          static_cast<int>(buffer.getIo()),
          static_cast<int64_t>(buffer.getOffset())};
}

rt::Operand encodeOperand(Value view, AddressOf addressOf) {
  auto type = cast<MemRefType>(view.getType());
  Address base = addressOf(rootBuffer(view));
  rt::Operand operand{};
  operand.space = base.space;
  operand.io = static_cast<uint8_t>(base.io);
  operand.dtype = *toDType(type.getElementType());
  operand.rank = static_cast<uint8_t>(type.getRank());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  operand.offset = base.offset + offset * rt::sizeOf(operand.dtype);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    operand.dims[i] = static_cast<int32_t>(type.getDimSize(i));
    operand.strides[i] = static_cast<int32_t>(strides[i]);
  }
  return operand;
}

template <typename Array>
static void copyTo(ArrayRef<int32_t> values, Array &array) {
  for (auto [i, value] : llvm::enumerate(values))
    array[i] = value;
}

static float real(const APFloat &value) { return value.convertToFloat(); }

template <typename Op> static void setConv(Op op, rt::ConvParams &p) {
  copyTo(op.getStrides(), p.stride);
  copyTo(op.getDilations(), p.dilation);
  copyTo(op.getPads(), p.pad);
  p.groups = op.getGroups();
  p.in_zp = op.getInZp();
  p.w_zp = op.getWZp();
  p.epilogue = op.getEpilogue().getValue().fields;
}

static void setPool(Pool2dOp op, rt::PoolParams &p) {
  copyTo(op.getKernel(), p.kernel);
  copyTo(op.getStrides(), p.stride);
  copyTo(op.getDilations(), p.dilation);
  copyTo(op.getPads(), p.pad);
  p.in_zp = op.getInZp();
  p.out_zp = op.getOutZp();
  p.multiplier = real(op.getMultiplier());
  p.lo = op.getLo();
  p.hi = op.getHi();
  p.kind = static_cast<rt::PoolKind>(op.getKind());
  p.count_include_pad = op.getCountIncludePad();
}

static void setReduce(ReduceOp op, rt::ReduceParams &p) {
  for (int32_t axis : op.getAxes())
    p.axes |= 1u << axis;
  p.in_zp = op.getInZp();
  p.out_zp = op.getOutZp();
  p.multiplier = real(op.getMultiplier());
  p.lo = op.getLo();
  p.hi = op.getHi();
  p.kind = static_cast<rt::ReduceKind>(op.getKind());
}

static void setBinary(BinaryOp op, rt::BinaryParams &p) {
  p.kind = static_cast<rt::BinaryKind>(op.getKind());
  p.function = static_cast<rt::Function>(op.getFunction());
  p.flags = op.getLut() ? rt::kLutFlag : 0;
  p.a_zp = op.getAZp();
  p.b_zp = op.getBZp();
  p.out_zp = op.getOutZp();
  p.a_mul = real(op.getAMul());
  p.b_mul = real(op.getBMul());
  p.lo = op.getLo();
  p.hi = op.getHi();
  p.alpha = real(op.getAlpha());
  p.beta = real(op.getBeta());
}

static void setParams(Operation *op, rt::Params &p) {
  TypeSwitch<Operation *>(op)
      .Case<Conv2dOp, DepthwiseConv2dOp>([&](auto op) { setConv(op, p.conv); })
      .Case([&](MatmulOp op) {
        p.matmul.a_zp = op.getAZp();
        p.matmul.b_zp = op.getBZp();
        p.matmul.epilogue = op.getEpilogue().getValue().fields;
      })
      .Case([&](Pool2dOp op) { setPool(op, p.pool); })
      .Case([&](ReduceOp op) { setReduce(op, p.reduce); })
      .Case([&](BinaryOp op) { setBinary(op, p.binary); })
      .Case([&](CompareOp op) {
        p.compare.kind = static_cast<rt::CompareKind>(op.getKind());
      })
      .Case([&](UnaryOp op) {
        p.unary.function = static_cast<rt::Function>(op.getFunction());
        p.unary.alpha = real(op.getAlpha());
        p.unary.beta = real(op.getBeta());
      })
      .Case([&](SoftmaxOp op) {
        p.softmax.out_zp = op.getOutZp();
        p.softmax.multiplier = real(op.getMultiplier());
      })
      .Case([&](Resize2dOp op) {
        p.resize.in_zp = op.getInZp();
        p.resize.out_zp = op.getOutZp();
        p.resize.multiplier = real(op.getMultiplier());
        p.resize.nearest = op.getNearest();
      })
      .Case([&](GatherOp op) { p.gather.axis = op.getAxis(); })
      .Case([&](ConvertOp op) {
        p.convert.quantize = op.getQuantize();
        p.convert.in_zp = op.getInZp();
        p.convert.out_zp = op.getOutZp();
        p.convert.scale = real(op.getScale());
      })
      .Case([&](VectorMacOp op) {
        p.vector_mac.in_zp = op.getInZp();
        p.vector_mac.w_zp = op.getWZp();
        p.vector_mac.first = op.getFirst();
      })
      .Case([&](RequantizeOp op) {
        p.requantize.epilogue = op.getEpilogue().getValue().fields;
      })
      .Case([&](FillOp op) { p.fill.bits = op.getBits(); });
}

rt::Command encodeCommand(CommandOpInterface op, AddressOf addressOf,
                          uint32_t layer) {
  rt::Command command;
  std::memset(&command, 0, sizeof(command));
  command.opcode = op.getOpcode();
  command.engine = static_cast<rt::Engine>(op.getEngine());
  command.core = static_cast<uint8_t>(op.getCore());
  command.layer = layer;
  for (const rt::Wait &wait : op.getWaitList())
    command.waits[command.num_waits++] = wait;
  for (auto [i, value] : llvm::enumerate(op.getSlots()))
    if (value)
      command.operands[i] = encodeOperand(value, addressOf);
  for (auto [i, value] : llvm::enumerate(op.getAuxSlots()))
    command.aux[i] = value ? encodeOperand(value, addressOf).offset : -1;
  setParams(op, command.params);
  return command;
}

} // namespace npu::cmdq
