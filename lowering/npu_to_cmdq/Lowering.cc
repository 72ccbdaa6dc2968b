//===- Lowering.cc - Buffers, staging and constants of npu -> cmdq --------===//

#include "lowering/npu_to_cmdq/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace npu {

using cmdq::EngineKind;
using cmdq::SpaceKind;

Type storageType(Type element) {
  if (auto quantised = dyn_cast<quant::QuantizedType>(element)) {
    unsigned width = quantised.getStorageTypeIntegralWidth();
    if (!quantised.isSigned())
      return IntegerType::get(element.getContext(), width,
                              IntegerType::Unsigned);
    return IntegerType::get(element.getContext(), width);
  }
  return element;
}

std::optional<QuantParams> quantParams(Type element) {
  auto type = dyn_cast<quant::UniformQuantizedType>(element);
  if (!type)
    return std::nullopt;
  return QuantParams{static_cast<float>(type.getScale()),
                     static_cast<int32_t>(type.getZeroPoint()),
                     static_cast<int32_t>(type.getStorageTypeMin()),
                     static_cast<int32_t>(type.getStorageTypeMax())};
}

SmallVector<float> filterScales(Type element) {
  SmallVector<float> scales;
  if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    for (double scale : axis.getScales())
      scales.push_back(static_cast<float>(scale));
  else if (auto params = quantParams(element))
    scales.push_back(params->scale);
  return scales;
}

Lowering::Lowering(func::FuncOp function, Options options)
    : function(function), options(options), machine(targetOf(function)),
      builder(function.getContext()), location(function.getLoc()) {}

InFlightDiagnostic Lowering::fail(Operation *op) {
  return op->emitError() << "node '" << nodeName(op->getLoc()) << "' ("
                         << op->getName() << "): ";
}

static Type elementTypeOf(const View &view) {
  return cast<MemRefType>(view.root.getType()).getElementType();
}

SpaceKind Lowering::workingSpace() const {
  return machine.unified() ? SpaceKind::Dram : SpaceKind::Sram;
}

/// Tensors live in DRAM unless tiling has decided for the SRAM.
SpaceKind Lowering::spaceFor(Value result) {
  Operation *op = result.getDefiningOp();
  return op && op->hasAttr("npu.sram") ? SpaceKind::Sram : SpaceKind::Dram;
}

View Lowering::allocate(ArrayRef<int64_t> shape, Type element,
                        SpaceKind space) {
  SmallVector<int64_t> dims(shape);
  if (dims.empty())
    dims.push_back(1);
  // More dimensions than a memref may have here: one is enough for the buffer.
  if (dims.size() > rt::kMaxRank)
    dims = {ShapedType::getNumElements(shape)};
  auto type =
      MemRefType::get(dims, element, MemRefLayoutAttrInterface{},
                      cmdq::SpaceAttr::get(builder.getContext(), space));
  uint32_t core = space == SpaceKind::Sram ? currentCore : 0;
  Value buffer = cmdq::AllocOp::create(builder, location, type, core);
  return View::whole(buffer, shape);
}

View Lowering::viewOf(Value tensor) { return views.lookup(tensor); }

View Lowering::destinationOf(Value result) {
  auto it = dests.find(result);
  View view = it != dests.end()
                  ? it->second
                  : allocate(shapeOf(result), storageType(elementOf(result)),
                             spaceFor(result));
  views[result] = view;
  return view;
}

