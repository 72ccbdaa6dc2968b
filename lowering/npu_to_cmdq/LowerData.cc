//===- LowerData.cc - Constants and data movement -------------------------===//

#include "lowering/npu_to_cmdq/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

/// `value` with the memref's element type and at least one dimension.
static ElementsAttr storageValue(ElementsAttr value, MemRefType type) {
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  if (value.getShapedType() == tensor)
    return value;
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    if (dense.getElementType().getIntOrFloatBitWidth() ==
            type.getElementTypeBitWidth() &&
        dense.getNumElements() == type.getNumElements())
      return DenseElementsAttr::getFromRawBuffer(tensor, dense.getRawData());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (value.getNumElements() == type.getNumElements())
      return DenseResourceElementsAttr::get(tensor, resource.getRawHandle());
  return {};
}

static LogicalResult lowerConstant(Lowering &l, ConstantOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOutput());
  SmallVector<int64_t> dims(shape);
  if (dims.empty())
    dims.push_back(1);
  if (dims.size() > rt::kMaxRank)
    dims = {ShapedType::getNumElements(shape)};
  auto type = MemRefType::get(
      dims, storageType(elementOf(op.getOutput())), MemRefLayoutAttrInterface{},
      cmdq::SpaceAttr::get(op.getContext(), cmdq::SpaceKind::Const));
  ElementsAttr value = storageValue(op.getValue(), type);
  if (!value)
    return l.fail(op) << "the value's type " << op.getValue().getType()
                      << " is not the storage of " << op.getType();
  l.setView(op.getOutput(), View::whole(l.constant(value, type), shape));
  return success();
}

static LogicalResult lowerReshape(Lowering &l, Value input, Value result) {
  View view = l.viewOf(input);
  ArrayRef<int64_t> shape = shapeOf(result);
  if (auto reshaped = view.reshaped(shape))
    return l.forward(result, *reshaped);
  // The strides of the input don't allow it: into a dense buffer first.
  View dest = l.destinationOf(result);
  if (auto back = dest.reshaped(view.dims)) {
    l.finish(l.copy(*back, view), result);
    return success();
  }
  View dense = l.allocate(view.dims, storageType(elementOf(result)),
                          cmdq::SpaceKind::Dram);
  l.copy(dense, view);
  l.finish(l.copy(dest, *dense.reshaped(shape)), result);
  return success();
}

static LogicalResult lowerSlice(Lowering &l, SliceOp op) {
  return l.forward(op.getOutput(),
                   l.viewOf(op.getInput())
                       .sliced(op.getStarts(), op.getSizes(), op.getStrides()));
}

static LogicalResult lowerSplit(Lowering &l, SplitOp op) {
  View view = l.viewOf(op.getInput());
  int64_t start = 0;
  for (auto [result, size] : llvm::zip(op.getOutputs(), op.getSizes())) {
    if (failed(l.forward(result, view.slicedDim(op.getAxis(), start, size))))
      return failure();
    start += size;
  }
  return success();
}

static LogicalResult lowerConcat(Lowering &l, ConcatOp op) {
  View dest = l.destinationOf(op.getOutput());
  int64_t start = 0, axis = op.getAxis();
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[axis];
    View piece = dest.slicedDim(axis, start, size);
    if (View view = l.viewOf(input); !(view == piece))
      l.copy(piece, view);
    start += size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// The bits of a real value in an element type; none if it has none.
static std::optional<uint64_t> bitsOf(float value, Type element) {
  if (auto params = quantParams(element))
    return static_cast<uint8_t>(quantize(value, *params));
  if (element.isF32())
    return APFloat(value).bitcastToAPInt().getZExtValue();
  if (element.isF16()) {
    APFloat half(value);
    bool lost;
    half.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &lost);
    return half.bitcastToAPInt().getZExtValue();
  }
  if (auto integer = dyn_cast<IntegerType>(element)) {
    auto wide = static_cast<uint64_t>(static_cast<int64_t>(value));
    unsigned width = integer.getWidth();
    return width >= 64 ? wide : wide & ((uint64_t(1) << width) - 1);
  }
  return std::nullopt;
}

