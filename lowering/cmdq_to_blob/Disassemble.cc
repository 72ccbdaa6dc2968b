//===- Disassemble.cc - blob -> cmdq program ------------------------------===//

#include "lowering/cmdq_to_blob/Blob.h"

#include "dialects/npu/NPU.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace npu {
namespace {

using rt::Command;
using rt::Opcode;

class Disassembler {
public:
  Disassembler(const rt::Blob &blob, MLIRContext *context)
      : blob(blob), b(context), loc(UnknownLoc::get(context)) {}

  OwningOpRef<ModuleOp> run();

private:
  void declare();
  void add(const Command &command, StringAttr tap);
  void add(const rt::HostCall &call);
  void addMatrix(const Command &command);
  void addVector(const Command &command);
  MemRefType type(ArrayRef<int64_t> dims, ArrayRef<int64_t> strides,
                  rt::DType dtype, rt::Space space);
  Value buffer(MemRefType type, int64_t offset, int io, int core);
  Value operand(const Command &command, int i);
  Value view(const rt::Operand &operand, int core);
  Value aux(const Command &command, int i, int64_t count, rt::DType dtype);
  Value bias(const Command &command);
  Value multipliers(const Command &command, const rt::Epilogue &epilogue);
  int64_t channels(const Command &command) {
    const rt::Operand &out = command.operands[0];
    return out.dims[out.rank - 1];
  }
  template <typename Op, typename... Args> void make(Args &&...args) {
    Op::create(b, loc, std::forward<Args>(args)..., engine, core, layer, tap,
               waits);
  }

