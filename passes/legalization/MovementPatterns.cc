//===- MovementPatterns.cc - Chains, constants, slices --------------------===//

#include "passes/legalization/LayoutPatterns.h"
#include "passes/legalization/MovementChain.h"
#include "passes/legalization/Views.h"

using namespace mlir;

namespace npu {
namespace {

void takeName(Operation *from, Value to) {
  Operation *op = to.getDefiningOp();
  if (Attribute name = from->getAttr("npu.tensor");
      name && op && !op->hasAttr("npu.tensor"))
    op->setAttr("npu.tensor", name);
}

/// The canonical steps in place of a chain that is something else.
template <typename Op> struct CanonicalChain : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    auto chain = MovementChain::endingAt(op);
    if (!chain || chain->source().template getDefiningOp<ConstantOp>())
      return failure();
    SmallVector<MovementStep> steps = chain->canonical();
    if (chain->is(steps))
      return failure();
    Value value = emitSteps(b, op.getLoc(), chain->source(), steps);
    takeName(op, value);
    b.replaceOp(op, value);
    return success();
  }
};

struct ReshapeConstant : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &b) const override {
    auto constant = op.getInput().getDefiningOp<ConstantOp>();
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                          : DenseElementsAttr();
    if (!dense)
      return failure();
    auto type = RankedTensorType::get(op.getShape(), dense.getElementType());
    b.replaceOpWithNewOp<ConstantOp>(op, op.getType(), dense.reshape(type));
    return success();
  }
};

struct TransposeConstant : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &b) const override {
    auto constant = op.getInput().getDefiningOp<ConstantOp>();
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                          : DenseElementsAttr();
    if (!dense || dense.getElementType().getIntOrFloatBitWidth() % 8)
      return failure();
    ArrayRef<int64_t> shape = op.getType().getShape();
    auto type = RankedTensorType::get(shape, dense.getElementType());
    if (dense.isSplat()) {
      b.replaceOpWithNewOp<ConstantOp>(op, op.getType(), dense.reshape(type));
      return success();
    }
    b.replaceOpWithNewOp<ConstantOp>(
        op, op.getType(),
        DenseElementsAttr::getFromRawBuffer(type, moved(op, dense)));
    return success();
  }

private:
  static SmallVector<char> moved(TransposeOp op, DenseElementsAttr dense) {
    ArrayRef<int64_t> shape = op.getType().getShape();
    ArrayRef<int64_t> from = tensorType(op.getInput()).getShape();
    size_t rank = shape.size();
    SmallVector<int64_t> strides(rank, 1), index(rank, 0);
    for (size_t i = rank; i-- > 1;)
      strides[i - 1] = strides[i] * from[i];
    size_t size = dense.getElementType().getIntOrFloatBitWidth() / 8;
    ArrayRef<char> raw = dense.getRawData();
    SmallVector<char> out(raw.size());
    for (size_t at = 0; at < out.size(); at += size) {
      int64_t source = 0;
      for (size_t i = 0; i < rank; ++i)
        source += index[i] * strides[op.getPerm()[i]];
      std::copy_n(raw.begin() + source * size, size, out.begin() + at);
      for (size_t i = rank; i-- > 0;) {
        if (++index[i] < shape[i])
          break;
        index[i] = 0;
      }
    }
    return out;
  }
};

/// The whole, or a slice of a slice.
struct MergeSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &b) const override {
    bool plain =
        llvm::all_of(op.getStrides(), [](int64_t s) { return s == 1; });
    if (plain && op.getInput().getType() == op.getType()) {
      b.replaceOp(op, op.getInput());
      return success();
    }
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> starts, strides;
    for (size_t i = 0; i < op.getSizes().size(); ++i) {
      starts.push_back(inner.getStarts()[i] +
                       op.getStarts()[i] * inner.getStrides()[i]);
      strides.push_back(op.getStrides()[i] * inner.getStrides()[i]);
    }
    b.modifyOpInPlace(op, [&] {
      op.setStarts(starts);
      op.setStrides(strides);
      op.getInputMutable().assign(inner.getInput());
    });
    return success();
  }
};

/// A slice along the axis of a concatenation that lies in one operand.
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &b) const override {
    auto concat = op.getInput().getDefiningOp<ConcatOp>();
    if (!concat)
      return failure();
    int64_t axis = concat.getAxis(), stride = op.getStrides()[axis];
    int64_t first = op.getStarts()[axis],
            last = first + (op.getSizes()[axis] - 1) * stride;
    if (stride < 1)
      return failure();
    int64_t begin = 0;
    for (Value input : concat.getInputs()) {
      int64_t end = begin + tensorType(input).getDimSize(axis);
      if (first >= begin && last < end) {
        SmallVector<int64_t> starts(op.getStarts());
        starts[axis] -= begin;
        b.modifyOpInPlace(op, [&] {
          op.setStarts(starts);
          op.getInputMutable().assign(input);
        });
        return success();
      }
      begin = end;
    }
    return failure();
  }
};

/// Slices of a gather along its axis are gathers of fewer elements.
struct SliceOfGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &b) const override {
    int64_t axis = op.getAxis();
    for (Operation *user : op->getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice)
        return failure();
      ArrayRef<int64_t> whole = op.getType().getShape();
      for (auto [i, size] : llvm::enumerate(slice.getSizes()))
        if (static_cast<int64_t>(i) != axis && size != whole[i])
          return failure();
    }
    if (op->use_empty())
      return failure();
    SmallVector<Operation *> users(op->getUsers());
    for (Operation *user : users) {
      auto slice = cast<SliceOp>(user);
      SmallVector<int64_t> indices;
      for (int64_t i = 0; i < slice.getSizes()[axis]; ++i)
        indices.push_back(op.getIndices()[slice.getStarts()[axis] +
                                          i * slice.getStrides()[axis]]);
      b.setInsertionPoint(slice);
      auto gather = GatherOp::create(b, slice.getLoc(), slice.getType(),
                                     op.getInput(), indices, axis);
      takeName(slice, gather);
      b.replaceOp(slice, gather);
    }
    b.eraseOp(op);
    return success();
  }
};

} // namespace

void addMovementPatterns(RewritePatternSet &patterns) {
  patterns.add<CanonicalChain<ReshapeOp>, CanonicalChain<TransposeOp>,
               ReshapeConstant, TransposeConstant, MergeSlices, SliceOfConcat,
               SliceOfGather>(patterns.getContext());
}

} // namespace npu
