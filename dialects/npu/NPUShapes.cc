// Shape inference. The element type of an inferred result is its first
// operand's unless the op says otherwise; verifiers compare shapes only.
#include "dialects/npu/NPU.h"

using namespace mlir;
using namespace npu;

using Components = SmallVectorImpl<ShapedTypeComponents>;
using Shape = SmallVector<int64_t>;

static ShapedType typeOf(Value value) {
  return cast<ShapedType>(value.getType());
}
static ArrayRef<int64_t> shapeOf(Value value) {
  return typeOf(value).getShape();
}

static LogicalResult yield(Components &out, ArrayRef<int64_t> shape,
                           Type element, std::optional<Location> loc) {
  for (int64_t d : shape)
    if (d <= 0)
      return emitOptionalError(loc, "result dimension ", d,
                               " is not positive; check pads, kernel and "
                               "strides against the input");
  out.emplace_back(shape, element);
  return success();
}

// floor((in + low + high - dilation * (kernel - 1) - 1) / stride) + 1
static int64_t windowed(int64_t in, int64_t low, int64_t high, int64_t kernel,
                        int64_t dilation, int64_t stride) {
  int64_t free = in + low + high - dilation * (kernel - 1) - 1;
  return free < 0 || stride <= 0 ? 0 : free / stride + 1;
}

static LogicalResult checkWindow(std::optional<Location> loc, Value input,
                                 ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> pads,
                                 ArrayRef<int64_t> dilations) {
  if (typeOf(input).getRank() != 4)
    return emitOptionalError(loc, "input must be [N,H,W,C], found ",
                             input.getType());
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2)
    return emitOptionalError(
        loc, "needs 2 strides, 4 pads and 2 dilations, found ", strides.size(),
        ", ", pads.size(), ", ", dilations.size());
  for (int64_t v : strides)
    if (v < 1)
      return emitOptionalError(loc, "stride ", v, " is less than 1");
  for (int64_t v : dilations)
    if (v < 1)
      return emitOptionalError(loc, "dilation ", v, " is less than 1");
  for (int64_t v : pads)
    if (v < 0)
      return emitOptionalError(loc, "pad ", v, " is negative");
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions and matrix products
//===----------------------------------------------------------------------===//

