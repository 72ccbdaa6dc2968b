//===- LowerVector.cc - Elementwise operators, reductions, pools ----------===//

#include "lowering/npu_to_cmdq/Lowering.h"

#include "dialects/npu/Tiling.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace npu {

using cmdq::EngineKind;

static APFloat f(float value) { return APFloat(value); }

static SmallVector<int32_t> narrow(ArrayRef<int64_t> list) {
  return SmallVector<int32_t>(list.begin(), list.end());
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static std::optional<cmdq::BinaryKind> binaryKind(Operation *op) {
  using Kind = std::optional<cmdq::BinaryKind>;
  return TypeSwitch<Operation *, Kind>(op)
      .Case([](AddOp) { return cmdq::BinaryKind::Add; })
      .Case([](SubOp) { return cmdq::BinaryKind::Sub; })
      .Case([](MulOp) { return cmdq::BinaryKind::Mul; })
      .Case([](DivOp) { return cmdq::BinaryKind::Div; })
      .Case([](MinOp) { return cmdq::BinaryKind::Min; })
      .Case([](MaxOp) { return cmdq::BinaryKind::Max; })
      .Case([](PowOp) { return cmdq::BinaryKind::Pow; })
      .Case([](PReluOp) { return cmdq::BinaryKind::Prelu; })
      .Default([](Operation *) { return Kind(); });
}

namespace {
struct BinaryFields {
  int32_t aZp = 0, bZp = 0, outZp = 0, lo = 0, hi = 0;
  float aMul = 0, bMul = 0;
  FunctionParams function;
  Value lut;
};
} // namespace

static void setMultipliers(BinaryFields &fields, cmdq::BinaryKind kind, float a,
                           float b, float out) {
  switch (kind) {
  case cmdq::BinaryKind::Mul:
    fields.aMul = a * b / out;
    return;
  case cmdq::BinaryKind::Div:
    fields.aMul = a / (b * out);
    return;
  case cmdq::BinaryKind::Prelu:
    fields.aMul = a / out;
    fields.bMul = a * b / out;
    return;
  default:
    fields.aMul = a / out;
    fields.bMul = b / out;
  }
}

template <typename Op>
static LogicalResult lowerBinary(Lowering &l, Op op, cmdq::BinaryKind kind) {
  Type ta = elementOf(op.getLhs()), tb = elementOf(op.getRhs()),
       out = elementOf(op.getOutput());
  BinaryFields fields;
  auto qa = quantParams(ta), qb = quantParams(tb), qo = quantParams(out);
  if (qa && qb && qo && kind != cmdq::BinaryKind::Pow) {
    FailureOr<QuantOutput> q = quantOutput(l, op, out, op.getActivationAttr(),
                                           op.getPreActivationType());
    if (failed(q))
      return failure();
    if (q->wide)
      return l.fail(op) << "a vector command looks up i8, not "
                        << *op.getPreActivationType();
    setMultipliers(fields, kind, qa->scale, qb->scale, q->params.scale);
    fields.aZp = qa->zero_point;
    fields.bZp = qb->zero_point;
    fields.outZp = q->params.zero_point;
    fields.lo = q->lo;
    fields.hi = q->hi;
    fields.lut = q->lut;
  } else if (ta.isF32() && tb.isF32() && out.isF32()) {
    fields.function = functionOf(op.getActivationAttr());
  } else if (ta != tb || ta != out || op.getActivationAttr() ||
             !(ta.isSignlessInteger(32) || ta.isSignlessInteger(64) ||
               ta.isUnsignedInteger(64))) {
    return l.fail(op) << "the vector engine takes f32, i32, i64, ui64 or "
                         "quantised operands of one kind, not "
                      << ta << " and " << tb << " to " << out;
  }
  View dest = l.destinationOf(op.getOutput());
  View views[3] = {dest, l.viewOf(op.getLhs()).broadcast(dest.dims),
                   l.viewOf(op.getRhs()).broadcast(dest.dims)};
  if (failed(fitRank(l, op, views)))
    return failure();
  Value lhs = l.input(views[1]), rhs = l.input(views[2]);
  Value result = l.output(views[0]);
  l.finish(cmdq::BinaryOp::create(
               l.b(), l.loc(), result, lhs, rhs, fields.lut, kind,
               static_cast<cmdq::Function>(fields.function.function),
               fields.aZp, fields.bZp, fields.outZp, f(fields.aMul),
               f(fields.bMul), fields.lo, fields.hi, f(fields.function.alpha),
               f(fields.function.beta), EngineKind::Vector, l.core(), l.layer(),
               StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static std::optional<FunctionParams> unaryFunction(Operation *op) {
  using F = rt::Function;
  using Params = std::optional<FunctionParams>;
  constexpr float inf = std::numeric_limits<float>::infinity();
  auto real = [](const APFloat &value) { return value.convertToFloat(); };
  auto plain = [](F function) { return FunctionParams{function, 0, 0}; };
  return TypeSwitch<Operation *, Params>(op)
      .Case([&](ReluOp) { return FunctionParams{F::kClip, 0, inf}; })
      .Case([&](ClipOp op) {
        return FunctionParams{F::kClip, real(op.getMin()), real(op.getMax())};
      })
      .Case([&](LeakyReluOp op) {
        return FunctionParams{F::kLeakyRelu, real(op.getAlpha()), 0};
      })
      .Case([&](EluOp op) {
        return FunctionParams{F::kElu, real(op.getAlpha()), 0};
      })
      .Case([&](HardSigmoidOp op) {
        return FunctionParams{F::kHardSigmoid, real(op.getAlpha()),
                              real(op.getBeta())};
      })
      .Case([&](SwishOp op) {
        return FunctionParams{F::kSwish, real(op.getAlpha()), 0};
      })
      .Case([&](GeluOp op) {
        return plain(op.getTanh() ? F::kGeluTanh : F::kGelu);
      })
      .Case([&](SigmoidOp) { return plain(F::kSigmoid); })
      .Case([&](HardSwishOp) { return plain(F::kHardSwish); })
      .Case([&](TanhOp) { return plain(F::kTanh); })
      .Case([&](ExpOp) { return plain(F::kExp); })
      .Case([&](LogOp) { return plain(F::kLog); })
      .Case([&](SqrtOp) { return plain(F::kSqrt); })
      .Case([&](ReciprocalOp) { return plain(F::kReciprocal); })
      .Case([&](AbsOp) { return plain(F::kAbs); })
      .Case([&](NegOp) { return plain(F::kNeg); })
      .Case([&](ErfOp) { return plain(F::kErf); })
      .Case([&](FloorOp) { return plain(F::kFloor); })
      .Case([&](CeilOp) { return plain(F::kCeil); })
      .Case([&](RoundOp) { return plain(F::kRound); })
      .Case([&](SoftplusOp) { return plain(F::kSoftplus); })
      .Default([](Operation *) { return Params(); });
}

static LogicalResult lowerUnary(Lowering &l, Operation *op,
                                const FunctionParams &params) {
  Value input = op->getOperand(0), result = op->getResult(0);
  Type in = elementOf(input), out = elementOf(result);
  auto qi = quantParams(in), qo = quantParams(out);
  bool integer = in.isInteger(32) && out == in &&
                 (params.function == rt::Function::kAbs ||
                  params.function == rt::Function::kNeg ||
                  params.function == rt::Function::kClip);
  if (!(qi && qo) && !(in.isF32() && out.isF32()) && !integer)
    return l.fail(op) << "functions go from f32 to f32 or between quantised "
                         "types, not from "
                      << in << " to " << out;
  View views[2] = {l.destinationOf(result), l.viewOf(input)};
  if (failed(fitRank(l, op, views)))
    return failure();
  Value from = l.input(views[1]), to = l.output(views[0]);
  Operation *command;
  if (qi) {
    Value table = l.constant(
        lookupTable(params.function, params.alpha, params.beta, *qi, *qo));
    command =
        cmdq::LutOp::create(l.b(), l.loc(), to, from, table, EngineKind::Vector,
                            l.core(), l.layer(), StringAttr(), ArrayAttr());
  } else {
    command = cmdq::UnaryOp::create(
        l.b(), l.loc(), to, from, static_cast<cmdq::Function>(params.function),
        f(params.alpha), f(params.beta), EngineKind::Vector, l.core(),
        l.layer(), StringAttr(), ArrayAttr());
  }
  l.finish(command, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Type changes
//===----------------------------------------------------------------------===//

static LogicalResult lowerConvert(Lowering &l, Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  Type in = elementOf(input), out = elementOf(result);
  bool quantize = false;
  int32_t inZp = 0, outZp = 0;
  float scale = 0;
  if (!isa<CastOp>(op)) {
    auto qi = quantParams(in), qo = quantParams(out);
    quantize = true;
    if (qi && qo) {
      scale = qi->scale / qo->scale;
    } else if (in.isF32() && qo) {
      scale = qo->scale;
    } else if (qi && out.isF32()) {
      scale = qi->scale;
    } else {
      return l.fail(op) << "converts between f32 and per-tensor quantised "
                           "types, not from "
                        << in << " to " << out;
    }
    inZp = qi ? qi->zero_point : 0;
    outZp = qo ? qo->zero_point : 0;
  } else if (isa<quant::QuantizedType>(in) || isa<quant::QuantizedType>(out)) {
    return l.fail(op) << "a cast does not change quantised types: " << in
                      << " to " << out;
  }
  View views[2] = {l.destinationOf(result), l.viewOf(input)};
  if (failed(fitRank(l, op, views)))
    return failure();
  Value from = l.input(views[1]), to = l.output(views[0]);
  l.finish(cmdq::ConvertOp::create(l.b(), l.loc(), to, from, quantize, inZp,
                                   outZp, f(scale), EngineKind::Vector,
                                   l.core(), l.layer(), StringAttr(),
                                   ArrayAttr()),
           result);
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax, arg max, reductions: along axes
//===----------------------------------------------------------------------===//

/// The permutation that moves `axis` to the end.
static SmallVector<int64_t> axisLast(int64_t rank, int64_t axis) {
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      perm.push_back(i);
  perm.push_back(axis);
  return perm;
}

static LogicalResult lowerSoftmax(Lowering &l, SoftmaxOp op) {
  Type in = elementOf(op.getInput()), out = elementOf(op.getOutput());
  auto qi = quantParams(in), qo = quantParams(out);
  if (!(in.isF32() && out.isF32()) && !(qi && (qo || out.isF32())))
    return l.fail(op) << "goes from f32 to f32 or from a quantised type to "
                         "one or to f32, not from "
                      << in << " to " << out;
  auto perm = axisLast(shapeOf(op.getInput()).size(), op.getAxis());
  View dest = l.destinationOf(op.getOutput());
  if (failed(checkRank(l, op, dest)))
    return failure();
  Value from = l.input(l.viewOf(op.getInput()).permuted(perm));
  Value to = l.output(dest.permuted(perm));
  Value table = qi ? l.constant(softmaxTable(qi->scale)) : Value();
  l.finish(cmdq::SoftmaxOp::create(
               l.b(), l.loc(), to, from, table, qo ? qo->zero_point : 0,
               f(qo ? 1.0f / qo->scale : 0.0f), EngineKind::Vector, l.core(),
               l.layer(), StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

static LogicalResult lowerArgMax(Lowering &l, ArgMaxOp op) {
  auto shape = shapeOf(op.getInput());
  auto perm = axisLast(shape.size(), op.getAxis());
  View in = l.viewOf(op.getInput()).permuted(perm);
  View dest = l.destinationOf(op.getOutput());
  if (failed(checkRank(l, op, in)))
    return failure();
  // As a view, the reduced dimension is there and the last.
  if (op.getKeepdims()) {
    dest = dest.permuted(perm);
  } else {
    dest.dims.push_back(1);
    dest.strides.push_back(1);
  }
  Value from = l.input(in), to = l.output(dest);
  l.finish(cmdq::ArgMaxOp::create(l.b(), l.loc(), to, from, EngineKind::Vector,
                                  l.core(), l.layer(), StringAttr(),
                                  ArrayAttr()),
           op.getOutput());
  return success();
}

template <typename Op>
static LogicalResult lowerReduce(Lowering &l, Op op, cmdq::ReduceKind kind) {
  Type in = elementOf(op.getInput()), out = elementOf(op.getOutput());
  auto qi = quantParams(in), qo = quantParams(out);
  bool sums = kind == cmdq::ReduceKind::Mean || kind == cmdq::ReduceKind::Sum;
  bool picks = kind == cmdq::ReduceKind::Max || kind == cmdq::ReduceKind::Min;
  if (!(in.isF32() && out.isF32()) && !(qi && qo && (sums || picks)))
    return l.fail(op) << "this reduction of " << in << " to " << out
                      << " is no command";
  if (qi && picks && in != out)
    return l.fail(op) << "a quantised maximum or minimum keeps its type, but "
                         "this goes from "
                      << in << " to " << out << "; requantise after it";
  View dest = l.destinationOf(op.getOutput());
  SmallVector<int64_t> shape(shapeOf(op.getInput()));
  for (int64_t axis : op.getAxes())
    shape[axis] = 1;
  View view = l.viewOf(op.getInput());
  if (failed(checkRank(l, op, view)))
    return failure();
  Value from = l.input(view);
  Value to = l.outputAs(dest, shape);
  l.finish(cmdq::ReduceOp::create(
               l.b(), l.loc(), to, from, kind, narrow(op.getAxes()),
               qi ? qi->zero_point : 0, qo ? qo->zero_point : 0,
               f(qi && sums ? qi->scale / qo->scale : 0.0f), qo ? qo->qmin : 0,
               qo ? qo->qmax : 0, EngineKind::Vector, l.core(), l.layer(),
               StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult lowerPool(Lowering &l, Op op, cmdq::PoolKind kind,
                               bool includePad) {
  Type in = elementOf(op.getInput()), out = elementOf(op.getOutput());
  auto qi = quantParams(in), qo = quantParams(out);
  bool average = kind == cmdq::PoolKind::Average;
  if (!(in.isF32() && out.isF32()) && !(qi && qo))
    return l.fail(op) << "pools f32 or quantised tensors, not " << in << " to "
                      << out;
  if (qi && !average &&
      (qi->scale != qo->scale || qi->zero_point != qo->zero_point))
    return l.fail(op) << "a quantised maximum keeps scale and zero point, but "
                         "this goes from "
                      << in << " to " << out << "; requantise after it";
  View dest = l.destinationOf(op.getOutput());
  Value from = l.input(l.viewOf(op.getInput()), Need::kInner);
  Value to = l.output(dest, Need::kInner);
  l.finish(
      cmdq::Pool2dOp::create(l.b(), l.loc(), to, from, kind,
                             narrow(op.getKernel()), narrow(op.getStrides()),
                             narrow(op.getDilations()), narrow(op.getPads()),
                             qi ? qi->zero_point : 0, qo ? qo->zero_point : 0,
                             f(qi && average ? qi->scale / qo->scale : 0.0f),
                             qo ? qo->qmin : 0, qo ? qo->qmax : 0, includePad,
                             EngineKind::Vector, l.core(), l.layer(),
                             StringAttr(), ArrayAttr()),
      op.getOutput());
  return success();
}

static Value tapTable(Lowering &l, ArrayRef<rt::ResizeTap> taps) {
  SmallVector<int32_t> words(taps.size() * 4);
  static_assert(sizeof(rt::ResizeTap) == 16);
  std::memcpy(words.data(), taps.data(), taps.size() * sizeof(rt::ResizeTap));
  return l.constant(words, {static_cast<int64_t>(taps.size()), 4});
}

static LogicalResult lowerResize(Lowering &l, ResizeOp op) {
  Type in = elementOf(op.getInput()), out = elementOf(op.getOutput());
  bool nearest = op.getMode() == ResizeMode::Nearest;
  auto qi = quantParams(in), qo = quantParams(out);
  if (nearest ? in != out : !(in.isF32() && out.isF32()) && !(qi && qo))
    return l.fail(op) << (nearest ? "nearest keeps the element type, but this "
                                    "goes from "
                                  : "interpolates f32 or quantised tensors, "
                                    "not ")
                      << in << " to " << out;
  Value tables[2] = {tapTable(l, resizeTaps(op, 0)),
                     tapTable(l, resizeTaps(op, 1))};
  View dest = l.destinationOf(op.getOutput());
  Value from = l.input(l.viewOf(op.getInput()), Need::kInner);
  Value to = l.output(dest, Need::kInner);
  bool scaled = qi && !nearest;
  l.finish(cmdq::Resize2dOp::create(l.b(), l.loc(), to, from, tables[0],
                                    tables[1], scaled ? qi->zero_point : 0,
                                    scaled ? qo->zero_point : 0,
                                    f(scaled ? qi->scale / qo->scale : 0.0f),
                                    nearest, EngineKind::Vector, l.core(),
                                    l.layer(), StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

std::optional<LogicalResult> lowerVectorOp(Lowering &l, Operation *op) {
  using Result = std::optional<LogicalResult>;
  if (auto kind = binaryKind(op))
    return TypeSwitch<Operation *, Result>(op)
        .Case<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, PowOp, PReluOp>(
            [&](auto op) { return lowerBinary(l, op, *kind); })
        .Default([](Operation *) { return Result(); });
  if (auto params = unaryFunction(op))
    return lowerUnary(l, op, *params);
  using Kind = cmdq::ReduceKind;
  return TypeSwitch<Operation *, Result>(op)
      .Case<CastOp, QuantizeOp, DequantizeOp>(
          [&](auto op) { return lowerConvert(l, op); })
      .Case([&](SoftmaxOp op) { return lowerSoftmax(l, op); })
      .Case([&](ArgMaxOp op) { return lowerArgMax(l, op); })
      .Case([&](ReduceMeanOp op) { return lowerReduce(l, op, Kind::Mean); })
      .Case([&](ReduceSumOp op) { return lowerReduce(l, op, Kind::Sum); })
      .Case([&](ReduceMaxOp op) { return lowerReduce(l, op, Kind::Max); })
      .Case([&](ReduceMinOp op) { return lowerReduce(l, op, Kind::Min); })
      .Case([&](ReduceProdOp op) { return lowerReduce(l, op, Kind::Prod); })
      .Case([&](MaxPool2DOp op) {
        return lowerPool(l, op, cmdq::PoolKind::Max, false);
      })
      .Case([&](AvgPool2DOp op) {
        return lowerPool(l, op, cmdq::PoolKind::Average,
                         op.getCountIncludePad());
      })
      .Case([&](ResizeOp op) { return lowerResize(l, op); })
      .Default([](Operation *) { return Result(); });
}

} // namespace npu
