//===- NPUTiling.cc - What a tile of an operator's result needs -----------===//

#include "dialects/npu/Tiling.h"

#include "dialects/npu/resize_taps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

Tile Tile::whole(ArrayRef<int64_t> shape) {
  Tile tile;
  tile.offsets.assign(shape.size(), 0);
  tile.sizes.assign(shape.begin(), shape.end());
  return tile;
}

bool Tile::isWhole(ArrayRef<int64_t> shape) const {
  return ArrayRef<int64_t>(sizes) == shape;
}

int64_t Tile::elements() const {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

namespace {
/// One dimension of a box.
struct Span {
  int64_t offset, size;
};

/// Input rows (or columns) that a span of a window operator's output sees, and
/// how much padding is left on both sides.
struct WindowSpan {
  Span in;
  int64_t padLow, padHigh;
};
} // namespace

static Span spanOf(const Tile &tile, int64_t dim) {
  return {tile.offsets[dim], tile.sizes[dim]};
}

static void setSpan(Tile &tile, int64_t dim, Span span) {
  tile.offsets[dim] = span.offset;
  tile.sizes[dim] = span.size;
}

static WindowSpan windowSpan(Span out, int64_t in, int64_t kernel,
                             int64_t stride, int64_t dilation, int64_t padLow) {
  int64_t start = out.offset * stride - padLow;
  int64_t end = (out.offset + out.size - 1) * stride - padLow +
                dilation * (kernel - 1) + 1;
  int64_t first = std::max<int64_t>(0, start), last = std::min(in, end);
  return {{first, last - first}, first - start, end - last};
}

/// Rows and columns of a 4-D window operator; fills `in` and the new pads.
template <typename Op>
static void tileWindow(Op op, const Tile &result, int64_t kh, int64_t kw,
                       TileNeeds &needs, Tile &in) {
  int64_t kernel[2] = {kh, kw};
  int64_t low[2], high[2];
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  for (int i = 0; i < 2; ++i) {
    WindowSpan span =
        windowSpan(spanOf(result, 1 + i), shape[1 + i], kernel[i],
                   op.getStrides()[i], op.getDilations()[i], op.getPads()[i]);
    setSpan(in, 1 + i, span.in);
    low[i] = span.padLow;
    high[i] = span.padHigh;
  }
  setSpan(in, 0, spanOf(result, 0));
  Builder b(op.getContext());
  needs.attributes.push_back(
      {op.getPadsAttrName(),
       b.getDenseI64ArrayAttr({low[0], low[1], high[0], high[1]})});
}

/// Bias [C] and residual (shaped as the result) of a matrix operator.
template <typename Op>
static void tileEpilogue(Op op, const Tile &result, TileNeeds &needs) {
  if (op.getBias()) {
    Tile bias;
    bias.offsets.push_back(result.offsets.back());
    bias.sizes.push_back(result.sizes.back());
    needs.operands.push_back(bias);
  }
  if (op.getResidual())
    needs.operands.push_back(result);
}

static FailureOr<TileNeeds> tileConv(Conv2DOp op, const Tile &result) {
  TileNeeds needs;
  ArrayRef<int64_t> filterShape = shapeOf(op.getFilter());
  Tile in = Tile::whole(shapeOf(op.getInput())),
       filter = Tile::whole(filterShape);
  tileWindow(op, result, filterShape[1], filterShape[2], needs, in);
  Span channels = spanOf(result, 3);
  setSpan(filter, 0, channels);
  int64_t groups = op.getGroups();
  if (groups > 1) {
    int64_t perGroup = filterShape[0] / groups, icPerGroup = filterShape[3];
    int64_t first = channels.offset / perGroup;
    int64_t last = (channels.offset + channels.size - 1) / perGroup;
    // Whole groups, or a part of one.
    bool aligned =
        channels.offset % perGroup == 0 && channels.size % perGroup == 0;
    if (!aligned && first != last)
      return failure();
    setSpan(in, 3, {first * icPerGroup, (last - first + 1) * icPerGroup});
    needs.attributes.push_back(
        {op.getGroupsAttrName(),
         Builder(op.getContext()).getI64IntegerAttr(last - first + 1)});
  }
  needs.operands = {in, filter};
  tileEpilogue(op, result, needs);
  return needs;
}

static FailureOr<TileNeeds> tileDepthwise(DepthwiseConv2DOp op,
                                          const Tile &result) {
  TileNeeds needs;
  ArrayRef<int64_t> filterShape = shapeOf(op.getFilter());
  Tile in = Tile::whole(shapeOf(op.getInput())),
       filter = Tile::whole(filterShape);
  int64_t multiplier = filterShape[2] / in.sizes[3];
  Span channels = spanOf(result, 3);
  if (channels.offset % multiplier || channels.size % multiplier)
    return failure();
  tileWindow(op, result, filterShape[0], filterShape[1], needs, in);
  setSpan(in, 3, {channels.offset / multiplier, channels.size / multiplier});
  setSpan(filter, 2, channels);
  needs.operands = {in, filter};
  tileEpilogue(op, result, needs);
  return needs;
}

static FailureOr<TileNeeds> tileFullyConnected(FullyConnectedOp op,
                                               const Tile &result) {
  TileNeeds needs;
  Tile in = result, filter = Tile::whole(shapeOf(op.getFilter()));
  setSpan(in, in.sizes.size() - 1, {0, filter.sizes[1]});
  setSpan(filter, 0, spanOf(result, result.sizes.size() - 1));
  needs.operands = {in, filter};
  tileEpilogue(op, result, needs);
  return needs;
}

static FailureOr<TileNeeds> tileMatMul(MatMulOp op, const Tile &result) {
  int64_t rank = result.sizes.size();
  if (rank < 2)
    return failure();
  // Batch dimensions of 1 broadcast.
  auto batch = [&](Value operand) {
    Tile tile = Tile::whole(shapeOf(operand));
    int64_t missing = rank - tile.sizes.size();
    for (int64_t i = 0; i + 2 < static_cast<int64_t>(tile.sizes.size()); ++i)
      if (tile.sizes[i] != 1)
        setSpan(tile, i, spanOf(result, missing + i));
    return tile;
  };
  if (shapeOf(op.getA()).size() < 2 || shapeOf(op.getB()).size() < 2)
    return failure();
  Tile a = batch(op.getA()), b = batch(op.getB());
  setSpan(a, a.sizes.size() - 2, spanOf(result, rank - 2));
  setSpan(b, b.sizes.size() - (op.getTransposeB() ? 2 : 1),
          spanOf(result, rank - 1));
  TileNeeds needs;
  needs.operands = {a, b};
  return needs;
}

static FailureOr<TileNeeds> tileRescale(RescaleOp op, const Tile &result) {
  TileNeeds needs;
  needs.operands = {result};
  tileEpilogue(op, result, needs);
  if (op.getScales().size() > 1)
    needs.attributes.push_back(
        {op.getScalesAttrName(),
         Builder(op.getContext())
             .getDenseF32ArrayAttr(op.getScales().slice(result.offsets.back(),
                                                        result.sizes.back()))});
  return needs;
}

static FailureOr<TileNeeds> tileVectorMac(VectorMacOp op, const Tile &result) {
  TileNeeds needs;
  Tile weight;
  weight.offsets.push_back(result.offsets.back());
  weight.sizes.push_back(result.sizes.back());
  needs.operands = {result, weight};
  if (op.getAccumulator())
    needs.operands.push_back(result);
  return needs;
}

template <typename Op>
static FailureOr<TileNeeds> tilePool(Op op, const Tile &result) {
  TileNeeds needs;
  Tile in = Tile::whole(shapeOf(op.getInput()));
  tileWindow(op, result, op.getKernel()[0], op.getKernel()[1], needs, in);
  setSpan(in, 3, spanOf(result, 3));
  needs.operands = {in};
  return needs;
}

/// Operands of an elementwise operator, broadcast as in NumPy.
static FailureOr<TileNeeds> tileElementwise(Operation *op, const Tile &result) {
  TileNeeds needs;
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> shape = shapeOf(operand);
    Tile tile = Tile::whole(shape);
    int64_t missing = result.sizes.size() - shape.size();
    for (int64_t i = 0, e = shape.size(); i < e; ++i)
      if (shape[i] != 1)
        setSpan(tile, i, spanOf(result, missing + i));
    needs.operands.push_back(tile);
  }
  return needs;
}

