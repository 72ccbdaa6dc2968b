//===- WindowPatterns.cc - Padding that windows cannot have ---------------===//

#include "passes/legalization/LegalizePatterns.h"
#include "passes/legalization/Views.h"

#include <limits>

using namespace mlir;

namespace npu {
namespace {

/// The kernel of a window operator.
std::array<int64_t, 2> kernelOf(Conv2DOp op) {
  auto shape = tensorType(op.getFilter()).getShape();
  return {shape[1], shape[2]};
}
std::array<int64_t, 2> kernelOf(DepthwiseConv2DOp op) {
  auto shape = tensorType(op.getFilter()).getShape();
  return {shape[0], shape[1]};
}
template <typename Pool> std::array<int64_t, 2> kernelOf(Pool op) {
  return {op.getKernel()[0], op.getKernel()[1]};
}

/// Pads of a window's extent or more: what is too much by npu.pad.
template <typename Op> struct WidePads : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    auto kernel = kernelOf(op);
    SmallVector<int64_t> low(4, 0), high(4, 0), pads(op.getPads());
    bool wide = false;
    for (int i : {0, 1}) {
      int64_t most = op.getDilations()[i] * (kernel[i] - 1);
      low[1 + i] = std::max<int64_t>(pads[i] - most, 0);
      high[1 + i] = std::max<int64_t>(pads[i + 2] - most, 0);
      pads[i] -= low[1 + i];
      pads[i + 2] -= high[1 + i];
      wide |= low[1 + i] || high[1 + i];
    }
    if (!wide)
      return failure();
    float value = 0;
    if constexpr (std::is_same_v<Op, MaxPool2DOp>)
      value = -std::numeric_limits<float>::infinity();
    if constexpr (std::is_same_v<Op, AvgPool2DOp>)
      if (!op.getCountIncludePad())
        return failure(); // padding that does not count would
    b.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(
          padBy(b, op.getLoc(), op.getInput(), low, high, value));
      op.setPads(pads);
    });
    return success();
  }
};

/// Negative padding is a slice.
struct NegativePads : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &b) const override {
    SmallVector<int64_t> low(op.getLow()), high(op.getHigh()), starts,
        sizes(tensorType(op.getInput()).getShape());
    bool negative = false;
    for (size_t i = 0; i < low.size(); ++i) {
      starts.push_back(std::max<int64_t>(-low[i], 0));
      sizes[i] -= starts[i] + std::max<int64_t>(-high[i], 0);
      negative |= low[i] < 0 || high[i] < 0;
      low[i] = std::max<int64_t>(low[i], 0);
      high[i] = std::max<int64_t>(high[i], 0);
    }
    if (!negative || llvm::any_of(sizes, [](int64_t s) { return s <= 0; }))
      return failure();
    Value inner = sliceOf(b, op.getLoc(), op.getInput(), starts, sizes);
    auto pad = b.replaceOpWithNewOp<PadOp>(op, op.getType(), inner, low, high,
                                           op.getMode(), op.getValue());
    if (Attribute name = op->getAttr("npu.tensor"))
      pad->setAttr("npu.tensor", name);
    return success();
  }
};

struct SplitToSlices : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op, PatternRewriter &b) const override {
    SmallVector<Value> pieces;
    int64_t start = 0, axis = op.getAxis();
    for (Value output : op.getOutputs()) {
      ArrayRef<int64_t> shape = tensorType(output).getShape();
      SmallVector<int64_t> starts(shape.size(), 0);
      starts[axis] = start;
      start += shape[axis];
      pieces.push_back(sliceOf(b, op.getLoc(), op.getInput(), starts, shape));
    }
    b.replaceOp(op, pieces);
    return success();
  }
};

} // namespace

void addWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<WidePads<Conv2DOp>, WidePads<DepthwiseConv2DOp>,
               WidePads<MaxPool2DOp>, WidePads<AvgPool2DOp>, NegativePads>(
      patterns.getContext());
}

void addSplitPattern(RewritePatternSet &patterns) {
  patterns.add<SplitToSlices>(patterns.getContext());
}

} // namespace npu
