//===- FoldQdq.cc - npu-fold-qdq ------------------------------------------===//

#include "passes/quantization/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/quantization/OpClasses.h"
#include "passes/quantization/QdqPatterns.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUFOLDQDQPASS
#include "passes/quantization/Passes.h.inc"

namespace {

/// A bias scale that differs from the product of the others by less than this
/// share is that product, rounded.
constexpr double kSameScale = 1e-4;

/// Scales of a quantised type, one or one per channel.
ArrayRef<double> scalesOf(Type element, double &single) {
  if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    return axis.getScales();
  single = cast<PerTensorType>(element).getScale();
  return ArrayRef(single);
}

/// The constant that is dequantised to `value`, with `width` bits of storage.
ConstantOp quantizedSource(Value value, unsigned width) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  auto constant = dequantize ? dequantize.getInput().getDefiningOp<ConstantOp>()
                             : ConstantOp();
  auto element =
      constant
          ? dyn_cast<quant::QuantizedType>(elementTypeOf(constant.getOutput()))
          : quant::QuantizedType();
  if (!element || !element.isSigned() ||
      element.getStorageTypeIntegralWidth() != width ||
      !isa<PerTensorType, quant::UniformQuantizedPerAxisType>(element) ||
      !isa<DenseElementsAttr>(constant.getValue()))
    return {};
  return constant;
}

bool usableFilter(Operation *op, ConstantOp filter) {
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(
      elementTypeOf(filter.getOutput()));
  return !axis || (axis.getQuantizedDimension() == filterAxis(op) &&
                   llvm::all_of(axis.getZeroPoints(),
                                [](int64_t zero) { return zero == 0; }));
}

/// The i32 bias at the scales of the accumulator; null if `bias` is neither
/// dequantised i32 nor a float constant, or does not fit.
Value integerBias(OpBuilder &b, Value bias, Type filter, double inputScale) {
  double filterSingle, biasSingle;
  ArrayRef<double> scales = scalesOf(filter, filterSingle);
  int64_t channels = cast<RankedTensorType>(bias.getType()).getNumElements();
  std::vector<double> real(channels);
  std::vector<int32_t> integers(channels);
  auto accumulator = [&](int64_t c) {
    return inputScale * scales[scales.size() == 1 ? 0 : c];
  };
  bool same = true;
  if (ConstantOp source = quantizedSource(bias, 32)) {
    Type element = elementTypeOf(source.getOutput());
    ArrayRef<double> own = scalesOf(element, biasSingle);
    auto perTensor = dyn_cast<PerTensorType>(element);
    int64_t zero = perTensor ? perTensor.getZeroPoint() : 0;
    auto values =
        cast<DenseElementsAttr>(source.getValue()).getValues<int32_t>();
    for (int64_t c = 0; c < channels; ++c) {
      double scale = own[own.size() == 1 ? 0 : c];
      integers[c] = values[c];
      real[c] = (double(values[c]) - double(zero)) * scale;
      same &= zero == 0 &&
              std::fabs(scale - accumulator(c)) <= kSameScale * accumulator(c);
    }
  } else if (auto floats = constantFloats(bias)) {
    same = false;
    real.assign(floats->begin(), floats->end());
  } else {
    return {};
  }
  for (int64_t c = 0; c < channels && !same; ++c) {
    double q = std::nearbyint(real[c] / accumulator(c));
    if (!(std::fabs(q) < 2147483648.0))
      return {};
    integers[c] = int32_t(q);
  }
  auto type = RankedTensorType::get({channels}, b.getI32Type());
  return ConstantOp::create(b, bias.getLoc(), type,
                            DenseElementsAttr::get(type, ArrayRef(integers)));
}

/// op(dequantize(x)..) -> quantize becomes the quantised operator.
struct FoldOperator : RewritePattern {
  FoldOperator(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!computesQuantized(op) || op->getNumResults() != 1 ||
        !isFloatTensor(op->getResult(0)))
      return failure();
    PerTensorType type = quantizedByUsers(op->getResult(0));
    auto activation = op->getAttrOfType<ActivationAttr>("activation");
    if (!type || (activation && activation.getKind() != ActivationKind::Clip))
      return failure();
    FailureOr<SmallVector<Value>> operands =
        hasFilter(op) ? filterOperands(op, rewriter) : allOperands(op);
    if (failed(operands))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(*operands);
      op->getResult(0).setType(
          cast<RankedTensorType>(op->getResult(0).getType()).clone(type));
    });
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      rewriter.replaceOp(user, op->getResult(0));
    return success();
  }