template <typename Op>
static FailureOr<TileNeeds> tileReduce(Op op, const Tile &result) {
  Tile in = Tile::whole(shapeOf(op.getInput()));
  int64_t out = 0;
  for (int64_t i = 0, e = in.sizes.size(); i < e; ++i) {
    if (llvm::is_contained(op.getAxes(), i)) {
      out += op.getKeepdims();
      continue;
    }
    setSpan(in, i, spanOf(result, out++));
  }
  TileNeeds needs;
  needs.operands = {in};
  return needs;
}

static FailureOr<TileNeeds> tileArgMax(ArgMaxOp op, const Tile &result) {
  Tile in = Tile::whole(shapeOf(op.getInput()));
  int64_t out = 0, axis = op.getAxis();
  for (int64_t i = 0, e = in.sizes.size(); i < e; ++i) {
    if (i == axis)
      out += op.getKeepdims();
    else
      setSpan(in, i, spanOf(result, out++));
  }
  TileNeeds needs;
  needs.operands = {in};
  return needs;
}

static FailureOr<TileNeeds> tileGather(GatherOp op, const Tile &result) {
  Tile in = result;
  int64_t axis = op.getAxis();
  setSpan(in, axis, {0, shapeOf(op.getInput())[axis]});
  TileNeeds needs;
  needs.operands = {in};
  needs.attributes.push_back(
      {op.getIndicesAttrName(),
       Builder(op.getContext())
           .getDenseI64ArrayAttr(op.getIndices().slice(result.offsets[axis],
                                                       result.sizes[axis]))});
  return needs;
}