LogicalResult Lowering::forward(Value result, View view) {
  auto it = dests.find(result);
  if (it == dests.end()) {
    views[result] = view;
    return success();
  }
  views[result] = it->second;
  if (it->second == view)
    return success();
  finish(copy(it->second, view), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Copies out of an SRAM go through its outgoing engine, others come in.
static EngineKind copyEngine(Value in) {
  return cmdq::spaceOf(in) == SpaceKind::Sram ? EngineKind::DmaOut
                                              : EngineKind::DmaIn;
}

Operation *Lowering::copy(View out, View in) {
  // Commands have no negative strides: element by element along such a
  // dimension (reversed slices and reflected borders are short).
  for (int64_t dim = 0; dim < in.rank(); ++dim) {
    if (in.strides[dim] >= 0 || in.dims[dim] == 1)
      continue;
    Operation *last = nullptr;
    for (int64_t i = 0; i < in.dims[dim]; ++i)
      last = copy(out.slicedDim(dim, i, 1), in.slicedDim(dim, i, 1));
    return last;
  }
  if (out.rank() > rt::kMaxRank) {
    View pair[2] = {out, in};
    coalesce(pair);
    out = pair[0];
    in = pair[1];
  }
  Value to = out.materialize(builder, location);
  Value from = in.materialize(builder, location);
  return cmdq::DmaOp::create(builder, location, to, from, copyEngine(from),
                             currentCore, layerName, StringAttr(), ArrayAttr());
}

Operation *Lowering::fill(View out, uint64_t bits) {
  if (out.rank() > rt::kMaxRank)
    coalesce(out);
  Value to = out.materialize(builder, location);
  EngineKind engine = cmdq::spaceOf(to) == workingSpace() ? EngineKind::Vector
                                                          : EngineKind::DmaOut;
  return cmdq::FillOp::create(builder, location, to, bits, engine, currentCore,
                              layerName, StringAttr(), ArrayAttr());
}

static bool suits(const View &view, Need need) {
  for (int64_t i = 0; i < view.rank(); ++i)
    if (view.strides[i] < 0 && view.dims[i] > 1)
      return false;
  switch (need) {
  case Need::kAny:
    return true;
  case Need::kInner:
    return view.innerContiguous();
  case Need::kDense:
    return view.dense();
  }
  return true;
}

bool Lowering::reachable(const View &view) {
  return machine.unified() || cmdq::spaceOf(view.root) == SpaceKind::Sram;
}

/// A copy of `view` where commands work. An operator reads the same weights in
/// tile after tile: what its operand held last time is still there. With
/// unified memory a copy serves for good.
View Lowering::stage(const View &view) {
  // One entry per operand and core.
  size_t operand = (slot - 1) * std::max<int64_t>(1, machine.cores) + currentCore;
  for (const std::optional<Staged> &entry : staged)
    if (entry && entry->view == view && entry->core == currentCore)
      return entry->copy;
  View stored = view.stored();
  View fresh = allocate(stored.dims, elementTypeOf(view), workingSpace());
  copy(fresh, stored);
  fresh = fresh.broadcast(view.dims);
  if (machine.unified()) {
    staged.push_back(Staged{view, currentCore, fresh});
  } else {
    if (staged.size() <= operand)
      staged.resize(operand + 1);
    staged[operand] = Staged{view, currentCore, fresh};
  }
  return fresh;
}

Value Lowering::input(View view, Need need) {
  ++slot;
  if (!reachable(view) || !suits(view, need))
    view = stage(view);
  return view.materialize(builder, location);
}

Value Lowering::inputAs(View view, ArrayRef<int64_t> shape, Need need) {
  if (auto reshaped = view.reshaped(shape))
    return input(*reshaped, need);
  ++slot;
  return stage(view).reshaped(shape)->materialize(builder, location);
}

Value Lowering::output(View dest, Need need, bool update) {
  if (reachable(dest) && suits(dest, need))
    return dest.materialize(builder, location);
  View work = allocate(dest.dims, elementTypeOf(dest), workingSpace());
  pendingOut = {work, dest};
  if (update)
    copy(work, dest);
  return work.materialize(builder, location);
}

Value Lowering::outputAs(View dest, ArrayRef<int64_t> shape, Need need) {
  if (auto reshaped = dest.reshaped(shape))
    return output(*reshaped, need);
  View work = allocate(dest.dims, elementTypeOf(dest), workingSpace());
  pendingOut = {work, dest};
  return work.reshaped(shape)->materialize(builder, location);
}

void Lowering::finish(Operation *command, Value result) {
  if (pendingOut) {
    command = copy(pendingOut->second, pendingOut->first);
    pendingOut.reset();
  }
  Operation *op = result.getDefiningOp();
  auto name = op ? op->getAttrOfType<StringAttr>("npu.tensor") : StringAttr();
  if (!name)
    return;
  command->setAttr("tap", name);
  tapped.insert(result);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value Lowering::constant(ElementsAttr value, MemRefType type) {
  Value &entry = constants[{value, type}];
  if (entry)
    return entry;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(declarations);
  return entry = cmdq::ConstantOp::create(builder, location, type, value,
                                          IntegerAttr());
}

static MemRefType constantType(Type element, ArrayRef<int64_t> shape) {
  return MemRefType::get(
      shape, element, MemRefLayoutAttrInterface{},
      cmdq::SpaceAttr::get(element.getContext(), SpaceKind::Const));
}

Value Lowering::constant(ArrayRef<float> values) {
  Type element = builder.getF32Type();
  int64_t size = values.size();
  return constant(
      DenseElementsAttr::get(RankedTensorType::get({size}, element), values),
      constantType(element, {size}));
}

Value Lowering::constant(ArrayRef<int32_t> values, ArrayRef<int64_t> shape) {
  Type element = builder.getI32Type();
  return constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, element), values),
      constantType(element, shape));
}

Value Lowering::constant(ArrayRef<int8_t> values) {
  Type element = builder.getI8Type();
  int64_t size = values.size();
  return constant(
      DenseElementsAttr::get(RankedTensorType::get({size}, element), values),
      constantType(element, {size}));
}

Value Lowering::auxiliary(Operation *op, Value tensor, StringRef what) {
  View view = viewOf(tensor);
  if (cmdq::spaceOf(view.root) != SpaceKind::Const || !view.dense()) {
    fail(op) << what
             << " must be a constant: the command reads it from the weight "
                "section; fold the operator that produces it";
    return {};
  }
  return view.materialize(builder, location);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

LogicalResult checkRank(Lowering &l, Operation *op, const View &view) {
  if (view.rank() <= rt::kMaxRank)
    return success();
  return l.fail(op) << "an operand has " << view.rank()
                    << " dimensions and commands have " << rt::kMaxRank
                    << "; reshape it in the model";
}

LogicalResult fitRank(Lowering &l, Operation *op, MutableArrayRef<View> views) {
  if (views.front().rank() > rt::kMaxRank)
    coalesce(views);
  return checkRank(l, op, views.front());
}

} // namespace npu
