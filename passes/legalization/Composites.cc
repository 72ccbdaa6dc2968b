//===- Composites.cc - npu-recognise-composites ---------------------------===//

#include "passes/legalization/Passes.h"

#include "passes/legalization/Constants.h"
#include "passes/legalization/Formula.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPURECOGNISECOMPOSITESPASS
#include "passes/legalization/Passes.h.inc"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

bool isFloat(Value value) { return elementType(value).isF32(); }

/// `value` = min(max(inner, lo), hi).
struct Clip {
  Value inner;
  double lo = -kInf, hi = kInf;
};
std::optional<Clip> clipOf(Value value) {
  if (auto clip = value.getDefiningOp<ClipOp>())
    return Clip{clip.getInput(), clip.getMin().convertToFloat(),
                clip.getMax().convertToFloat()};
  if (auto relu = value.getDefiningOp<ReluOp>())
    return Clip{relu.getInput(), 0, kInf};
  return std::nullopt;
}

/// Replaces the root by `Op`, which does the work of everything that led here.
template <typename Op, typename... Args>
void replaceBy(PatternRewriter &rewriter, Operation *root, Value x,
               Args... args) {
  Attribute name = root->getAttr("npu.tensor");
  auto op = rewriter.replaceOpWithNewOp<Op>(root, root->getResult(0).getType(),
                                            x, args...);
  if (name)
    op->setAttr("npu.tensor", name);
}

APFloat real(double value) { return APFloat(static_cast<float>(value)); }

/// `value` = max(0, min(1, alpha * x + beta)) for an x that linearOf() finds.
struct Gate {
  Value argument; ///< alpha and beta are already out of it
  double alpha, beta;
};
std::optional<Gate> hardGateOf(Value value) {
  Linear line = linearOf(value);
  if (line.offset != 0)
    return std::nullopt;
  if (auto hard = line.inner.getDefiningOp<HardSigmoidOp>()) {
    if (!nearly(line.scale, 1))
      return std::nullopt;
    return Gate{hard.getInput(), hard.getAlpha().convertToFloat(),
                hard.getBeta().convertToFloat()};
  }
  auto clip = clipOf(line.inner);
  if (!clip || clip->lo != 0 || !nearly(clip->hi * line.scale, 1))
    return std::nullopt;
  Linear inner = linearOf(clip->inner);
  return Gate{inner.inner, line.scale * inner.scale, line.scale * inner.offset};
}

//===----------------------------------------------------------------------===//
// Products of x and a gate
//===----------------------------------------------------------------------===//

/// The argument of a gate is `alpha x + beta`, whatever it is written like.
std::optional<std::pair<double, double>> lineIn(Value argument, Value x) {
  auto p = polynomialOf(argument, x);
  if (!p || (*p)[2] != 0 || (*p)[3] != 0)
    return std::nullopt;
  return std::make_pair((*p)[1], (*p)[0]);
}

/// factor * x * gate with gate = max(0, min(1, x / 6 + 1 / 2)).
bool isHardSwish(double factor, Value x, Value gate) {
  Linear line = linearOf(gate);
  if (line.offset != 0)
    return false;
  factor *= line.scale;
  double alpha = 1, beta = 0, high = 1;
  Value argument;
  if (auto hard = line.inner.getDefiningOp<HardSigmoidOp>()) {
    argument = hard.getInput();
    alpha = hard.getAlpha().convertToFloat();
    beta = hard.getBeta().convertToFloat();
  } else if (auto clip = clipOf(line.inner); clip && clip->lo == 0) {
    argument = clip->inner;
    high = clip->hi;
  } else {
    return false;
  }
  auto inner = lineIn(argument, x);
  return inner && nearly(factor * high, 1) &&
         nearly(alpha * inner->first / high, 1.0 / 6) &&
         nearly((alpha * inner->second + beta) / high, 0.5);
}