std::vector<rt::ResizeTap> resizeTaps(ResizeOp op, int axis) {
  auto rule = static_cast<CoordinateRule>(op.getCoordinateMode());
  auto rounding = static_cast<NearestRule>(op.getNearestMode());
  auto window = op->getAttrOfType<DenseI64ArrayAttr>(kResizeWindow);
  int64_t in = shapeOf(op.getInput())[1 + axis], out = op.getSizes()[axis];
  int64_t inStart = 0, first = 0, count = out;
  if (window) {
    ArrayRef<int64_t> fields = window.asArrayRef().slice(4 * axis, 4);
    inStart = fields[0];
    in = fields[1];
    first = fields[2];
    out = fields[3];
  }
  float scale = op.getScales()[axis];
  std::vector<rt::ResizeTap> taps =
      op.getMode() == ResizeMode::Nearest
          ? nearestTaps(in, out, scale, rule, rounding)
          : linearTaps(in, out, scale, rule);
  taps.assign(taps.begin() + first, taps.begin() + first + count);
  for (rt::ResizeTap &tap : taps) {
    tap.i0 -= inStart;
    tap.i1 -= inStart;
  }
  return taps;
}

static FailureOr<TileNeeds> tileResize(ResizeOp op, const Tile &result) {
  if (op->hasAttr(kResizeWindow))
    return failure(); // a tile already
  TileNeeds needs;
  Tile in = result;
  SmallVector<int64_t> window;
  for (int axis = 0; axis < 2; ++axis) {
    std::vector<rt::ResizeTap> taps = resizeTaps(op, axis);
    Span out = spanOf(result, 1 + axis);
    int64_t size = shapeOf(op.getInput())[1 + axis];
    int64_t first = size, last = 0;
    for (int64_t i = out.offset; i < out.offset + out.size; ++i) {
      first = std::min<int64_t>({first, taps[i].i0, taps[i].i1});
      last = std::max<int64_t>({last, taps[i].i0, taps[i].i1});
    }
    setSpan(in, 1 + axis, {first, last - first + 1});
    window.append({first, size, out.offset, op.getSizes()[axis]});
  }
  needs.operands = {in};
  Builder b(op.getContext());
  needs.attributes.push_back(
      {op.getSizesAttrName(),
       b.getDenseI64ArrayAttr({result.sizes[1], result.sizes[2]})});
  needs.attributes.push_back(
      {b.getStringAttr(kResizeWindow), b.getDenseI64ArrayAttr(window)});
  return needs;
}

SmallVector<bool> undividedDims(Operation *op) {
  SmallVector<bool> mask(shapeOf(op->getResult(0)).size(), false);
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    mask[softmax.getAxis()] = true;
  return mask;
}

FailureOr<TileNeeds> tileNeeds(Operation *op, const Tile &result) {
  for (auto [dim, whole] : llvm::enumerate(undividedDims(op)))
    if (whole && result.sizes[dim] != shapeOf(op->getResult(0))[dim])
      return failure();
  using Needs = FailureOr<TileNeeds>;
  return TypeSwitch<Operation *, Needs>(op)
      .Case([&](Conv2DOp op) { return tileConv(op, result); })
      .Case([&](DepthwiseConv2DOp op) { return tileDepthwise(op, result); })
      .Case([&](FullyConnectedOp op) { return tileFullyConnected(op, result); })
      .Case([&](MatMulOp op) { return tileMatMul(op, result); })
      .Case([&](RescaleOp op) { return tileRescale(op, result); })
      .Case([&](VectorMacOp op) { return tileVectorMac(op, result); })
      .Case<MaxPool2DOp, AvgPool2DOp>(
          [&](auto op) { return tilePool(op, result); })
      .Case<ReduceMeanOp, ReduceSumOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
          [&](auto op) { return tileReduce(op, result); })
      .Case([&](ArgMaxOp op) { return tileArgMax(op, result); })
      .Case([&](GatherOp op) { return tileGather(op, result); })
      .Case([&](ResizeOp op) { return tileResize(op, result); })
      .Default([&](Operation *op) { return tileElementwise(op, result); });
}

} // namespace npu
