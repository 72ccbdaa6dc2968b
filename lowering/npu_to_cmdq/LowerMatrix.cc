//===- LowerMatrix.cc - Convolutions and matrix products ------------------===//

#include "lowering/npu_to_cmdq/Epilogue.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

using cmdq::EngineKind;

static SmallVector<int32_t> narrow(ArrayRef<int64_t> list) {
  return SmallVector<int32_t>(list.begin(), list.end());
}

static int32_t zeroPoint(Value tensor) {
  auto params = quantParams(elementOf(tensor));
  return params ? params->zero_point : 0;
}

/// Both operands i8 (quantised), or everything f32; and for quantised ones the
/// scale of the accumulator, fl(s_a * s_b[c]).
static LogicalResult checkTypes(Lowering &l, Operation *op, Value a, Value b,
                                EpilogueRequest &request) {
  Type ta = elementOf(a), tb = elementOf(b), out = elementOf(request.output);
  if (ta.isF32() && tb.isF32() && out.isF32())
    return success();
  auto qa = quantParams(ta);
  SmallVector<float> scales = filterScales(tb);
  if (!qa || scales.empty() || !storageType(ta).isInteger(8) ||
      !storageType(tb).isInteger(8) || storageType(ta).isUnsignedInteger() ||
      storageType(tb).isUnsignedInteger() ||
      !(out.isInteger(32) || quantParams(out)))
    return l.fail(op) << "the matrix engine multiplies i8 by i8 to i8 or i32, "
                         "or f32 by f32 to f32, not "
                      << ta << " by " << tb << " to " << out;
  for (float scale : scales)
    request.accumulatorScales.push_back(qa->scale * scale);
  return success();
}