private:
  static FailureOr<SmallVector<Value>> allOperands(Operation *op) {
    SmallVector<Value> out;
    for (Value operand : op->getOperands()) {
      DequantizeOp dequantize = dequantizeOf(operand);
      if (!dequantize)
        return failure();
      out.push_back(dequantize.getInput());
    }
    return out;
  }

  static FailureOr<SmallVector<Value>> filterOperands(Operation *op,
                                                      OpBuilder &b) {
    DequantizeOp input = dequantizeOf(op->getOperand(0));
    ConstantOp filter = quantizedSource(op->getOperand(kFilterOperand), 8);
    Value bias = biasOf(op);
    if (!input || !filter || !usableFilter(op, filter) ||
        op->getNumOperands() != (bias ? 3 : 2))
      return failure();
    SmallVector<Value> out{input.getInput(), filter.getOutput()};
    if (!bias)
      return out;
    b.setInsertionPoint(op);
    out.push_back(integerBias(b, bias, elementTypeOf(filter.getOutput()),
                              int8TypeOf(input.getInput()).getScale()));
    if (!out.back())
      return failure();
    return out;
  }
};

/// The order of the integers is that of the numbers.
struct FoldArgMax : OpRewritePattern<ArgMaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgMaxOp op,
                                PatternRewriter &rewriter) const override {
    DequantizeOp input = dequantizeOf(op.getInput());
    if (!input)
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(input.getInput()); });
    return success();
  }
};

/// quantize(dequantize(x)) -> x, of equal types; quantize(constant) -> constant
struct FoldPair : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    auto dequantize = op.getInput().getDefiningOp<DequantizeOp>();
    if (dequantize && dequantize.getInput().getType() == op.getType()) {
      rewriter.replaceOp(op, dequantize.getInput());
      return success();
    }
    auto values = constantFloats(op.getInput());
    PerTensorType type = int8TypeOf(op.getOutput());
    if (!values || !type)
      return failure();
    rewriter.replaceOp(op, quantizedConstant(rewriter, op.getLoc(),
                                             op.getType().getShape(), *values,
                                             type));
    return success();
  }
};

/// The float constant that a leftover dequantise of a constant stands for.
void materialise(DequantizeOp op) {
  ConstantOp source = quantizedSource(op.getOutput(), 8);
  bool wide = !source;
  if (wide && !(source = quantizedSource(op.getOutput(), 32)))
    return;
  auto dense = cast<DenseElementsAttr>(source.getValue());
  Type element = elementTypeOf(source.getOutput());
  auto type = cast<RankedTensorType>(op.getType());
  double single;
  ArrayRef<double> scales = scalesOf(element, single);
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  int64_t inner = 1;
  for (int64_t i = axis ? axis.getQuantizedDimension() + 1 : type.getRank();
       i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  std::vector<float> values;
  int64_t n = 0;
  for (const APInt &value : dense.getValues<APInt>()) {
    size_t c = axis ? n / inner % scales.size() : 0;
    int64_t zero = axis ? axis.getZeroPoints()[c]
                        : cast<PerTensorType>(element).getZeroPoint();
    values.push_back(float(value.getSExtValue() - zero) * float(scales[c]));
    ++n;
  }
  OpBuilder b(op);
  op.replaceAllUsesWith(
      ConstantOp::create(b, op.getLoc(), type,
                         DenseElementsAttr::get(type, ArrayRef(values)))
          .getOutput());
  op.erase();
}

struct NpuFoldQdq : impl::NpuFoldQdqPassBase<NpuFoldQdq> {
  using NpuFoldQdqPassBase::NpuFoldQdqPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addMotionPatterns(patterns);
    patterns.add<FoldOperator, FoldArgMax, FoldPair>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    SmallVector<DequantizeOp> left;
    getOperation().walk([&](DequantizeOp op) { left.push_back(op); });
    for (DequantizeOp op : left)
      materialise(op);
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(getOperation().front())))
      if (isa<ConstantOp>(op) && op.use_empty())
        op.erase();
  }
};

} // namespace
} // namespace npu
