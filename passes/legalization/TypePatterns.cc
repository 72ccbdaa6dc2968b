//===- TypePatterns.cc - Types that commands do not have ------------------===//

#include "passes/legalization/GroupedConv.h"
#include "passes/legalization/LegalizePatterns.h"
#include "passes/legalization/Views.h"

using namespace mlir;

namespace npu {
namespace {

RankedTensorType withElement(Type type, Type element) {
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               element);
}

bool isQuantised(Value value) {
  return isa<quant::QuantizedType>(elementType(value));
}

/// The operator with other operands and result types.
Operation *cloneWith(Operation *op, ArrayRef<Value> operands,
                     ArrayRef<Type> types, PatternRewriter &b) {
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip(copy->getResults(), types))
    result.setType(type);
  copy->removeAttr("npu.tensor");
  return copy;
}

void takeName(Operation *op, Value value) {
  if (Attribute name = op->getAttr("npu.tensor"))
    value.getDefiningOp()->setAttr("npu.tensor", name);
}

/// Moves that need not know what they move, and the type changes themselves.
bool movesBits(Operation *op) {
  return isa<ConstantOp, ReshapeOp, TransposeOp, BroadcastToOp, SliceOp,
             SplitOp, ConcatOp, PadOp, GatherOp, DepthToSpaceOp, SpaceToDepthOp,
             CastOp, HostCallOp>(op);
}

/// The f32 of an f16 constant as a constant, of anything else by a cast.
Value widened(OpBuilder &b, Location loc, Value value) {
  auto type = withElement(value.getType(), b.getF32Type());
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense)
    return CastOp::create(b, loc, type, value);
  SmallVector<APFloat> values;
  for (APFloat v : dense.getValues<APFloat>()) {
    bool lost;
    v.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    values.push_back(v);
  }
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

/// No command computes in f16.
struct HalfToFloat : RewritePattern {
  HalfToFloat(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &b) const override {
    auto half = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getElementType().isF16();
    };
    if (!isa_and_nonnull<NPUDialect>(op->getDialect()) || movesBits(op) ||
        llvm::none_of(op->getOperandTypes(), half))
      return failure();
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(half(v.getType()) ? widened(b, op->getLoc(), v) : v);
    SmallVector<Type> types;
    for (Type t : op->getResultTypes())
      types.push_back(half(t) ? withElement(t, b.getF32Type()) : t);
    Operation *wide = cloneWith(op, operands, types, b);
    SmallVector<Value> results;
    for (auto [old, now] : llvm::zip(op->getResults(), wide->getResults()))
      results.push_back(
          old.getType() == now.getType()
              ? Value(now)
              : CastOp::create(b, op->getLoc(), old.getType(), now)
                    .getOutput());
    takeName(op, results.front());
    b.replaceOp(op, results);
    return success();
  }
};

/// What only picks elements keeps their type; another one comes after it.
template <typename Op> struct KeepType : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Type in = elementType(op.getInput()), out = elementType(op.getOutput());
    if constexpr (std::is_same_v<Op, ResizeOp>)
      if (op.getMode() != ResizeMode::Nearest)
        return failure();
    if (in == out || !isQuantised(op.getInput()) ||
        !isQuantised(op.getOutput()))
      return failure();
    Operation *same = cloneWith(op, llvm::to_vector(op->getOperands()),
                                {withElement(op.getType(), in)}, b);
    auto last =
        b.replaceOpWithNewOp<QuantizeOp>(op, op.getType(), same->getResult(0));
    if (Attribute name = op->getAttr("npu.tensor"))
      last->setAttr("npu.tensor", name);
    return success();
  }
};

/// No quantised command: in f32 between dequantize and quantize.
template <typename Op> struct InFloat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Value output = op->getResult(0);
    if (!isQuantised(output) && llvm::none_of(op->getOperands(), isQuantised))
      return failure();
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(
          isQuantised(v)
              ? DequantizeOp::create(
                    b, op.getLoc(), withElement(v.getType(), b.getF32Type()), v)
                    .getOutput()
              : v);
    if (op->hasAttr("activation") && op->hasAttr("pre_activation_type"))
      return failure(); // two roundings
    Operation *wide = cloneWith(
        op, operands, {withElement(output.getType(), b.getF32Type())}, b);
    Value result = wide->getResult(0);
    if (isQuantised(output))
      result = QuantizeOp::create(b, op.getLoc(), output.getType(), result);
    takeName(op, result);
    b.replaceOp(op, result);
    return success();
  }
};

/// A bias that is no constant: added to the sum, by an operator of its own.
template <typename Op> struct VariableBias : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Value bias = op.getBias();
    Type out = elementType(op.getOutput());
    if (!bias || bias.template getDefiningOp<ConstantOp>())
      return failure();
    bool plain = !op.getActivationAttr() && !op.getResidual();
    bool rescales = !out.isF32() && !out.isInteger(32);
    if (!rescales && !plain)
      return failure();
    auto bare = cast<Op>(b.clone(*op));
    bare->removeAttr("npu.tensor");
    bare.getBiasMutable().clear();
    bare.getResidualMutable().clear();
    for (const char *name : {"activation", "pre_activation_type",
                             "residual_type", "residual_activation"})
      bare->removeAttr(name);
    Type sumType = rescales ? Type(b.getI32Type()) : out;
    auto type = withElement(op.getType(), sumType);
    bare.getOutput().setType(type);
    Value sum = AddOp::create(b, op.getLoc(), type, bare.getOutput(), bias,
                              ActivationAttr(), TypeAttr());
    if (rescales)
      sum = RescaleOp::create(
          b, op.getLoc(), op.getType(), sum, Value(), op.getResidual(),
          op.getActivationAttr(), op.getPreActivationTypeAttr(),
          op.getResidualTypeAttr(), op.getResidualActivationAttr(),
          accumulatorScales(op.getInput(), op.getFilter()));
    takeName(op, sum);
    b.replaceOp(op, sum);
    return success();
  }
};

} // namespace

void addTypePatterns(RewritePatternSet &patterns) {
  patterns.add<HalfToFloat, KeepType<MaxPool2DOp>, KeepType<ReduceMaxOp>,
               KeepType<ReduceMinOp>, KeepType<ResizeOp>, InFloat<PowOp>,
               InFloat<ReduceProdOp>, VariableBias<Conv2DOp>,
               VariableBias<DepthwiseConv2DOp>, VariableBias<FullyConnectedOp>>(
      patterns.getContext());
}

} // namespace npu
