//===- Program.cc - The walks over a function of npu -> cmdq --------------===//

#include "lowering/npu_to_cmdq/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

using cmdq::SpaceKind;

static MemRefType ioType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  SmallVector<int64_t> shape(type.getShape());
  if (shape.empty())
    shape.push_back(1);
  return MemRefType::get(
      shape, storageType(type.getElementType()), MemRefLayoutAttrInterface{},
      cmdq::SpaceAttr::get(tensor.getContext(), SpaceKind::Io));
}

LogicalResult Lowering::declareIo() {
  auto declare = [&](Type type, StringAttr name, StringAttr preprocess,
                     unsigned index, bool isOutput) -> Value {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() > rt::kMaxRank || !tensor.hasStaticShape() ||
        tensor.getNumElements() == 0 ||
        !cmdq::toDType(storageType(tensor.getElementType()))) {
      function.emitError() << (isOutput ? "output '" : "input '")
                           << name.getValue() << "' has type " << type
                           << "; the device binds non-empty static tensors of "
                              "rank 6 or less with an element type it knows";
      return {};
    }
    return cmdq::IoOp::create(builder, location, ioType(type), index, name,
                              isOutput, preprocess);
  };
  auto nameOf = [&](StringAttr given, StringRef prefix, unsigned i) {
    return given ? given
                 : builder.getStringAttr(prefix.str() + std::to_string(i));
  };
  unsigned index = 0;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto name = nameOf(function.getArgAttrOfType<StringAttr>(i, "npu.name"),
                       "input", i);
    Value io =
        declare(argument.getType(), name,
                function.getArgAttrOfType<StringAttr>(i, "npu.preprocess"),
                index++, false);
    if (!io)
      return failure();
    views[argument] = View::whole(io, shapeOf(argument));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto name = nameOf(function.getResultAttrOfType<StringAttr>(i, "npu.name"),
                       "output", i);
    Value io = declare(type, name, StringAttr(), index++, true);
    if (!io)
      return failure();
    outputs.push_back(io);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Backwards: where results go
//===----------------------------------------------------------------------===//

void Lowering::plan(Value tensor, View dest) {
  Operation *op = tensor.getDefiningOp();
  if (op && !isa<ConstantOp>(op))
    dests.try_emplace(tensor, dest);
}

View Lowering::plannedOrNew(Value result) {
  auto [it, isNew] = dests.try_emplace(result);
  if (isNew)
    it->second = allocate(shapeOf(result), storageType(elementOf(result)),
                          spaceFor(result));
  return it->second;
}

void Lowering::planReshape(Value result, Value input) {
  auto it = dests.find(result);
  if (it == dests.end())
    return;
  View dest = it->second;
  if (auto view = dest.reshaped(shapeOf(input)))
    plan(input, *view);
}

