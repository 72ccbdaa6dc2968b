//===- NPUTilingInterface.cc - TilingInterface of npu operators -----------===//

#include "dialects/npu/Tiling.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

namespace npu {

/// Copies the box `tile` of row-major `data` out.
static std::vector<char> sliceBytes(ArrayRef<char> data,
                                    ArrayRef<int64_t> shape, const Tile &tile,
                                    int64_t elementBytes) {
  std::vector<char> bytes;
  bytes.reserve(tile.elements() * elementBytes);
  int64_t rank = shape.size();
  SmallVector<int64_t> index(rank, 0);
  int64_t run = tile.sizes[rank - 1] * elementBytes;
  for (bool more = true; more;) {
    int64_t offset = 0;
    for (int64_t i = 0; i < rank; ++i)
      offset = offset * shape[i] + tile.offsets[i] + index[i];
    const char *begin = data.data() + offset * elementBytes;
    bytes.insert(bytes.end(), begin, begin + run);
    more = false;
    for (int64_t i = rank - 2; i >= 0 && !more; --i) {
      more = ++index[i] < tile.sizes[i];
      if (!more)
        index[i] = 0;
    }
  }
  return bytes;
}

/// A slice of a filter that is quantised along an axis changes its type, which
/// tensor.extract_slice cannot do: it becomes a constant of its own.
static FailureOr<Value> sliceConstant(OpBuilder &b, ConstantOp constant,
                                      const Tile &tile) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto axisType =
      cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  int64_t axis = axisType.getQuantizedDimension();
  int64_t first = tile.offsets[axis], count = tile.sizes[axis];
  auto element = quant::UniformQuantizedPerAxisType::get(
      axisType.getFlags(), axisType.getStorageType(),
      axisType.getExpressedType(), axisType.getScales().slice(first, count),
      axisType.getZeroPoints().slice(first, count), axis,
      axisType.getStorageTypeMin(), axisType.getStorageTypeMax());
  auto storage = RankedTensorType::get(tile.sizes, axisType.getStorageType());
  int64_t elementBytes = (axisType.getStorageTypeIntegralWidth() + 7) / 8;
  DenseElementsAttr value;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    if (dense.isSplat())
      value = DenseElementsAttr::getFromRawBuffer(storage, dense.getRawData());
    else
      value = DenseElementsAttr::getFromRawBuffer(
          storage,
          sliceBytes(dense.getRawData(), type.getShape(), tile, elementBytes));
  } else if (auto resource =
                 dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) !=
                     type.getNumElements() * elementBytes)
      return failure();
    value = DenseElementsAttr::getFromRawBuffer(
        storage,
        sliceBytes(blob->getData(), type.getShape(), tile, elementBytes));
  }
  if (!value)
    return failure();
  return ConstantOp::create(b, constant.getLoc(),
                            RankedTensorType::get(tile.sizes, element), value)
      .getResult();
}

static FailureOr<Value> sliceOperand(OpBuilder &b, Location loc, Value operand,
                                     const Tile &tile, TilingResult &result) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (tile.isWhole(type.getShape()))
    return operand;
  if (auto axis =
          dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType())) {
    int32_t dim = axis.getQuantizedDimension();
    if (tile.sizes[dim] != type.getDimSize(dim)) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      return constant ? sliceConstant(b, constant, tile)
                      : FailureOr<Value>(failure());
    }
  }
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(b.getContext(), values);
  };
  SmallVector<int64_t> ones(tile.sizes.size(), 1);
  auto slice = tensor::ExtractSliceOp::create(
      b, loc, operand, attrs(tile.offsets), attrs(tile.sizes), attrs(ones));
  result.generatedSlices.push_back(slice);
  return slice.getResult();
}

namespace {

template <typename Op>
struct TilingModel : TilingInterface::ExternalModel<TilingModel<Op>, Op> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    SmallVector<utils::IteratorType> types;
    for (bool whole : undividedDims(op))
      types.push_back(whole ? utils::IteratorType::reduction
                            : utils::IteratorType::parallel);
    return types;
  }

  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    SmallVector<Range> ranges;
    for (int64_t size :
         cast<RankedTensorType>(op->getResult(0).getType()).getShape())
      ranges.push_back(
          {b.getIndexAttr(0), b.getIndexAttr(size), b.getIndexAttr(1)});
    return ranges;
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &b,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto staticOffsets = getConstantIntValues(offsets);
    auto staticSizes = getConstantIntValues(sizes);
    if (!staticOffsets || !staticSizes)
      return op->emitError("can only be tiled with static offsets and sizes");
    Tile tile;
    tile.offsets.assign(staticOffsets->begin(), staticOffsets->end());
    tile.sizes.assign(staticSizes->begin(), staticSizes->end());
    FailureOr<TileNeeds> needs = tileNeeds(op, tile);
    if (failed(needs))
      return failure();
    TilingResult result;
    SmallVector<Value> operands;
    for (auto [operand, box] : llvm::zip(op->getOperands(), needs->operands)) {
      FailureOr<Value> value =
          sliceOperand(b, op->getLoc(), operand, box, result);
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Operation *tiled = mlir::clone(b, op, {type.clone(tile.sizes)}, operands);
    for (NamedAttribute attribute : needs->attributes)
      tiled->setAttr(attribute.getName(), attribute.getValue());
    // The name is that of the whole tensor.
    tiled->removeDiscardableAttr("npu.tensor");
    result.tiledOps.push_back(tiled);
    result.tiledValues.push_back(tiled->getResult(0));
    return result;
  }

  LogicalResult getResultTilePosition(
      Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
      SmallVector<OpFoldResult> &resultSizes) const {
    resultOffsets.assign(offsets.begin(), offsets.end());
    resultSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
      ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    domainOffsets.assign(offsets.begin(), offsets.end());
    domainSizes.assign(sizes.begin(), sizes.end());
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &b, unsigned,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    return getTiledImplementation(op, b, offsets, sizes);
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<TilingModel<Ops>>(*context), ...);
}

} // namespace

bool isTileable(Operation *op) { return isa<TilingInterface>(op); }

void attachTilingInterfaces(MLIRContext *context) {
  attach<Conv2DOp, DepthwiseConv2DOp, FullyConnectedOp, MatMulOp, VectorMacOp,
         RescaleOp, MaxPool2DOp, AvgPool2DOp, SoftmaxOp, ArgMaxOp, GatherOp, ResizeOp,
         ReduceMeanOp, ReduceSumOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
      context);
  attach<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, PowOp, PReluOp, ReluOp,
         ClipOp, LeakyReluOp, EluOp, SigmoidOp, HardSigmoidOp, HardSwishOp,
         SwishOp, TanhOp, GeluOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, AbsOp,
         NegOp, ErfOp, FloorOp, CeilOp, RoundOp, SoftplusOp, CastOp, QuantizeOp,
         DequantizeOp, RemOp, ModOp, AndOp, OrOp, XorOp, ShlOp, ShrOp, EqualOp,
         LessOp, LessEqualOp, SelectOp>(context);
}

} // namespace npu