  const rt::Blob &blob;
  OpBuilder b;
  Location loc;
  // Of the command being added.
  cmdq::EngineKind engine{};
  uint32_t core = 0;
  StringAttr layer, tap;
  ArrayAttr waits;
  llvm::DenseMap<std::tuple<Type, int64_t, int, int>, Value> buffers;
};

MemRefType Disassembler::type(ArrayRef<int64_t> dims, ArrayRef<int64_t> strides,
                              rt::DType dtype, rt::Space space) {
  MLIRContext *context = b.getContext();
  auto spaceAttr =
      cmdq::SpaceAttr::get(context, static_cast<cmdq::SpaceKind>(space));
  Type element = cmdq::fromDType(context, dtype);
  int64_t expected = 1;
  bool dense = true;
  for (int64_t i = dims.size() - 1; i >= 0; --i) {
    dense = dense && strides[i] == expected;
    expected *= dims[i];
  }
  MemRefLayoutAttrInterface layout;
  if (!dense)
    layout = StridedLayoutAttr::get(context, 0, strides);
  return MemRefType::get(dims, element, layout, spaceAttr);
}

Value Disassembler::buffer(MemRefType type, int64_t offset, int io, int core) {
  Value &value = buffers[{type, offset, io, core}];
  if (!value)
    value = cmdq::BufferOp::create(b, loc, type, offset, io, core);
  return value;
}

Value Disassembler::operand(const Command &command, int i) {
  const rt::Operand &o = command.operands[i];
  if (!o.rank)
    return {};
  return view(o, o.space == rt::Space::kSram ? command.core : 0);
}

Value Disassembler::view(const rt::Operand &o, int core) {
  SmallVector<int64_t> dims(o.dims, o.dims + o.rank),
      strides(o.strides, o.strides + o.rank);
  return buffer(type(dims, strides, o.dtype, o.space), o.offset, o.io, core);
}

Value Disassembler::aux(const Command &command, int i, int64_t count,
                        rt::DType dtype) {
  if (command.aux[i] < 0)
    return {};
  return buffer(type({count}, {1}, dtype, rt::Space::kConst), command.aux[i], 0,
                0);
}

Value Disassembler::bias(const Command &command) {
  bool real = command.operands[0].dtype == rt::DType::kF32;
  return aux(command, 0, channels(command),
             real ? rt::DType::kF32 : rt::DType::kI32);
}

Value Disassembler::multipliers(const Command &command,
                                const rt::Epilogue &epilogue) {
  bool perChannel = epilogue.flags & rt::kPerChannelScale;
  return aux(command, 1, perChannel ? channels(command) : 1, rt::DType::kF32);
}

void Disassembler::addMatrix(const Command &c) {
  Value out = operand(c, 0), in0 = operand(c, 1), in1 = operand(c, 2);
  auto lut = [&](const rt::Epilogue &e) {
    return aux(c, 2, rt::lutEntries(e.flags), rt::DType::kI8);
  };
  auto epilogue = [&](const rt::Epilogue &e) {
    return cmdq::EpilogueAttr::get(b.getContext(), e);
  };
  if (c.opcode == Opcode::kMatmul) {
    const rt::MatmulParams &p = c.params.matmul;
    return make<cmdq::MatmulOp>(out, in0, in1, operand(c, 3), bias(c),
                                multipliers(c, p.epilogue), lut(p.epilogue),
                                p.a_zp, p.b_zp, epilogue(p.epilogue));
  }
  if (c.opcode == Opcode::kRequantize) {
    const rt::Epilogue &e = c.params.requantize.epilogue;
    return make<cmdq::RequantizeOp>(out, in0, operand(c, 3), bias(c),
                                    multipliers(c, e), lut(e), epilogue(e));
  }
  const rt::ConvParams &p = c.params.conv;
  auto conv = [&](auto op) {
    make<decltype(op)>(out, in0, in1, operand(c, 3), bias(c),
                       multipliers(c, p.epilogue), lut(p.epilogue),
                       ArrayRef<int32_t>(p.stride),
                       ArrayRef<int32_t>(p.dilation), ArrayRef<int32_t>(p.pad),
                       p.groups, p.in_zp, p.w_zp, epilogue(p.epilogue));
  };
  if (c.opcode == Opcode::kConv2d)
    conv(cmdq::Conv2dOp());
  else
    conv(cmdq::DepthwiseConv2dOp());
}

void Disassembler::addVector(const Command &c) {
  using llvm::APFloat;
  Value out = operand(c, 0), in = operand(c, 1);
  const rt::Params &p = c.params;
  switch (c.opcode) {
  case Opcode::kNop:
    return make<cmdq::NopOp>();
  case Opcode::kDma:
    return make<cmdq::DmaOp>(out, in);
  case Opcode::kFill:
    return make<cmdq::FillOp>(out, p.fill.bits);
  case Opcode::kPool2d:
    return make<cmdq::Pool2dOp>(
        out, in, static_cast<cmdq::PoolKind>(p.pool.kind),
        ArrayRef<int32_t>(p.pool.kernel), ArrayRef<int32_t>(p.pool.stride),
        ArrayRef<int32_t>(p.pool.dilation), ArrayRef<int32_t>(p.pool.pad),
        p.pool.in_zp, p.pool.out_zp, APFloat(p.pool.multiplier), p.pool.lo,
        p.pool.hi, p.pool.count_include_pad != 0);
  case Opcode::kReduce: {
    SmallVector<int32_t> axes;
    for (int i = 0; i < rt::kMaxRank; ++i)
      if (p.reduce.axes >> i & 1)
        axes.push_back(i);
    return make<cmdq::ReduceOp>(
        out, in, static_cast<cmdq::ReduceKind>(p.reduce.kind), axes,
        p.reduce.in_zp, p.reduce.out_zp, APFloat(p.reduce.multiplier),
        p.reduce.lo, p.reduce.hi);
  }
  case Opcode::kBinary: {
    const rt::BinaryParams &q = p.binary;
    return make<cmdq::BinaryOp>(
        out, in, operand(c, 2), aux(c, 2, 256, rt::DType::kI8),
        static_cast<cmdq::BinaryKind>(q.kind),
        static_cast<cmdq::Function>(q.function), q.a_zp, q.b_zp, q.out_zp,
        APFloat(q.a_mul), APFloat(q.b_mul), q.lo, q.hi, APFloat(q.alpha),
        APFloat(q.beta));
  }
  case Opcode::kCompare:
    return make<cmdq::CompareOp>(
        out, in, operand(c, 2), static_cast<cmdq::CompareKind>(p.compare.kind));
  case Opcode::kSelect:
    return make<cmdq::SelectOp>(out, in, operand(c, 2), operand(c, 3));
  case Opcode::kUnary:
    return make<cmdq::UnaryOp>(out, in,
                               static_cast<cmdq::Function>(p.unary.function),
                               APFloat(p.unary.alpha), APFloat(p.unary.beta));
  case Opcode::kLut:
    return make<cmdq::LutOp>(out, in, aux(c, 0, 256, rt::DType::kI8));
  case Opcode::kSoftmax:
    return make<cmdq::SoftmaxOp>(out, in, aux(c, 0, 256, rt::DType::kF32),
                                 p.softmax.out_zp,
                                 APFloat(p.softmax.multiplier));
  case Opcode::kResize2d:
    return make<cmdq::Resize2dOp>(
        out, in, aux(c, 0, 4 * c.operands[0].dims[1], rt::DType::kI32),
        aux(c, 1, 4 * c.operands[0].dims[2], rt::DType::kI32), p.resize.in_zp,
        p.resize.out_zp, APFloat(p.resize.multiplier), p.resize.nearest != 0);
  case Opcode::kGather:
    return make<cmdq::GatherOp>(
        out, in, aux(c, 0, c.operands[0].dims[p.gather.axis], rt::DType::kI32),
        p.gather.axis);
  case Opcode::kConvert:
    return make<cmdq::ConvertOp>(out, in, p.convert.quantize != 0,
                                 p.convert.in_zp, p.convert.out_zp,
                                 APFloat(p.convert.scale));
  case Opcode::kVectorMac:
    return make<cmdq::VectorMacOp>(out, in, operand(c, 2), p.vector_mac.in_zp,
                                   p.vector_mac.w_zp, p.vector_mac.first != 0);
  case Opcode::kArgMax:
    return make<cmdq::ArgMaxOp>(out, in);
  default:
    return addMatrix(c);
  }
}

void Disassembler::add(const Command &command, StringAttr tapName) {
  engine = static_cast<cmdq::EngineKind>(command.engine);
  core = command.core;
  const std::string &name = blob.layers()[command.layer];
  layer = name.empty() ? StringAttr() : b.getStringAttr(name);
  tap = tapName;
  waits = cmdq::fromWaits(b.getContext(), {command.waits, command.num_waits});
  addVector(command);
}

void Disassembler::add(const rt::HostCall &call) {
  SmallVector<Value> outs, ins;
  for (const rt::Operand &o : call.outputs)
    outs.push_back(view(o, 0));
  for (const rt::Operand &o : call.inputs)
    ins.push_back(view(o, 0));
  SmallVector<Attribute> nodes;
  for (const rt::HostNode &n : call.nodes)
    nodes.push_back(HostNodeInfo{n.name, n.op, n.reason, n.fix, n.macs, n.bytes}
                        .toAttribute(b.getContext()));
  cmdq::HostCallOp::create(
      b, loc, outs, ins,
      b.getStringAttr(StringRef(call.model.data(), call.model.size())),
      b.getArrayAttr(nodes));
}

void Disassembler::declare() {
  int index = 0;
  auto dense = [&](ArrayRef<int64_t> dims, rt::DType dtype, rt::Space space) {
    return MemRefType::get(
        dims, cmdq::fromDType(b.getContext(), dtype),
        MemRefLayoutAttrInterface{},
        cmdq::SpaceAttr::get(b.getContext(),
                             static_cast<cmdq::SpaceKind>(space)));
  };
  for (bool isOutput : {false, true})
    for (const rt::TensorInfo &t : isOutput ? blob.outputs() : blob.inputs())
      cmdq::IoOp::create(b, loc, dense(t.shape, t.dtype, rt::Space::kIo),
                         index++, b.getStringAttr(t.name), isOutput,
                         t.preprocess.empty() ? StringAttr()
                                              : b.getStringAttr(t.preprocess));
  for (const rt::Blob::Declaration &d : blob.declarations()) {
    MemRefType type = dense(d.dims, d.dtype, rt::Space::kConst);
    auto tensor = RankedTensorType::get(d.dims, type.getElementType());
    auto *bytes =
        reinterpret_cast<const char *>(blob.constants().data + d.offset);
    ElementsAttr value;
    if (d.dtype == rt::DType::kBool) {
      SmallVector<bool> bits(bytes, bytes + type.getNumElements());
      value = DenseElementsAttr::get(tensor, bits);
    } else {
      value = DenseElementsAttr::getFromRawBuffer(
          tensor, {bytes, static_cast<size_t>(type.getNumElements() *
                                              rt::sizeOf(d.dtype))});
    }
    cmdq::ConstantOp::create(b, loc, type, value,
                             b.getI64IntegerAttr(d.offset));
  }
}

OwningOpRef<ModuleOp> Disassembler::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  SmallVector<NamedAttribute> info;
  for (const auto &[key, value] : blob.info())
    info.push_back(b.getNamedAttr(key, b.getStringAttr(value)));
  (*module)->setAttr("npu.info", b.getDictionaryAttr(info));
  b.setInsertionPointToEnd(module->getBody());
  const rt::SpaceSizes &sizes = blob.sizes();
  auto program = cmdq::ProgramOp::create(
      b, loc, b.getStringAttr(blob.name()), sizes.cores,
      b.getI64IntegerAttr(sizes.sram), b.getI64IntegerAttr(sizes.dram));
  b.setInsertionPointToStart(&program.getBody().emplaceBlock());
  declare();
  llvm::DenseMap<uint32_t, StringAttr> taps;
  for (const rt::Blob::Tap &t : blob.taps())
    taps[t.command] = b.getStringAttr(t.name);
  auto call = blob.hostCalls().begin(), end = blob.hostCalls().end();
  for (int64_t i = 0; i <= blob.numCommands(); ++i) {
    for (; call != end && call->before == i; ++call)
      add(*call);
    if (i < blob.numCommands())
      add(blob.commands()[i], taps.lookup(i));
  }
  return module;
}

} // namespace

OwningOpRef<ModuleOp> disassemble(const rt::Blob &blob, MLIRContext *context) {
  context->loadDialect<cmdq::CmdqDialect>();
  return Disassembler(blob, context).run();
}

} // namespace npu