/// The tensor.empty (or other tensor) at the start of a chain of insertions.
static Value chainRoot(Value tensor) {
  while (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    tensor = insert.getDest();
  return tensor;
}

void Lowering::planDestinations(Operation &op) {
  TypeSwitch<Operation *>(&op)
      .Case([&](func::ReturnOp op) {
        for (auto [value, io] : llvm::zip(op.getOperands(), outputs))
          plan(value, View::whole(io, shapeOf(value)));
      })
      .Case([&](ConcatOp op) {
        // With taps every tensor is written as a whole first.
        if (options.tapViews && op->hasAttr("npu.tensor"))
          return;
        View dest = plannedOrNew(op.getOutput());
        int64_t start = 0, axis = op.getAxis();
        for (Value input : op.getInputs()) {
          int64_t size = shapeOf(input)[axis];
          plan(input, dest.slicedDim(axis, start, size));
          start += size;
        }
      })
      .Case([&](PadOp op) {
        if (options.tapViews && op->hasAttr("npu.tensor"))
          return;
        View dest = plannedOrNew(op.getOutput());
        SmallVector<int64_t> ones(dest.rank(), 1);
        plan(op.getInput(),
             dest.sliced(op.getLow(), shapeOf(op.getInput()), ones));
      })
      .Case([&](TransposeOp op) {
        auto it = dests.find(op.getOutput());
        if (it == dests.end())
          return;
        View dest = it->second;
        SmallVector<int64_t> inverse(op.getPerm().size());
        for (auto [i, p] : llvm::enumerate(op.getPerm()))
          inverse[p] = i;
        plan(op.getInput(), dest.permuted(inverse));
      })
      .Case<ReshapeOp, StorageCastOp>(
          [&](auto op) { planReshape(op.getOutput(), op.getInput()); })
      .Case([&](VectorMacOp op) {
        Value acc = op.getAccumulator();
        if (acc && acc.hasOneUse())
          plan(acc, plannedOrNew(op.getOutput()));
      })
      .Case([&](tensor::InsertSliceOp op) {
        Value result = op.getResult();
        auto [it, isNew] = dests.try_emplace(result);
        if (isNew) {
          Value root = chainRoot(result);
          it->second = allocate(shapeOf(result), storageType(elementOf(result)),
                                spaceFor(root));
        }
        View dest = it->second;
        if (op.getDest().hasOneUse())
          plan(op.getDest(), dest);
        plan(op.getSource(),
             dest.sliced(op.getStaticOffsets(), op.getStaticSizes(),
                         op.getStaticStrides()));
      });
}

//===----------------------------------------------------------------------===//
// Forwards: commands
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerReturn(func::ReturnOp op) {
  for (auto [value, io] : llvm::zip(op.getOperands(), outputs)) {
    View dest = View::whole(io, shapeOf(value));
    if (View view = viewOf(value); !(view == dest))
      copy(dest, view);
  }
  return success();
}

LogicalResult Lowering::lower(Operation &op) {
  location = op.getLoc();
  std::string name = nodeName(op.getLoc());
  layerName = name.empty() ? StringAttr() : builder.getStringAttr(name);
  auto core = op.getAttrOfType<IntegerAttr>("npu.core");
  currentCore = core ? core.getInt() : 0;
  slot = 0;
  for (Value result : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
      return fail(&op) << "result " << result.getType()
                       << " is no non-empty tensor of static shape";
    if (!cmdq::toDType(storageType(type.getElementType())))
      return fail(&op) << "element type " << type.getElementType()
                       << " is none that commands know";
  }
  for (auto lowering :
       {lowerMatrixOp, lowerVectorOp, lowerLogicOp, lowerDataOp})
    if (auto result = lowering(*this, &op))
      return *result;
  return fail(&op) << "has no lowering to commands; a legalisation pass should "
                      "have replaced it";
}

/// With tapViews, every named tensor gets a command that writes all of it.
void Lowering::tapResults(Operation &op) {
  auto names = op.getAttrOfType<ArrayAttr>("npu.tensors");
  if (options.tapViews && names && names.size() == op.getNumResults())
    for (auto [result, name] : llvm::zip(op.getResults(), names)) {
      View view = viewOf(result);
      View whole =
          allocate(view.dims, storageType(elementOf(result)), SpaceKind::Dram);
      if (auto tap = dyn_cast<StringAttr>(name); tap && !tap.empty())
        copy(whole, view)->setAttr("tap", tap);
    }
  if (!options.tapViews || op.getNumResults() != 1 || isa<ConstantOp>(op) ||
      !op.hasAttr("npu.tensor") || tapped.contains(op.getResult(0)))
    return;
  Value result = op.getResult(0);
  View view = viewOf(result);
  View whole =
      allocate(view.dims, storageType(elementOf(result)), SpaceKind::Dram);
  finish(copy(whole, view), result);
}

LogicalResult Lowering::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitError("must be one straight block");
  builder.setInsertionPoint(function);
  program =
      cmdq::ProgramOp::create(builder, location, function.getSymName(),
                              machine.cores, IntegerAttr(), IntegerAttr());
  builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  // A place for constants, removed in the end.
  declarations =
      cmdq::NopOp::create(builder, location, cmdq::EngineKind::Vector, 0,
                          StringAttr(), StringAttr(), ArrayAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(declarations);
    if (failed(declareIo()))
      return failure();
  }
  Block &block = function.getBody().front();
  for (Operation &op : llvm::reverse(block)) {
    auto core = op.getAttrOfType<IntegerAttr>("npu.core");
    currentCore = core ? core.getInt() : 0;
    location = op.getLoc();
    planDestinations(op);
  }
  Operation *previousLayer = nullptr;
  for (Operation &op : block) {
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      if (failed(lowerReturn(ret)))
        return failure();
      break;
    }
    // Staged operands of one operator are of no use to the next.
    if (!machine.unified() && isa_and_nonnull<NPUDialect>(op.getDialect()) &&
        !isa<ConstantOp>(op)) {
      if (previousLayer && previousLayer->getLoc() != op.getLoc())
        staged.clear();
      previousLayer = &op;
    }
    if (failed(lower(op)))
      return failure();
    tapResults(op);
  }
  declarations->erase();
  function.erase();
  return success();
}

} // namespace npu