/// factor * x * gate with gate = sigmoid(alpha x): alpha.
std::optional<double> swishFactor(double factor, Value x, Value gate) {
  Linear line = linearOf(gate);
  auto sigmoid = line.inner.getDefiningOp<SigmoidOp>();
  if (!sigmoid || line.offset != 0 || !nearly(factor * line.scale, 1))
    return std::nullopt;
  auto inner = lineIn(sigmoid.getInput(), x);
  if (!inner || inner->second != 0 || inner->first == 0)
    return std::nullopt;
  return inner->first;
}

/// factor * x * gate with gate = 1 + erf(x / sqrt 2), or with the tanh of a
/// cubic: the value of `npu.gelu`'s attribute.
std::optional<bool> geluForm(double factor, Value x, Value gate) {
  Linear line = linearOf(gate);
  if (!nearly(line.scale, line.offset) || !nearly(factor * line.scale, 0.5))
    return std::nullopt;
  if (auto erf = line.inner.getDefiningOp<ErfOp>()) {
    auto inner = lineIn(erf.getInput(), x);
    if (inner && inner->second == 0 && nearly(inner->first, std::sqrt(0.5)))
      return false;
    return std::nullopt;
  }
  auto tanh = line.inner.getDefiningOp<TanhOp>();
  auto p = tanh ? polynomialOf(tanh.getInput(), x) : std::nullopt;
  double slope = std::sqrt(2 / 3.14159265358979323846);
  if (p && (*p)[0] == 0 && (*p)[2] == 0 && nearly((*p)[1], slope) &&
      nearly((*p)[3], slope * 0.044715))
    return true;
  return std::nullopt;
}

/// mul or div at the end of a product of two factors.
template <typename Op> struct GatedProduct : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (!isFloat(op.getOutput()) || op.getActivationAttr())
      return failure();
    Product product = productOf(op.getOutput());
    if (product.factors.size() != 2)
      return failure();
    for (int i : {0, 1}) {
      Value x = product.factors[i], gate = product.factors[1 - i];
      if (x.getType() != op.getType() || gate.getType() != op.getType())
        continue;
      if (isHardSwish(product.factor, x, gate))
        return replaceBy<HardSwishOp>(b, op, x), success();
      if (auto alpha = swishFactor(product.factor, x, gate))
        return replaceBy<SwishOp>(b, op, x, real(*alpha)), success();
      if (auto tanh = geluForm(product.factor, x, gate))
        return replaceBy<GeluOp>(b, op, x, *tanh), success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Gates and clips
//===----------------------------------------------------------------------===//

/// clip(x + 3, 0, 6) / 6, and clip(x / 6 + 0.5, 0, 1).
template <typename Op> struct HardSigmoidForm : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Value output = op->getResult(0);
    if (!isFloat(output) || op->hasAttr("activation"))
      return failure();
    auto gate = hardGateOf(output);
    if (!gate || gate->argument.getType() != output.getType() ||
        (gate->alpha == 1 && gate->beta == 0))
      return failure();
    replaceBy<HardSigmoidOp>(b, op, gate->argument, real(gate->alpha),
                             real(gate->beta));
    return success();
  }
};

/// 1 / (1 + exp(-x)), as a reciprocal or a division.
template <typename Op> struct SigmoidForm : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Value below = op->getOperand(op->getNumOperands() - 1);
    if (!isFloat(below) || op->hasAttr("activation"))
      return failure();
    if (op->getNumOperands() == 2) {
      auto one = scalarOf(op->getOperand(0));
      if (!one || *one != 1)
        return failure();
    }
    Linear line = linearOf(below);
    auto exp = line.inner.template getDefiningOp<ExpOp>();
    auto neg = exp ? linearOf(exp.getInput()) : Linear{};
    if (!exp || line.scale != 1 || line.offset != 1 || neg.scale != -1 ||
        neg.offset != 0 || neg.inner.getType() != op->getResult(0).getType())
      return failure();
    replaceBy<SigmoidOp>(b, op, neg.inner);
    return success();
  }
};

