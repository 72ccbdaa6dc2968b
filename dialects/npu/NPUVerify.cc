// Verifiers: the shapes that inference gives, and the element types that an
// operator can have.
#include "dialects/npu/NPU.h"

using namespace mlir;
using namespace npu;

// Every result has the inferred shape.
template <typename Op> static LogicalResult verifyShapes(Op op) {
  SmallVector<ShapedTypeComponents> inferred;
  typename Op::Adaptor adaptor(op->getOperands(), op->getAttrDictionary(),
                               op->getPropertiesStorage(), op->getRegions());
  if (failed(Op::inferReturnTypeComponents(op->getContext(), op->getLoc(),
                                           adaptor, inferred)))
    return failure();
  if (inferred.size() != op->getNumResults())
    return op->emitOpError("has ")
           << op->getNumResults() << " results, not " << inferred.size();
  for (auto [result, expected] : llvm::zip(op->getResults(), inferred)) {
    auto type = cast<ShapedType>(result.getType());
    if (type.getShape() != ArrayRef<int64_t>(expected.getDims()))
      return op->emitOpError("result has type ")
             << type << ", but its shape must be "
             << RankedTensorType::get(expected.getDims(),
                                      type.getElementType());
  }
  return success();
}

static LogicalResult verifyBias(Operation *op, Value bias, int64_t channels) {
  if (!bias)
    return success();
  auto type = cast<ShapedType>(bias.getType());
  if (type.getRank() != 1 || type.getDimSize(0) != channels)
    return op->emitOpError("bias must have shape [")
           << channels << "], found " << type;
  return success();
}

static LogicalResult verifyResidual(Operation *op, Value residual) {
  if (!residual)
    return success();
  auto type = cast<ShapedType>(residual.getType());
  auto output = cast<ShapedType>(op->getResult(0).getType());
  if (type.getShape() != output.getShape())
    return op->emitOpError("residual must have the output's shape, found ")
           << type << " for " << output;
  return success();
}

// A filter quantised per axis must have its scales along `axis`.
static LogicalResult verifyFilterAxis(Operation *op, Value filter,
                                      int64_t axis) {
  Type element = cast<ShapedType>(filter.getType()).getElementType();
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (perAxis && perAxis.getQuantizedDimension() != axis)
    return op->emitOpError("filter must be quantised along axis ")
           << axis << ", found axis " << perAxis.getQuantizedDimension();
  return success();
}

// Input and filter are both quantised or neither is.
static LogicalResult verifyMatrixTypes(Operation *op, Value input,
                                       Value filter) {
  auto quantized = [](Value v) {
    return isa<quant::QuantizedType>(
        cast<ShapedType>(v.getType()).getElementType());
  };
  if (quantized(input) != quantized(filter))
    return op->emitOpError("input and filter must both be quantised or both "
                           "be float, found ")
           << input.getType() << " and " << filter.getType();
  return success();
}

template <typename Op>
static LogicalResult verifyMatrix(Op op, int64_t filterAxis) {
  if (failed(verifyShapes(op)) ||
      failed(verifyMatrixTypes(op, op.getInput(), op.getFilter())) ||
      failed(verifyFilterAxis(op, op.getFilter(), filterAxis)))
    return failure();
  int64_t channels = op.getOutput().getType().getShape().back();
  if (failed(verifyBias(op, op.getBias(), channels)))
    return failure();
  return verifyResidual(op, op.getResidual());
}

LogicalResult Conv2DOp::verify() { return verifyMatrix(*this, 0); }
LogicalResult DepthwiseConv2DOp::verify() { return verifyMatrix(*this, 2); }
LogicalResult TransposeConv2DOp::verify() { return verifyMatrix(*this, 0); }
LogicalResult FullyConnectedOp::verify() { return verifyMatrix(*this, 0); }

LogicalResult VectorMacOp::verify() {
  if (failed(verifyShapes(*this)))
    return failure();
  auto input = cast<ShapedType>(getInput().getType());
  auto weight = cast<ShapedType>(getWeight().getType());
  if (weight.getRank() != 1 || weight.getDimSize(0) != input.getShape().back())
    return emitOpError("weight must have shape [")
           << input.getShape().back() << "], found " << weight;
  if (getAccumulator() && getAccumulator().getType() != getOutput().getType())
    return emitOpError("accumulator must have the output's type, found ")
           << getAccumulator().getType();
  return success();
}

