//===- QdqMotion.cc - Quantise and dequantise move towards each other -----===//
//
// Rounding to a grid commutes with whatever only picks elements, and with
// clipping to bounds; so every rewrite in here is exact.
//
//===----------------------------------------------------------------------===//

#include "passes/quantization/QdqPatterns.h"

#include "lowering/npu_to_cmdq/Tables.h"
#include "passes/quantization/OpClasses.h"

using namespace mlir;

namespace npu {

PerTensorType int8TypeOf(Value value) {
  auto type = dyn_cast_or_null<PerTensorType>(elementTypeOf(value));
  bool fits =
      type && type.isSigned() && type.getStorageTypeIntegralWidth() == 8;
  return fits ? type : PerTensorType();
}

DequantizeOp dequantizeOf(Value value) {
  auto op = value.getDefiningOp<DequantizeOp>();
  return op && int8TypeOf(op.getInput()) ? op : DequantizeOp();
}

PerTensorType quantizedByUsers(Value value) {
  PerTensorType common;
  for (Operation *user : value.getUsers()) {
    auto quantize = dyn_cast<QuantizeOp>(user);
    PerTensorType type =
        quantize ? int8TypeOf(quantize.getOutput()) : PerTensorType();
    if (!type || (common && common != type))
      return {};
    common = type;
  }
  return common;
}

static QuantParams paramsOf(PerTensorType type) {
  return {float(type.getScale()), int32_t(type.getZeroPoint()),
          int32_t(type.getStorageTypeMin()), int32_t(type.getStorageTypeMax())};
}

static float realOf(int32_t q, PerTensorType type) {
  return float(q - int32_t(type.getZeroPoint())) * float(type.getScale());
}

/// Moves elements, and writes none that `type` cannot hold.
static bool movesIn(Operation *op, PerTensorType type) {
  if (auto pad = dyn_cast<PadOp>(op);
      pad && pad.getMode() == PadMode::Constant) {
    float value = pad.getValue().convertToFloat();
    return realOf(quantize(value, paramsOf(type)), type) == value;
  }
  return keepsScale(op) || isa<ConcatOp>(op);
}

static Type withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

namespace {

/// move(dequantize(x)) -> dequantize(move(x))
struct SinkDequantize : RewritePattern {
  SinkDequantize(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!keepsScale(op) && !isa<ConcatOp>(op))
      return failure();
    PerTensorType common;
    SmallVector<Value> inputs;
    for (Value operand : op->getOperands()) {
      DequantizeOp dequantize = dequantizeOf(operand);
      if (!dequantize)
        return failure();
      PerTensorType type = int8TypeOf(dequantize.getInput());
      if (common && common != type)
        return failure();
      common = type;
      inputs.push_back(dequantize.getInput());
    }
    if (!movesIn(op, common))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(inputs);
      for (Value result : op->getResults())
        result.setType(withElement(result, common));
    });
    rewriter.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      auto real = DequantizeOp::create(
          rewriter, op->getLoc(), withElement(result, rewriter.getF32Type()),
          result);
      rewriter.replaceAllUsesExcept(result, real, real);
    }
    return success();
  }
};

/// quantize(move(x)) -> move(quantize(x)), where nobody else reads either.
struct HoistOverMove : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    Operation *op = quantize.getInput().getDefiningOp();
    PerTensorType type = int8TypeOf(quantize.getOutput());
    if (!op || !type || !isFloatTensor(quantize.getInput()) ||
        op->getNumResults() != 1 || !op->getResult(0).hasOneUse() ||
        !movesIn(op, type))
      return failure();
    for (Value operand : op->getOperands())
      if (!operand.hasOneUse() && !dequantizeOf(operand))
        return failure();
    SmallVector<Value> inputs;
    rewriter.setInsertionPoint(op);
    for (Value operand : op->getOperands())
      inputs.push_back(QuantizeOp::create(rewriter, quantize.getLoc(),
                                          withElement(operand, type), operand));
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(inputs);
      op->getResult(0).setType(quantize.getType());
    });
    rewriter.replaceOp(quantize, op->getResult(0));
    return success();
  }
};

/// quantize(clip(x)) -> clip(quantize(x)), or quantize(x) alone if its grid
/// ends within the bounds.
struct HoistOverClip : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp quantize,
                                PatternRewriter &rewriter) const override {
    Operation *op = quantize.getInput().getDefiningOp();
    PerTensorType type = int8TypeOf(quantize.getOutput());
    if (!op || !isClip(op) || !type || !isFloatTensor(quantize.getInput()) ||
        !op->getResult(0).hasOneUse())
      return failure();
    Value input = op->getOperand(0);
    if (dequantizeOf(input) || !input.hasOneUse())
      return failure(); // a table, or computed in float anyway
    rewriter.setInsertionPoint(op);
    Value quantized = QuantizeOp::create(rewriter, quantize.getLoc(),
                                         withElement(input, type), input);
    Interval bounds = clipBounds(op);
    if (bounds.min <= realOf(int32_t(type.getStorageTypeMin()), type) &&
        bounds.max >= realOf(int32_t(type.getStorageTypeMax()), type)) {
      rewriter.replaceOp(quantize, quantized);
      return success();
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, quantized);
      op->getResult(0).setType(quantize.getType());
    });
    rewriter.replaceOp(quantize, op->getResult(0));
    return success();
  }
};

} // namespace

void addMotionPatterns(RewritePatternSet &patterns) {
  patterns.add<SinkDequantize, HoistOverMove, HoistOverClip>(
      patterns.getContext());
}

} // namespace npu