template <typename Cmd, typename Op>
static LogicalResult lowerWindow(Lowering &l, Op op, int64_t groups) {
  EpilogueRequest request = epilogueOf(op);
  if (failed(checkTypes(l, op, op.getInput(), op.getFilter(), request)))
    return failure();
  FailureOr<Epilogue> e = buildEpilogue(l, op, request);
  if (failed(e))
    return failure();
  View dest = l.destinationOf(op.getOutput());
  Value in = l.input(l.viewOf(op.getInput()), Need::kInner);
  Value filter = l.input(l.viewOf(op.getFilter()), Need::kDense);
  Value residual;
  if (op.getResidual())
    residual = l.input(l.viewOf(op.getResidual()), Need::kInner);
  Value out = l.output(dest, Need::kInner);
  l.finish(Cmd::create(l.b(), l.loc(), out, in, filter, residual, e->bias,
                       e->multipliers, e->lut, narrow(op.getStrides()),
                       narrow(op.getDilations()), narrow(op.getPads()), groups,
                       zeroPoint(op.getInput()), zeroPoint(op.getFilter()),
                       e->attr, EngineKind::Matrix, l.core(), l.layer(),
                       StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

static LogicalResult lowerDepthwise(Lowering &l, DepthwiseConv2DOp op) {
  int64_t in = shapeOf(op.getInput())[3], out = shapeOf(op.getOutput())[3];
  if (in != out)
    return l.fail(op) << "a channel multiplier of " << out / in
                      << " has no command; npu-legalize-depthwise rewrites it";
  return lowerWindow<cmdq::DepthwiseConv2dOp>(l, op, 1);
}

/// A 1x1 convolution of a picture of one row.
static LogicalResult lowerFullyConnected(Lowering &l, FullyConnectedOp op) {
  EpilogueRequest request = epilogueOf(op);
  if (failed(checkTypes(l, op, op.getInput(), op.getFilter(), request)))
    return failure();
  FailureOr<Epilogue> e = buildEpilogue(l, op, request);
  if (failed(e))
    return failure();
  int64_t n = shapeOf(op.getFilter())[0], k = shapeOf(op.getFilter())[1];
  View dest = l.destinationOf(op.getOutput());
  int64_t rows = dest.elements() / n;
  Value in = l.inputAs(l.viewOf(op.getInput()), {1, 1, rows, k}, Need::kInner);
  Value filter =
      l.inputAs(l.viewOf(op.getFilter()), {n, 1, 1, k}, Need::kDense);
  Value residual;
  if (op.getResidual())
    residual =
        l.inputAs(l.viewOf(op.getResidual()), {1, 1, rows, n}, Need::kInner);
  Value out = l.outputAs(dest, {1, 1, rows, n}, Need::kInner);
  l.finish(cmdq::Conv2dOp::create(
               l.b(), l.loc(), out, in, filter, residual, e->bias,
               e->multipliers, e->lut, ArrayRef<int32_t>{1, 1},
               ArrayRef<int32_t>{1, 1}, ArrayRef<int32_t>{0, 0, 0, 0}, 1,
               zeroPoint(op.getInput()), zeroPoint(op.getFilter()), e->attr,
               EngineKind::Matrix, l.core(), l.layer(), StringAttr(),
               ArrayAttr()),
           op.getOutput());
  return success();
}

static LogicalResult lowerMatMul(Lowering &l, MatMulOp op) {
  EpilogueRequest request;
  request.output = op.getOutput();
  if (failed(checkTypes(l, op, op.getA(), op.getB(), request)))
    return failure();
  FailureOr<Epilogue> e = buildEpilogue(l, op, request);
  if (failed(e))
    return failure();
  View dest = l.destinationOf(op.getOutput());
  View a = l.viewOf(op.getA()), b = l.viewOf(op.getB());
  int64_t rank = dest.rank();
  if (rank < 2 || a.rank() < 2 || b.rank() < 2)
    return l.fail(op) << "operands must be matrices";
  if (op.getTransposeB()) {
    std::swap(b.dims[b.rank() - 1], b.dims[b.rank() - 2]);
    std::swap(b.strides[b.rank() - 1], b.strides[b.rank() - 2]);
  }
  if (failed(checkRank(l, op, dest)))
    return failure();
  // The batch dimensions broadcast.
  auto extend = [&](const View &view) {
    SmallVector<int64_t> shape(dest.dims);
    shape[rank - 2] = view.dims[view.rank() - 2];
    shape[rank - 1] = view.dims[view.rank() - 1];
    return view.broadcast(shape);
  };
  Value lhs = l.input(extend(a));
  Value rhs = l.input(extend(b));
  Value out = l.output(dest);
  l.finish(cmdq::MatmulOp::create(l.b(), l.loc(), out, lhs, rhs, Value(),
                                  e->bias, e->multipliers, e->lut,
                                  zeroPoint(op.getA()), zeroPoint(op.getB()),
                                  e->attr, EngineKind::Matrix, l.core(),
                                  l.layer(), StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

static LogicalResult lowerVectorMac(Lowering &l, VectorMacOp op) {
  auto in = quantParams(elementOf(op.getInput()));
  auto weight = elementOf(op.getWeight());
  if (!in || !storageType(weight).isInteger(8) ||
      !elementOf(op.getOutput()).isInteger(32))
    return l.fail(op) << "must multiply i8 by i8 into i32";
  View dest = l.destinationOf(op.getOutput());
  // Accumulates in place; an accumulator that others use too is copied first.
  Value accumulator = op.getAccumulator();
  if (accumulator)
    if (View view = l.viewOf(accumulator); !(view == dest))
      l.copy(dest, view);
  Value input = l.input(l.viewOf(op.getInput()));
  Value weights = l.input(l.viewOf(op.getWeight()), Need::kDense);
  Value out = l.output(dest, Need::kAny, /*update=*/bool(accumulator));
  l.finish(cmdq::VectorMacOp::create(l.b(), l.loc(), out, input, weights,
                                     in->zero_point, zeroPoint(op.getWeight()),
                                     !accumulator, EngineKind::Vector, l.core(),
                                     l.layer(), StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

static LogicalResult lowerRescale(Lowering &l, RescaleOp op) {
  EpilogueRequest request = epilogueOf(op);
  request.accumulatorScales.assign(op.getScales().begin(),
                                   op.getScales().end());
  if (!elementOf(op.getInput()).isInteger(32) ||
      !quantParams(elementOf(op.getOutput())))
    return l.fail(op) << "must go from i32 to a quantised type";
  FailureOr<Epilogue> e = buildEpilogue(l, op, request);
  if (failed(e))
    return failure();
  View dest = l.destinationOf(op.getOutput());
  if (failed(checkRank(l, op, dest)))
    return failure();
  Value in = l.input(l.viewOf(op.getInput()));
  Value residual;
  if (op.getResidual())
    residual = l.input(l.viewOf(op.getResidual()));
  Value out = l.output(dest);
  l.finish(cmdq::RequantizeOp::create(l.b(), l.loc(), out, in, residual,
                                      e->bias, e->multipliers, e->lut, e->attr,
                                      EngineKind::Vector, l.core(), l.layer(),
                                      StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

std::optional<LogicalResult> lowerMatrixOp(Lowering &l, Operation *op) {
  using Result = std::optional<LogicalResult>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](Conv2DOp op) {
        return lowerWindow<cmdq::Conv2dOp>(l, op, op.getGroups());
      })
      .Case([&](DepthwiseConv2DOp op) { return lowerDepthwise(l, op); })
      .Case([&](FullyConnectedOp op) { return lowerFullyConnected(l, op); })
      .Case([&](MatMulOp op) { return lowerMatMul(l, op); })
      .Case([&](VectorMacOp op) { return lowerVectorMac(l, op); })
      .Case([&](RescaleOp op) { return lowerRescale(l, op); })
      .Default([](Operation *) { return Result(); });
}

} // namespace npu
