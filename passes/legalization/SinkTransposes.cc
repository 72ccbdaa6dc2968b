//===- SinkTransposes.cc - Transposes move towards the results ------------===//

#include "passes/legalization/LayoutPatterns.h"
#include "passes/legalization/Views.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {
namespace {

using Perm = SmallVector<int64_t>;

Perm inverseOf(ArrayRef<int64_t> perm) {
  Perm out(perm.size());
  for (auto [i, p] : llvm::enumerate(perm))
    out[p] = i;
  return out;
}

/// list[i] belongs to dimension i after the transpose; in the order before it.
SmallVector<int64_t> before(ArrayRef<int64_t> list, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> out(list.size());
  for (auto [i, p] : llvm::enumerate(perm))
    out[p] = list[i];
  return out;
}

bool isElementwiseUnary(Operation *op) {
  return isa<ReluOp, ClipOp, LeakyReluOp, EluOp, SigmoidOp, HardSigmoidOp,
             HardSwishOp, SwishOp, TanhOp, GeluOp, ExpOp, LogOp, SqrtOp,
             ReciprocalOp, AbsOp, NegOp, ErfOp, FloorOp, CeilOp, RoundOp,
             SoftplusOp, CastOp, QuantizeOp, DequantizeOp, StorageCastOp>(op);
}

bool isBinary(Operation *op) {
  return isa<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, PowOp, PReluOp>(op);
}

/// `value` as it was before a transpose by `perm`, if nothing has to move for
/// it: a transpose itself, a constant, or ones in the dimensions that move.
Value undone(PatternRewriter &b, Value value, ArrayRef<int64_t> perm) {
  if (auto transpose = value.getDefiningOp<TransposeOp>();
      transpose && transpose.getPerm() == perm)
    return transpose.getInput();
  RankedTensorType type = tensorType(value);
  auto rank = static_cast<int64_t>(perm.size());
  if (type.getRank() > rank)
    return {};
  // NumPy broadcasting: leading ones.
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  SmallVector<int64_t> others; // dimensions before, in their order, not 1
  for (int64_t p : inverseOf(perm))
    if (shape[p] != 1)
      others.push_back(p);
  if (!llvm::is_sorted(others) && !value.getDefiningOp<ConstantOp>())
    return {};
  if (type.getNumElements() == 1 && type.getRank() == 0)
    return value;
  Value wide = reshapeTo(b, value.getLoc(), value, shape);
  if (llvm::is_sorted(others))
    return reshapeTo(b, value.getLoc(), wide, before(shape, perm));
  return transposeBy(b, value.getLoc(), wide, inverseOf(perm));
}

/// Tries to move the transpose of one operand behind the operator.
struct SinkTranspose : RewritePattern {
  SinkTranspose(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &b) const override {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1)
      return failure();
    TransposeOp transpose;
    for (Value operand : op->getOperands())
      if ((transpose = operand.getDefiningOp<TransposeOp>()))
        break;
    if (!transpose)
      return failure();
    Perm perm(transpose.getPerm());
    if (isElementwiseUnary(op))
      return sink(op, b, {transpose.getInput()}, perm, perm);
    if (isBinary(op))
      return binary(op, b, perm);
    if (auto concat = dyn_cast<ConcatOp>(op))
      return sinkConcat(concat, b, perm);
    if (isa<ReduceMeanOp, ReduceSumOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
            op))
      return reduce(op, b, transpose, perm);
    return axes(op, b, transpose, perm);
  }