/// min and max with a scalar.
template <typename Op> struct MinMaxToClip : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (!isFloat(op.getOutput()) || op.getActivationAttr())
      return failure();
    for (int i : {0, 1}) {
      auto bound = scalarOf(op->getOperand(1 - i));
      Value x = op->getOperand(i);
      if (!bound || x.getType() != op.getType())
        continue;
      bool upper = isa<MinOp>(op);
      replaceBy<ClipOp>(b, op, x, real(upper ? -kInf : *bound),
                        real(upper ? *bound : kInf));
      return success();
    }
    return failure();
  }
};

/// clip of clip, and the clip that is a relu.
template <typename Op> struct MergeClips : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    auto outer = clipOf(op.getOutput());
    if (!isFloat(op.getOutput()) || outer->lo > outer->hi)
      return failure();
    if (auto inner = clipOf(outer->inner); inner && inner->lo <= inner->hi) {
      double lo = std::min(std::max(inner->lo, outer->lo), outer->hi);
      double hi = std::min(std::max(inner->hi, outer->lo), outer->hi);
      replaceBy<ClipOp>(b, op, inner->inner, real(lo), real(hi));
      return success();
    }
    if (!isa<ClipOp>(op) || outer->lo != 0 || outer->hi != kInf)
      return failure();
    replaceBy<ReluOp>(b, op, outer->inner);
    return success();
  }
};

/// max(x, a x) with 0 < a < 1.
struct MaxToLeakyRelu : OpRewritePattern<MaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaxOp op, PatternRewriter &b) const override {
    if (!isFloat(op.getOutput()) || op.getActivationAttr())
      return failure();
    for (int i : {0, 1}) {
      Linear line = linearOf(op->getOperand(1 - i));
      Value x = op->getOperand(i);
      if (line.inner != x || line.offset != 0 || line.scale <= 0 ||
          line.scale >= 1 || x.getType() != op.getType())
        continue;
      replaceBy<LeakyReluOp>(b, op, x, real(line.scale));
      return success();
    }
    return failure();
  }
};

struct PReluToLeakyRelu : OpRewritePattern<PReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PReluOp op, PatternRewriter &b) const override {
    auto slope = scalarOf(op.getRhs());
    if (!slope || op.getActivationAttr() || !isFloat(op.getOutput()) ||
        op.getLhs().getType() != op.getType())
      return failure();
    replaceBy<LeakyReluOp>(b, op, op.getLhs(), real(*slope));
    return success();
  }
};

/// An average pool whose one window is the picture.
struct GlobalAverage : OpRewritePattern<AvgPool2DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AvgPool2DOp op,
                                PatternRewriter &b) const override {
    auto in = tensorType(op.getInput());
    bool padded = llvm::any_of(op.getPads(), [](int64_t p) { return p != 0; });
    if (padded || op.getKernel()[0] != in.getDimSize(1) ||
        op.getKernel()[1] != in.getDimSize(2) ||
        op.getDilations()[0] * op.getDilations()[1] != 1)
      return failure();
    replaceBy<ReduceMeanOp>(b, op, op.getInput(), ArrayRef<int64_t>{1, 2},
                            true);
    return success();
  }
};

struct NpuRecogniseComposites
    : impl::NpuRecogniseCompositesPassBase<NpuRecogniseComposites> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<GatedProduct<MulOp>, GatedProduct<DivOp>, HardSigmoidForm<MulOp>,
             HardSigmoidForm<DivOp>, HardSigmoidForm<ClipOp>,
             SigmoidForm<ReciprocalOp>, SigmoidForm<DivOp>, MinMaxToClip<MinOp>,
             MinMaxToClip<MaxOp>, MergeClips<ClipOp>, MergeClips<ReluOp>,
             MaxToLeakyRelu, PReluToLeakyRelu, GlobalAverage>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace npu