LogicalResult Conv2DOp::inferReturnTypeComponents(MLIRContext *,
                                                  std::optional<Location> loc,
                                                  Adaptor op, Components &out) {
  ArrayRef<int64_t> s = op.getStrides(), p = op.getPads(),
                    d = op.getDilations();
  if (failed(checkWindow(loc, op.getInput(), s, p, d)))
    return failure();
  ArrayRef<int64_t> in = shapeOf(op.getInput()), f = shapeOf(op.getFilter());
  int64_t groups = op.getGroups();
  if (f.size() != 4 || groups < 1 || in[3] % groups || f[0] % groups ||
      f[3] != in[3] / groups)
    return emitOptionalError(loc, "filter must be [OC,KH,KW,IC/groups] with ",
                             in[3], " input channels and ", groups,
                             " groups, found ", op.getFilter().getType());
  return yield(out,
               {in[0], windowed(in[1], p[0], p[2], f[1], d[0], s[0]),
                windowed(in[2], p[1], p[3], f[2], d[1], s[1]), f[0]},
               typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult DepthwiseConv2DOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  ArrayRef<int64_t> s = op.getStrides(), p = op.getPads(),
                    d = op.getDilations();
  if (failed(checkWindow(loc, op.getInput(), s, p, d)))
    return failure();
  ArrayRef<int64_t> in = shapeOf(op.getInput()), f = shapeOf(op.getFilter());
  if (f.size() != 3 || f[2] % in[3])
    return emitOptionalError(loc, "filter must be [KH,KW,C*M] with C = ", in[3],
                             ", found ", op.getFilter().getType());
  return yield(out,
               {in[0], windowed(in[1], p[0], p[2], f[0], d[0], s[0]),
                windowed(in[2], p[1], p[3], f[1], d[1], s[1]), f[2]},
               typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult TransposeConv2DOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  ArrayRef<int64_t> s = op.getStrides(), p = op.getPads(),
                    d = op.getDilations(), o = op.getOutputPads();
  if (failed(checkWindow(loc, op.getInput(), s, p, d)))
    return failure();
  ArrayRef<int64_t> in = shapeOf(op.getInput()), f = shapeOf(op.getFilter());
  int64_t groups = op.getGroups();
  if (f.size() != 4 || groups < 1 || in[3] % groups || f[0] % groups ||
      f[3] != in[3] / groups || o.size() != 2)
    return emitOptionalError(loc, "filter must be [OC,KH,KW,IC/groups] with ",
                             in[3], " input channels and ", groups,
                             " groups, and 2 output_pads; found ",
                             op.getFilter().getType());
  auto size = [&](int i) {
    return s[i] * (in[1 + i] - 1) + o[i] + d[i] * (f[1 + i] - 1) + 1 - p[i] -
           p[i + 2];
  };
  return yield(out, {in[0], size(0), size(1), f[0]},
               typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult FullyConnectedOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  Shape shape(shapeOf(op.getInput()));
  ArrayRef<int64_t> f = shapeOf(op.getFilter());
  if (shape.empty() || f.size() != 2 || f[1] != shape.back())
    return emitOptionalError(loc,
                             "filter must be [N,K] for an input [...,K], "
                             "found ",
                             op.getFilter().getType(), " for ",
                             op.getInput().getType());
  shape.back() = f[0];
  return yield(out, shape, typeOf(op.getInput()).getElementType(), loc);
}

// NumPy broadcast of two shapes.
static FailureOr<Shape> broadcast(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return failure();
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

LogicalResult MatMulOp::inferReturnTypeComponents(MLIRContext *,
                                                  std::optional<Location> loc,
                                                  Adaptor op, Components &out) {
  ArrayRef<int64_t> a = shapeOf(op.getA()), b = shapeOf(op.getB());
  bool transpose = op.getTransposeB();
  if (a.size() < 2 || b.size() < 2)
    return emitOptionalError(loc, "operands must have rank 2 or more, found ",
                             op.getA().getType(), " and ", op.getB().getType());
  int64_t k = b[b.size() - (transpose ? 1 : 2)];
  int64_t n = b[b.size() - (transpose ? 2 : 1)];
  FailureOr<Shape> shape = broadcast(a.drop_back(2), b.drop_back(2));
  if (failed(shape) || a.back() != k)
    return emitOptionalError(loc, "operands do not fit: ", op.getA().getType(),
                             " and ", op.getB().getType());
  shape->append({a[a.size() - 2], n});
  return yield(out, *shape, typeOf(op.getA()).getElementType(), loc);
}

LogicalResult
VectorMacOp::inferReturnTypeComponents(MLIRContext *context,
                                       std::optional<Location> loc, Adaptor op,
                                       Components &out) {
  return yield(out, shapeOf(op.getInput()), IntegerType::get(context, 32), loc);
}

LogicalResult RescaleOp::inferReturnTypeComponents(MLIRContext *,
                                                   std::optional<Location> loc,
                                                   Adaptor op,
                                                   Components &out) {
  return yield(out, shapeOf(op.getInput()),
               typeOf(op.getInput()).getElementType(), loc);
}

//===----------------------------------------------------------------------===//
// Elementwise, reductions, pools
//===----------------------------------------------------------------------===//

static LogicalResult inferBinary(std::optional<Location> loc, Value lhs,
                                 Value rhs, Components &out) {
  FailureOr<Shape> shape = broadcast(shapeOf(lhs), shapeOf(rhs));
  if (failed(shape))
    return emitOptionalError(loc, "operands do not broadcast: ", lhs.getType(),
                             " and ", rhs.getType());
  return yield(out, *shape, typeOf(lhs).getElementType(), loc);
}

#define BINARY(OP)                                                             \
  LogicalResult OP::inferReturnTypeComponents(MLIRContext *,                   \
                                              std::optional<Location> loc,     \
                                              Adaptor op, Components &out) {   \
    return inferBinary(loc, op.getLhs(), op.getRhs(), out);                    \
  }
BINARY(AddOp)
BINARY(SubOp)
BINARY(MulOp)
BINARY(DivOp)
BINARY(MinOp)
BINARY(MaxOp)
BINARY(PowOp)
BINARY(PReluOp)
#undef BINARY

#define SAME_SHAPE(OP)                                                         \
  LogicalResult OP::inferReturnTypeComponents(MLIRContext *,                   \
                                              std::optional<Location> loc,     \
                                              Adaptor op, Components &out) {   \
    return yield(out, shapeOf(op.getInput()),                                  \
                 typeOf(op.getInput()).getElementType(), loc);                 \
  }
SAME_SHAPE(ReluOp)
SAME_SHAPE(ClipOp)
SAME_SHAPE(LeakyReluOp)
SAME_SHAPE(EluOp)
SAME_SHAPE(SigmoidOp)
SAME_SHAPE(HardSigmoidOp)
SAME_SHAPE(HardSwishOp)
SAME_SHAPE(SwishOp)
SAME_SHAPE(TanhOp)
SAME_SHAPE(GeluOp)
SAME_SHAPE(ExpOp)
SAME_SHAPE(LogOp)
SAME_SHAPE(SqrtOp)
SAME_SHAPE(ReciprocalOp)
SAME_SHAPE(AbsOp)
SAME_SHAPE(NegOp)
SAME_SHAPE(ErfOp)
SAME_SHAPE(FloorOp)
SAME_SHAPE(CeilOp)
SAME_SHAPE(RoundOp)
SAME_SHAPE(SoftplusOp)
SAME_SHAPE(SoftmaxOp)
SAME_SHAPE(CastOp)
SAME_SHAPE(QuantizeOp)
SAME_SHAPE(DequantizeOp)
SAME_SHAPE(StorageCastOp)
#undef SAME_SHAPE

static LogicalResult inferReduce(std::optional<Location> loc, Value input,
                                 ArrayRef<int64_t> axes, bool keep,
                                 Type element, Components &out) {
  Shape shape;
  int64_t rank = typeOf(input).getRank(), last = -1;
  for (int64_t axis : axes) {
    if (axis <= last || axis >= rank)
      return emitOptionalError(loc, "axis ", axis,
                               " is out of order or outside ", input.getType());
    last = axis;
  }
  for (int64_t i = 0; i < rank; ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(shapeOf(input)[i]);
    else if (keep)
      shape.push_back(1);
  }
  return yield(out, shape, element, loc);
}

#define REDUCE(OP)                                                             \
  LogicalResult OP::inferReturnTypeComponents(MLIRContext *,                   \
                                              std::optional<Location> loc,     \
                                              Adaptor op, Components &out) {   \
    return inferReduce(loc, op.getInput(), op.getAxes(), op.getKeepdims(),     \
                       typeOf(op.getInput()).getElementType(), out);           \
  }
REDUCE(ReduceMeanOp)
REDUCE(ReduceSumOp)
REDUCE(ReduceMaxOp)
REDUCE(ReduceMinOp)
REDUCE(ReduceProdOp)
#undef REDUCE

LogicalResult ArgMaxOp::inferReturnTypeComponents(MLIRContext *context,
                                                  std::optional<Location> loc,
                                                  Adaptor op, Components &out) {
  return inferReduce(loc, op.getInput(), {static_cast<int64_t>(op.getAxis())},
                     op.getKeepdims(), IntegerType::get(context, 64), out);
}

#define POOL(OP)                                                               \
  LogicalResult OP::inferReturnTypeComponents(MLIRContext *,                   \
                                              std::optional<Location> loc,     \
                                              Adaptor op, Components &out) {   \
    ArrayRef<int64_t> s = op.getStrides(), p = op.getPads(),                   \
                      d = op.getDilations(), k = op.getKernel();               \
    if (failed(checkWindow(loc, op.getInput(), s, p, d)))                      \
      return failure();                                                        \
    if (k.size() != 2 || k[0] < 1 || k[1] < 1)                                 \
      return emitOptionalError(loc, "needs 2 positive kernel sizes");          \
    ArrayRef<int64_t> in = shapeOf(op.getInput());                             \
    return yield(out,                                                          \
                 {in[0], windowed(in[1], p[0], p[2], k[0], d[0], s[0]),        \
                  windowed(in[2], p[1], p[3], k[1], d[1], s[1]), in[3]},       \
                 typeOf(op.getInput()).getElementType(), loc);                 \
  }
POOL(MaxPool2DOp)
POOL(AvgPool2DOp)
#undef POOL

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypeComponents(MLIRContext *,
                                                    std::optional<Location> loc,
                                                    Adaptor op,
                                                    Components &out) {
  auto type = cast<ShapedType>(op.getValueAttr().getType());
  return yield(out, type.getShape(), type.getElementType(), loc);
}

LogicalResult ResizeOp::inferReturnTypeComponents(MLIRContext *,
                                                  std::optional<Location> loc,
                                                  Adaptor op, Components &out) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()), sizes = op.getSizes();
  if (in.size() != 4 || sizes.size() != 2 || op.getScales().size() != 2)
    return emitOptionalError(loc,
                             "needs an input [N,H,W,C], 2 sizes and 2 "
                             "scales, found ",
                             op.getInput().getType());
  return yield(out, {in[0], sizes[0], sizes[1], in[3]},
               typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult PadOp::inferReturnTypeComponents(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor op, Components &out) {
  Shape shape(shapeOf(op.getInput()));
  ArrayRef<int64_t> low = op.getLow(), high = op.getHigh();
  if (low.size() != shape.size() || high.size() != shape.size())
    return emitOptionalError(loc,
                             "needs one low and one high pad a dimension "
                             "of ",
                             op.getInput().getType());
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] += low[i] + high[i];
  return yield(out, shape, typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult SliceOp::inferReturnTypeComponents(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor op, Components &out) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()), start = op.getStarts(),
                    size = op.getSizes(), stride = op.getStrides();
  if (start.size() != in.size() || size.size() != in.size() ||
      stride.size() != in.size())
    return emitOptionalError(loc,
                             "needs a start, size and stride for each "
                             "dimension of ",
                             op.getInput().getType());
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t last = start[i] + (size[i] - 1) * stride[i];
    if (start[i] < 0 || start[i] >= in[i] || last < 0 || last >= in[i] ||
        size[i] < 1 || stride[i] == 0)
      return emitOptionalError(loc, "slice from ", start[i], ", size ", size[i],
                               ", stride ", stride[i], " leaves dimension ", i,
                               " of ", op.getInput().getType());
  }
  return yield(out, size, typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult ReshapeOp::inferReturnTypeComponents(MLIRContext *,
                                                   std::optional<Location> loc,
                                                   Adaptor op,
                                                   Components &out) {
  int64_t count = 1;
  for (int64_t d : op.getShape())
    count *= d;
  if (count != typeOf(op.getInput()).getNumElements())
    return emitOptionalError(loc, "shape has ", count, " elements, the input ",
                             op.getInput().getType());
  return yield(out, op.getShape(), typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult TransposeOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()), perm = op.getPerm();
  Shape shape;
  SmallVector<bool> seen(in.size(), false);
  for (int64_t p : perm) {
    if (p < 0 || p >= int64_t(in.size()) || seen[p])
      break;
    seen[p] = true;
    shape.push_back(in[p]);
  }
  if (shape.size() != in.size() || perm.size() != in.size())
    return emitOptionalError(loc,
                             "perm is no permutation of the dimensions "
                             "of ",
                             op.getInput().getType());
  return yield(out, shape, typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult BroadcastToOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  FailureOr<Shape> shape = broadcast(shapeOf(op.getInput()), op.getShape());
  if (failed(shape) || ArrayRef<int64_t>(*shape) != op.getShape())
    return emitOptionalError(loc, op.getInput().getType(),
                             " does not broadcast to the shape");
  return yield(out, *shape, typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult DepthToSpaceOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  ArrayRef<int64_t> in = shapeOf(op.getInput());
  int64_t b = op.getBlockSize();
  if (in.size() != 4 || b < 1 || in[3] % (b * b))
    return emitOptionalError(loc, "block size ", b, " does not divide ",
                             op.getInput().getType());
  return yield(out, {in[0], in[1] * b, in[2] * b, in[3] / (b * b)},
               typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult SpaceToDepthOp::inferReturnTypeComponents(
    MLIRContext *, std::optional<Location> loc, Adaptor op, Components &out) {
  ArrayRef<int64_t> in = shapeOf(op.getInput());
  int64_t b = op.getBlockSize();
  if (in.size() != 4 || b < 1 || in[1] % b || in[2] % b)
    return emitOptionalError(loc, "block size ", b, " does not divide ",
                             op.getInput().getType());
  return yield(out, {in[0], in[1] / b, in[2] / b, in[3] * b * b},
               typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult GatherOp::inferReturnTypeComponents(MLIRContext *,
                                                  std::optional<Location> loc,
                                                  Adaptor op, Components &out) {
  Shape shape(shapeOf(op.getInput()));
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= int64_t(shape.size()))
    return emitOptionalError(loc, "axis ", axis, " is outside ",
                             op.getInput().getType());
  for (int64_t i : op.getIndices())
    if (i < 0 || i >= shape[axis])
      return emitOptionalError(loc, "index ", i, " is outside dimension ", axis,
                               " of ", op.getInput().getType());
  shape[axis] = op.getIndices().size();
  return yield(out, shape, typeOf(op.getInput()).getElementType(), loc);
}

LogicalResult ConcatOp::inferReturnTypeComponents(MLIRContext *,
                                                  std::optional<Location> loc,
                                                  Adaptor op, Components &out) {
  if (op.getInputs().empty())
    return emitOptionalError(loc, "needs at least one operand");
  Shape shape(shapeOf(op.getInputs().front()));
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= int64_t(shape.size()))
    return emitOptionalError(loc, "axis ", axis, " is outside ",
                             op.getInputs().front().getType());
  int64_t sum = 0;
  for (Value input : op.getInputs()) {
    Shape other(shapeOf(input));
    if (other.size() != shape.size())
      return emitOptionalError(loc,
                               "operands differ in rank: ", input.getType());
    sum += other[axis];
    other[axis] = shape[axis];
    if (other != shape)
      return emitOptionalError(loc, "operands differ outside axis ", axis, ": ",
                               input.getType(), " and ",
                               op.getInputs().front().getType());
  }
  shape[axis] = sum;
  return yield(out, shape, typeOf(op.getInputs().front()).getElementType(),
               loc);
}

LogicalResult SplitOp::inferReturnTypeComponents(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor op, Components &out) {
  Shape shape(shapeOf(op.getInput()));
  int64_t axis = op.getAxis(), sum = 0;
  for (int64_t size : op.getSizes())
    sum += size;
  if (axis < 0 || axis >= int64_t(shape.size()) || sum != shape[axis])
    return emitOptionalError(loc, "sizes add up to ", sum, " along axis ", axis,
                             " of ", op.getInput().getType());
  for (int64_t size : op.getSizes()) {
    shape[axis] = size;
    if (failed(yield(out, shape, typeOf(op.getInput()).getElementType(), loc)))
      return failure();
  }
  return success();
}
