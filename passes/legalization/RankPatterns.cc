//===- RankPatterns.cc - Fewer dimensions ---------------------------------===//

#include "passes/legalization/LegalizePatterns.h"
#include "passes/legalization/Views.h"

#include "runtime/queue/command.h"

using namespace mlir;

namespace npu {
namespace {

/// Neighbours that are both special or both not become one dimension. Special
/// ones only if they are `joined`.
struct Collapsed {
  SmallVector<int64_t> shape;
  SmallVector<int64_t> special; ///< their positions
};
Collapsed collapse(ArrayRef<int64_t> shape, ArrayRef<int64_t> special,
                   bool joined) {
  Collapsed out;
  std::optional<bool> last;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool is = llvm::is_contained(special, static_cast<int64_t>(i));
    if (last == is && (!is || joined)) {
      out.shape.back() *= size;
      continue;
    }
    if (is)
      out.special.push_back(out.shape.size());
    out.shape.push_back(size);
    last = is;
  }
  return out;
}

bool tooMany(Value value) { return tensorType(value).getRank() > rt::kMaxRank; }

/// The shape of a result whose special dimensions have `size`.
SmallVector<int64_t> resized(const Collapsed &c, int64_t size) {
  SmallVector<int64_t> shape(c.shape);
  for (int64_t at : c.special)
    shape[at] = size;
  return shape;
}

template <typename Op>
LogicalResult finish(Op op, Value result, PatternRewriter &b) {
  Value back =
      reshapeTo(b, op.getLoc(), result, tensorType(op.getOutput()).getShape());
  if (Attribute name = op->getAttr("npu.tensor"))
    back.getDefiningOp()->setAttr("npu.tensor", name);
  b.replaceOp(op, back);
  return success();
}

template <typename Op> struct ReduceRank : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (!tooMany(op.getInput()))
      return failure();
    Collapsed c = collapse(tensorType(op.getInput()).getShape(), op.getAxes(),
                           /*joined=*/true);
    if (c.shape.size() > rt::kMaxRank)
      return failure();
    auto type =
        RankedTensorType::get(resized(c, 1), elementType(op.getOutput()));
    Value input = reshapeTo(b, op.getLoc(), op.getInput(), c.shape);
    return finish(op, Op::create(b, op.getLoc(), type, input, c.special, true),
                  b);
  }
};

struct SoftmaxRank : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op,
                                PatternRewriter &b) const override {
    if (!tooMany(op.getInput()))
      return failure();
    Collapsed c = collapse(tensorType(op.getInput()).getShape(),
                           {static_cast<int64_t>(op.getAxis())}, false);
    auto type = RankedTensorType::get(c.shape, elementType(op.getOutput()));
    Value input = reshapeTo(b, op.getLoc(), op.getInput(), c.shape);
    return finish(
        op, SoftmaxOp::create(b, op.getLoc(), type, input, c.special.front()),
        b);
  }
};

struct ArgMaxRank : OpRewritePattern<ArgMaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgMaxOp op,
                                PatternRewriter &b) const override {
    if (!tooMany(op.getInput()))
      return failure();
    Collapsed c = collapse(tensorType(op.getInput()).getShape(),
                           {static_cast<int64_t>(op.getAxis())}, false);
    auto type =
        RankedTensorType::get(resized(c, 1), elementType(op.getOutput()));
    Value input = reshapeTo(b, op.getLoc(), op.getInput(), c.shape);
    return finish(
        op,
        ArgMaxOp::create(b, op.getLoc(), type, input, c.special.front(), true),
        b);
  }
};

struct GatherRank : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &b) const override {
    if (!tooMany(op.getInput()))
      return failure();
    Collapsed c = collapse(tensorType(op.getInput()).getShape(),
                           {static_cast<int64_t>(op.getAxis())}, false);
    auto count = static_cast<int64_t>(op.getIndices().size());
    auto type =
        RankedTensorType::get(resized(c, count), elementType(op.getOutput()));
    Value input = reshapeTo(b, op.getLoc(), op.getInput(), c.shape);
    return finish(op,
                  GatherOp::create(b, op.getLoc(), type, input, op.getIndices(),
                                   c.special.front()),
                  b);
  }
};

} // namespace

void addRankPatterns(RewritePatternSet &patterns) {
  patterns.add<ReduceRank<ReduceMeanOp>, ReduceRank<ReduceSumOp>,
               ReduceRank<ReduceMaxOp>, ReduceRank<ReduceMinOp>,
               ReduceRank<ReduceProdOp>, SoftmaxRank, ArgMaxRank, GatherRank>(
      patterns.getContext());
}

} // namespace npu