LogicalResult RescaleOp::verify() {
  if (failed(verifyShapes(*this)))
    return failure();
  int64_t channels = getOutput().getType().getShape().back();
  int64_t scales = getScales().size();
  if (scales != 1 && scales != channels)
    return emitOpError("needs 1 scale or one a channel (")
           << channels << "), found " << scales;
  if (!cast<ShapedType>(getInput().getType()).getElementType().isInteger(32))
    return emitOpError("input must be i32, found ") << getInput().getType();
  if (failed(verifyBias(*this, getBias(), channels)))
    return failure();
  return verifyResidual(*this, getResidual());
}

LogicalResult ConstantOp::verify() {
  if (failed(verifyShapes(*this)))
    return failure();
  Type element = getOutput().getType().getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    element = quantized.getStorageType();
  Type stored = cast<ShapedType>(getValue().getType()).getElementType();
  if (stored != element)
    return emitOpError("value holds ")
           << stored << ", but the result's storage is " << element;
  return success();
}

LogicalResult SoftmaxOp::verify() {
  int64_t rank = cast<ShapedType>(getInput().getType()).getRank();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError("axis ")
           << axis << " is outside " << getInput().getType();
  return verifyShapes(*this);
}

LogicalResult ConcatOp::verify() {
  Type element = getOutput().getType().getElementType();
  for (Value input : getInputs())
    if (cast<ShapedType>(input.getType()).getElementType() != element)
      return emitOpError("operands and result must share one element type, "
                         "found ")
             << input.getType() << " and " << getOutput().getType();
  return verifyShapes(*this);
}

LogicalResult QuantizeOp::verify() {
  if (!isa<quant::QuantizedType>(getOutput().getType().getElementType()))
    return emitOpError("result must be quantised, found ")
           << getOutput().getType();
  return verifyShapes(*this);
}

LogicalResult DequantizeOp::verify() {
  if (!isa<quant::QuantizedType>(
          cast<ShapedType>(getInput().getType()).getElementType()))
    return emitOpError("input must be quantised, found ")
           << getInput().getType();
  return verifyShapes(*this);
}

#define SHAPES_ONLY(OP)                                                        \
  LogicalResult OP::verify() { return verifyShapes(*this); }
SHAPES_ONLY(MatMulOp)
SHAPES_ONLY(AddOp)
SHAPES_ONLY(SubOp)
SHAPES_ONLY(MulOp)
SHAPES_ONLY(DivOp)
SHAPES_ONLY(MinOp)
SHAPES_ONLY(MaxOp)
SHAPES_ONLY(PowOp)
SHAPES_ONLY(PReluOp)
SHAPES_ONLY(ReluOp)
SHAPES_ONLY(ClipOp)
SHAPES_ONLY(LeakyReluOp)
SHAPES_ONLY(EluOp)
SHAPES_ONLY(SigmoidOp)
SHAPES_ONLY(HardSigmoidOp)
SHAPES_ONLY(HardSwishOp)
SHAPES_ONLY(SwishOp)
SHAPES_ONLY(TanhOp)
SHAPES_ONLY(GeluOp)
SHAPES_ONLY(ExpOp)
SHAPES_ONLY(LogOp)
SHAPES_ONLY(SqrtOp)
SHAPES_ONLY(ReciprocalOp)
SHAPES_ONLY(AbsOp)
SHAPES_ONLY(NegOp)
SHAPES_ONLY(ErfOp)
SHAPES_ONLY(FloorOp)
SHAPES_ONLY(CeilOp)
SHAPES_ONLY(RoundOp)
SHAPES_ONLY(SoftplusOp)
SHAPES_ONLY(CastOp)
SHAPES_ONLY(StorageCastOp)
SHAPES_ONLY(ReduceMeanOp)
SHAPES_ONLY(ReduceSumOp)
SHAPES_ONLY(ReduceMaxOp)
SHAPES_ONLY(ReduceMinOp)
SHAPES_ONLY(ReduceProdOp)
SHAPES_ONLY(ArgMaxOp)
SHAPES_ONLY(MaxPool2DOp)
SHAPES_ONLY(AvgPool2DOp)
SHAPES_ONLY(ResizeOp)
SHAPES_ONLY(PadOp)
SHAPES_ONLY(SliceOp)
SHAPES_ONLY(ReshapeOp)
SHAPES_ONLY(TransposeOp)
SHAPES_ONLY(BroadcastToOp)
SHAPES_ONLY(DepthToSpaceOp)
SHAPES_ONLY(SpaceToDepthOp)
SHAPES_ONLY(GatherOp)
SHAPES_ONLY(SplitOp)
#undef SHAPES_ONLY
