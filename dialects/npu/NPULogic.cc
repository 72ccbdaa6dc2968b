// Shapes and types of the operators on integers and truth values.
#include "dialects/npu/NPU.h"

#include "mlir/Dialect/Traits.h"

using namespace mlir;
using namespace npu;

using Components = SmallVectorImpl<ShapedTypeComponents>;

// The common shape of `values`.
static LogicalResult inferCommon(std::optional<Location> loc, ValueRange values,
                                 Type element, Components &out) {
  SmallVector<int64_t> shape;
  for (Value v : values) {
    SmallVector<int64_t> wider;
    if (!OpTrait::util::getBroadcastedShape(
            shape, cast<RankedTensorType>(v.getType()).getShape(), wider))
      return emitOptionalError(loc, "operands do not broadcast: ", v.getType(),
                               " does not fit the ones before it");
    shape = wider;
  }
  out.emplace_back(ArrayRef<int64_t>(shape), element);
  return success();
}

template <typename Op>
static LogicalResult verifyShape(Op op, ValueRange operands) {
  SmallVector<ShapedTypeComponents> inferred;
  if (failed(inferCommon(op->getLoc(), operands, Type(), inferred)))
    return failure();
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  if (type.getShape() != ArrayRef<int64_t>(inferred[0].getDims()))
    return op.emitOpError("result has type ")
           << type << ", but the operands' common shape is ["
           << inferred[0].getDims() << "]";
  return success();
}

static bool isWord(Type t) {
  return t.isSignlessInteger(32) || t.isSignlessInteger(64) ||
         t.isUnsignedInteger(64);
}

template <typename Op>
static LogicalResult verifyPair(Op op, bool allowed, Type result) {
  Type a = getElementTypeOrSelf(op.getLhs()),
       b = getElementTypeOrSelf(op.getRhs()),
       out = getElementTypeOrSelf(op.getOutput());
  if (a != b || out != result || !allowed)
    return op.emitOpError("does not take ")
           << a << " and " << b << " to give " << out;
  return verifyShape(op, op->getOperands());
}

#define INFER(OP, OPERANDS, ELEMENT)                                           \
  LogicalResult OP::inferReturnTypeComponents(MLIRContext *context,            \
                                              std::optional<Location> loc,     \
                                              Adaptor op, Components &out) {   \
    (void)context;                                                             \
    return inferCommon(loc, OPERANDS, ELEMENT, out);                           \
  }
#define PAIR(OP, ALLOWED)                                                      \
  INFER(OP, op.getOperands(), getElementTypeOrSelf(op.getLhs()))               \
  LogicalResult OP::verify() {                                                 \
    Type t = getElementTypeOrSelf(getLhs());                                   \
    return verifyPair(*this, ALLOWED, t);                                      \
  }
#define COMPARE(OP)                                                            \
  INFER(OP, op.getOperands(), IntegerType::get(context, 1))                    \
  LogicalResult OP::verify() {                                                 \
    Type t = getElementTypeOrSelf(getLhs());                                   \
    return verifyPair(*this, t.isF32() || isWord(t),                           \
                      IntegerType::get(getContext(), 1));                      \
  }

PAIR(RemOp, t.isF32() || isWord(t))
PAIR(ModOp, isWord(t))
PAIR(AndOp, t.isInteger(1) || isWord(t))
PAIR(OrOp, t.isInteger(1) || isWord(t))
PAIR(XorOp, t.isInteger(1) || isWord(t))
PAIR(ShlOp, isWord(t))
PAIR(ShrOp, isWord(t))
COMPARE(EqualOp)
COMPARE(LessOp)
COMPARE(LessEqualOp)
INFER(SelectOp, op.getOperands(), getElementTypeOrSelf(op.getLhs()))

LogicalResult SelectOp::verify() {
  if (!getElementTypeOrSelf(getCondition()).isInteger(1))
    return emitOpError("the condition must be i1, found ")
           << getCondition().getType();
  return verifyPair(*this, true, getElementTypeOrSelf(getLhs()));
}