/// Fills the border of one axis of `region` from what lies inside it.
static LogicalResult padAxis(Lowering &l, PadOp op, const View &region,
                             int64_t axis, uint64_t bits) {
  int64_t low = op.getLow()[axis], high = op.getHigh()[axis];
  int64_t n = shapeOf(op.getInput())[axis];
  bool reflect = op.getMode() == PadMode::Reflect;
  if (reflect && (low >= n || high >= n))
    return l.fail(op) << "reflecting " << std::max(low, high)
                      << " elements needs more than the " << n
                      << " there are along axis " << axis;
  struct Side {
    int64_t start, size, source;
  };
  // Reflected elements run backwards from `source`, edges repeat it.
  Side sides[2] = {{0, low, reflect ? 2 * low : low},
                   {low + n, high, reflect ? low + n - 2 : low + n - 1}};
  for (const Side &side : sides) {
    if (side.size == 0)
      continue;
    View border = region.slicedDim(axis, side.start, side.size);
    if (op.getMode() == PadMode::Constant)
      l.fill(border, bits);
    else
      l.copy(border,
             region.slicedDim(axis, side.source, side.size, reflect ? -1 : 0));
  }
  return success();
}

static LogicalResult lowerPad(Lowering &l, PadOp op) {
  auto bits = bitsOf(op.getValue().convertToFloat(), elementOf(op.getOutput()));
  if (!bits && op.getMode() == PadMode::Constant)
    return l.fail(op) << "no padding value in " << elementOf(op.getOutput());
  if (llvm::any_of(op.getLow(), [](int64_t p) { return p < 0; }) ||
      llvm::any_of(op.getHigh(), [](int64_t p) { return p < 0; }))
    return l.fail(op) << "negative padding is a slice; it should have been "
                         "canonicalised to one";
  View dest = l.destinationOf(op.getOutput());
  ArrayRef<int64_t> inner = shapeOf(op.getInput());
  View interior = dest;
  for (int64_t i = 0; i < dest.rank(); ++i)
    interior = interior.slicedDim(i, op.getLow()[i], inner[i]);
  if (View view = l.viewOf(op.getInput()); !(view == interior))
    l.copy(interior, view);
  // Axis by axis: the region that is complete grows.
  View region = interior;
  for (int64_t i = 0; i < dest.rank(); ++i) {
    region.offset -= op.getLow()[i] * dest.strides[i];
    region.dims[i] = dest.dims[i];
    if (failed(padAxis(l, op, region, i, bits.value_or(0))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Depth and space, gather, host
//===----------------------------------------------------------------------===//

/// out[n, h*b + i, w*b + j, c] = in[n, h, w, (i, j, c)] (or (c, i, j)).
/// `narrow` has N,H,W and the long channels, `wide` N,H*b,W*b and the short
/// ones; both as views of rank 6 with equal dims N,H,b,W,b,C.
static std::optional<std::pair<View, View>>
blockViews(const View &narrow, const View &wide, int64_t b, bool crd) {
  int64_t n = narrow.dims[0], h = narrow.dims[1], w = narrow.dims[2],
          c = wide.dims[3];
  std::optional<View> small, large = wide.reshaped({n, h, b, w, b, c});
  if (crd) {
    if ((small = narrow.reshaped({n, h, w, c, b, b})))
      small = small->permuted({0, 1, 4, 2, 5, 3});
  } else if ((small = narrow.reshaped({n, h, w, b, b, c}))) {
    small = small->permuted({0, 1, 3, 2, 4, 5});
  }
  if (!small || !large)
    return std::nullopt;
  return std::make_pair(*small, *large);
}

static LogicalResult lowerDepthToSpace(Lowering &l, DepthToSpaceOp op) {
  View in = l.viewOf(op.getInput()), dest = l.destinationOf(op.getOutput());
  // Splitting one dimension into two never needs a copy.
  auto views = blockViews(in, dest, op.getBlockSize(),
                          op.getMode() == DepthToSpaceMode::CRD);
  l.finish(l.copy(views->second, views->first), op.getOutput());
  return success();
}

static LogicalResult lowerSpaceToDepth(Lowering &l, SpaceToDepthOp op) {
  View in = l.viewOf(op.getInput()), dest = l.destinationOf(op.getOutput());
  auto views = blockViews(dest, in, op.getBlockSize(), /*crd=*/false);
  l.finish(l.copy(views->first, views->second), op.getOutput());
  return success();
}

static LogicalResult lowerGather(Lowering &l, GatherOp op) {
  int64_t size = shapeOf(op.getInput())[op.getAxis()];
  SmallVector<int32_t> indices;
  for (int64_t index : op.getIndices()) {
    if (index < -size || index >= size)
      return l.fail(op) << "index " << index << " is outside the dimension of "
                        << size;
    indices.push_back(index < 0 ? index + size : index);
  }
  View in = l.viewOf(op.getInput());
  if (failed(checkRank(l, op, in)))
    return failure();
  View dest = l.destinationOf(op.getOutput());
  Value table = l.constant(indices, {static_cast<int64_t>(indices.size())});
  Value from = l.input(in), to = l.output(dest);
  l.finish(cmdq::GatherOp::create(l.b(), l.loc(), to, from, table, op.getAxis(),
                                  cmdq::EngineKind::Vector, l.core(), l.layer(),
                                  StringAttr(), ArrayAttr()),
           op.getOutput());
  return success();
}

/// Host segments see dense buffers in DRAM or I/O.
static LogicalResult lowerHostCall(Lowering &l, HostCallOp op) {
  SmallVector<Value> outs, ins;
  SmallVector<std::pair<View, View>, 1> after;
  auto place = [&](View view) {
    return view.dense() && cmdq::spaceOf(view.root) != cmdq::SpaceKind::Sram &&
           view.rank() <= rt::kMaxRank;
  };
  for (Value input : op.getInputs()) {
    View view = l.viewOf(input);
    if (failed(checkRank(l, op, view)))
      return failure();
    if (!place(view) || cmdq::spaceOf(view.root) == cmdq::SpaceKind::Const) {
      View dense = l.allocate(view.dims, storageType(elementOf(input)),
                              cmdq::SpaceKind::Dram);
      l.copy(dense, view);
      view = dense;
    }
    ins.push_back(view.materialize(l.b(), l.loc()));
  }
  for (Value output : op.getOutputs()) {
    View dest = l.destinationOf(output), view = dest;
    if (failed(checkRank(l, op, dest)))
      return failure();
    if (!place(dest)) {
      view = l.allocate(dest.dims, storageType(elementOf(output)),
                        cmdq::SpaceKind::Dram);
      after.push_back({dest, view});
    }
    outs.push_back(view.materialize(l.b(), l.loc()));
  }
  cmdq::HostCallOp::create(l.b(), l.loc(), outs, ins, op.getModelAttr(),
                           op.getNodesAttr());
  for (auto &[dest, view] : after)
    l.copy(dest, view);
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static LogicalResult lowerInsertSlice(Lowering &l, tensor::InsertSliceOp op) {
  View dest = l.destinationOf(op.getResult());
  if (View view = l.viewOf(op.getDest()); !(view == dest))
    l.copy(dest, view);
  View piece = dest.sliced(op.getStaticOffsets(), op.getStaticSizes(),
                           op.getStaticStrides());
  if (View view = l.viewOf(op.getSource()); !(view == piece))
    l.copy(piece, view);
  return success();
}

std::optional<LogicalResult> lowerDataOp(Lowering &l, Operation *op) {
  using Result = std::optional<LogicalResult>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](ConstantOp op) { return lowerConstant(l, op); })
      .Case<ReshapeOp, StorageCastOp>([&](auto op) {
        return lowerReshape(l, op.getInput(), op.getOutput());
      })
      .Case([&](TransposeOp op) {
        return l.forward(op.getOutput(),
                         l.viewOf(op.getInput()).permuted(op.getPerm()));
      })
      .Case([&](BroadcastToOp op) {
        return l.forward(op.getOutput(),
                         l.viewOf(op.getInput()).broadcast(op.getShape()));
      })
      .Case([&](SliceOp op) { return lowerSlice(l, op); })
      .Case([&](SplitOp op) { return lowerSplit(l, op); })
      .Case([&](ConcatOp op) { return lowerConcat(l, op); })
      .Case([&](PadOp op) { return lowerPad(l, op); })
      .Case([&](DepthToSpaceOp op) { return lowerDepthToSpace(l, op); })
      .Case([&](SpaceToDepthOp op) { return lowerSpaceToDepth(l, op); })
      .Case([&](GatherOp op) { return lowerGather(l, op); })
      .Case([&](HostCallOp op) { return lowerHostCall(l, op); })
      .Case([&](tensor::EmptyOp op) {
        l.destinationOf(op.getResult());
        return success();
      })
      .Case([&](tensor::ExtractSliceOp op) {
        return l.forward(op.getResult(),
                         l.viewOf(op.getSource())
                             .sliced(op.getStaticOffsets(), op.getStaticSizes(),
                                     op.getStaticStrides()));
      })
      .Case([&](tensor::InsertSliceOp op) { return lowerInsertSlice(l, op); })
      .Default([](Operation *) { return Result(); });
}

} // namespace npu