private:
  /// The operator on `operands`, with changed attributes, then a transpose.
  static LogicalResult sink(Operation *op, PatternRewriter &b,
                            ArrayRef<Value> operands, ArrayRef<int64_t> perm,
                            ArrayRef<int64_t> resultPerm,
                            ArrayRef<NamedAttribute> changed = {}) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    for (NamedAttribute attr : changed)
      copy->setAttr(attr.getName(), attr.getValue());
    copy->getResult(0).setType(RankedTensorType::get(
        before(type.getShape(), resultPerm), type.getElementType()));
    // The name stays with what computes the tensor, in whatever layout.
    b.replaceOpWithNewOp<TransposeOp>(op, type, copy->getResult(0), resultPerm);
    return success();
  }

  static LogicalResult binary(Operation *op, PatternRewriter &b,
                              ArrayRef<int64_t> perm) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.getRank() != static_cast<int64_t>(perm.size()))
      return failure();
    Value operands[2];
    for (int i : {0, 1})
      if (!(operands[i] = undone(b, op->getOperand(i), perm)))
        return failure();
    return sink(op, b, operands, perm, perm);
  }

  static LogicalResult sinkConcat(ConcatOp op, PatternRewriter &b,
                                  ArrayRef<int64_t> perm) {
    SmallVector<Value> operands;
    for (Value input : op.getInputs()) {
      auto transpose = input.getDefiningOp<TransposeOp>();
      if (!input.getDefiningOp<ConstantOp>() &&
          !(transpose && transpose.getPerm() == perm))
        return failure();
    }
    for (Value input : op.getInputs())
      operands.push_back(undone(b, input, perm));
    return sink(op, b, operands, perm, perm,
                {named(b, "axis", perm[op.getAxis()])});
  }

  static NamedAttribute named(PatternRewriter &b, StringRef name,
                              int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  static NamedAttribute named(PatternRewriter &b, StringRef name,
                              ArrayRef<int64_t> list) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(list));
  }

  /// Transpose of what is left when `removed` dimensions (before) are gone.
  static Perm without(ArrayRef<int64_t> perm, ArrayRef<int64_t> removed) {
    Perm kept;
    for (int64_t p : perm)
      if (!llvm::is_contained(removed, p))
        kept.push_back(
            p - llvm::count_if(removed, [&](int64_t r) { return r < p; }));
    return kept;
  }

  static LogicalResult reduce(Operation *op, PatternRewriter &b,
                              TransposeOp transpose, ArrayRef<int64_t> perm) {
    SmallVector<int64_t> moved;
    for (int64_t axis :
         op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef())
      moved.push_back(perm[axis]);
    llvm::sort(moved);
    auto keep = op->getAttrOfType<BoolAttr>("keepdims");
    bool keeps = !keep || keep.getValue();
    Perm result = keeps ? Perm(perm) : without(perm, moved);
    return sink(op, b, {transpose.getInput()}, perm, result,
                {named(b, "axes", ArrayRef<int64_t>(moved))});
  }

  /// Operators whose attributes count dimensions.
  static LogicalResult axes(Operation *op, PatternRewriter &b,
                            TransposeOp transpose, ArrayRef<int64_t> perm) {
    Value input = transpose.getInput();
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](SliceOp op) {
          return sink(op, b, {input}, perm, perm,
                      {named(b, "starts", before(op.getStarts(), perm)),
                       named(b, "sizes", before(op.getSizes(), perm)),
                       named(b, "strides", before(op.getStrides(), perm))});
        })
        .Case([&](PadOp op) {
          return sink(op, b, {input}, perm, perm,
                      {named(b, "low", before(op.getLow(), perm)),
                       named(b, "high", before(op.getHigh(), perm))});
        })
        .Case<SoftmaxOp, GatherOp>([&](auto op) {
          return sink(op, b, {input}, perm, perm,
                      {named(b, "axis", perm[op.getAxis()])});
        })
        .Case([&](ArgMaxOp op) {
          int64_t axis = perm[op.getAxis()];
          Perm result = op.getKeepdims() ? Perm(perm) : without(perm, axis);
          return sink(op, b, {input}, perm, result, {named(b, "axis", axis)});
        })
        .Default([](Operation *) { return failure(); });
  }
};

/// matmul(a, transpose(b)) of the last two dimensions.
struct MatMulTakesTranspose : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &b) const override {
    auto transpose = op.getB().getDefiningOp<TransposeOp>();
    if (!transpose)
      return failure();
    Perm perm(transpose.getPerm());
    size_t rank = perm.size();
    if (rank < 2)
      return failure();
    std::swap(perm[rank - 1], perm[rank - 2]);
    if (!llvm::equal(perm, llvm::seq<int64_t>(0, rank)))
      return failure();
    b.modifyOpInPlace(op, [&] {
      op.getBMutable().assign(transpose.getInput());
      op.setTransposeB(!op.getTransposeB());
    });
    return success();
  }
};

} // namespace

void addSinkPatterns(RewritePatternSet &patterns) {
  patterns.add<SinkTranspose, MatMulTakesTranspose>(patterns.getContext());
}

} // namespace npu
