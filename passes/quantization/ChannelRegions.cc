//===- ChannelRegions.cc - Tensors that share their channels --------------===//

#include "passes/quantization/ChannelRegions.h"

#include "passes/quantization/Types.h"

using namespace mlir;

namespace npu {

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Operand 0 multiplied by s > 0, channel by channel, gives the result
/// multiplied by s. (Of a clip that is for equalisation to see to.)
bool keepsChannels(Operation *op) {
  Value in = op->getOperand(0);
  if (isa<ReluOp, ClipOp, LeakyReluOp, MaxPool2DOp, AvgPool2DOp, ResizeOp>(op))
    return true;
  if (auto prelu = dyn_cast<PReluOp>(op))
    return op->getOperand(1).getDefiningOp<ConstantOp>() &&
           in.getType() == op->getResult(0).getType();
  if (auto pad = dyn_cast<PadOp>(op))
    return (pad.getMode() != PadMode::Constant || pad.getValue().isZero()) &&
           pad.getLow().back() == 0 && pad.getHigh().back() == 0;
  int64_t last = shapeOf(in).size() - 1;
  if (isa<ReduceMeanOp, ReduceSumOp, ReduceMaxOp, ReduceMinOp>(op))
    return !llvm::is_contained(
        op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef(), last);
  // The same last dimension: its elements are where they were.
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.getPerm().back() == last;
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getSizes().back() == shapeOf(in).back() &&
           slice.getStrides().back() == 1;
  return isa<ReshapeOp>(op);
}

/// Sets of tensors with the same channels, from ties between operands and
/// results.
class Finder {
public:
  explicit Finder(FunctionOpInterface function)
      : body(function.getFunctionBody().front()) {}
  virtual ~Finder() = default;

protected:
  /// Ties or pins the tensors of one operator.
  virtual void visit(Operation *op) = 0;

  struct Node {
    Value tensor;
    unsigned parent;
    bool pinned;
  };

  void visitAll() {
    for (Value argument : body.getArguments())
      add(argument);
    for (Operation &op : body)
      for (Value result : op.getResults())
        if (!isa<ConstantOp>(op))
          add(result);
    for (Value argument : body.getArguments())
      pin(argument);
    for (Operation &op : body)
      if (!isa<ConstantOp>(op))
        visit(&op);
  }
  /// Calls `member` with the number of its region and each free tensor.
  void forEachFree(llvm::function_ref<void(size_t, Value)> member) {
    DenseMap<unsigned, size_t> index;
    for (Node &node : nodes) {
      unsigned root = find(node.tensor);
      if (!nodes[root].pinned)
        member(index.try_emplace(root, index.size()).first->second,
               node.tensor);
    }
  }
  void add(Value v) {
    if (!isFloatTensor(v) || shapeOf(v).empty())
      return;
    ids[v] = nodes.size();
    nodes.push_back({v, unsigned(nodes.size()), false});
  }
  unsigned find(Value v) {
    unsigned id = ids.lookup(v);
    while (nodes[id].parent != id)
      id = nodes[id].parent = nodes[nodes[id].parent].parent;
    return id;
  }
  /// Nothing may change it.
  void pin(Value v) {
    if (ids.count(v))
      nodes[find(v)].pinned = true;
  }
  void pinAll(Operation *op) {
    for (Value operand : op->getOperands())
      pin(operand);
    for (Value result : op->getResults())
      pin(result);
  }
  /// One region, if the channels are the same ones.
  void tie(Value a, Value b) {
    if (!ids.count(a) || !ids.count(b) ||
        shapeOf(a).back() != shapeOf(b).back()) {
      pin(a);
      pin(b);
      return;
    }
    unsigned x = find(a), y = find(b);
    nodes[y].parent = x;
    nodes[x].pinned |= nodes[y].pinned;
  }

  bool known(Value v) const { return ids.count(v); }

private:
  Block &body;
  DenseMap<Value, unsigned> ids;
  std::vector<Node> nodes;
};

/// What may be scaled channel by channel.
class ScaleFinder : public Finder {
public:
  using Finder::Finder;
  std::vector<ChannelRegion> run();

private:
  void visit(Operation *op) override;
  void visitMul(MulOp op);
};

/// A gate stays as it is; what it opens may be scaled.
void ScaleFinder::visitMul(MulOp op) {
  Value result = op->getResult(0), a = op->getOperand(0), b = op->getOperand(1);
  auto isGate = [&](Value v) {
    return v.getDefiningOp<ConstantOp>() || v.getType() != result.getType() ||
           isa_and_nonnull<SigmoidOp, HardSigmoidOp, SoftmaxOp, TanhOp>(
               v.getDefiningOp());
  };
  if (isGate(a) && !isGate(b))
    std::swap(a, b);
  if (isGate(a) || !isGate(b))
    return pinAll(op);
  pin(b);
  tie(a, result);
}

void ScaleFinder::visit(Operation *op) {
  if (isPlainFilter(op))
    return; // takes factors on either side
  if (auto mul = dyn_cast<MulOp>(op))
    return visitMul(mul);
  bool sum = isa<AddOp, SubOp, MaxOp, MinOp>(op) &&
             llvm::all_of(op->getOperands(), [&](Value v) {
               return known(v) && v.getType() == op->getResultTypes()[0];
             });
  if (sum) {
    for (Value operand : op->getOperands())
      tie(operand, op->getResult(0));
    return;
  }
  if (op->getNumOperands() && op->getNumResults() == 1 &&
      known(op->getOperand(0)) && keepsChannels(op))
    return tie(op->getOperand(0), op->getResult(0));
  pinAll(op);
}

template <typename Region> void addFilters(Region &region, Value tensor) {
  if (isPlainFilter(tensor.getDefiningOp()))
    region.producers.push_back(tensor.getDefiningOp());
  for (Operation *user : tensor.getUsers())
    if (isPlainFilter(user))
      region.consumers.push_back(user);
}

template <typename Region> void dropOpen(std::vector<Region> &regions) {
  llvm::erase_if(regions, [](const Region &region) {
    return region.producers.empty() || region.consumers.empty();
  });
}

template <typename Region>
Region &regionOf(std::vector<Region> &regions, size_t number, Value tensor) {
  if (number == regions.size()) {
    regions.emplace_back();
    regions.back().channels = shapeOf(tensor).back();
  }
  regions[number].tensors.push_back(tensor);
  return regions[number];
}

std::vector<ChannelRegion> ScaleFinder::run() {
  visitAll();
  std::vector<ChannelRegion> regions;
  forEachFree([&](size_t number, Value tensor) {
    ChannelRegion &region = regionOf(regions, number, tensor);
    addFilters(region, tensor);
    if (auto clip = tensor.getDefiningOp<ClipOp>())
      region.clips.push_back(clip);
  });
  dropOpen(regions);
  return regions;
}

/// Whose channels may change places.
class OrderFinder : public Finder {
public:
  using Finder::Finder;
  std::vector<ChannelOrderRegion> run();

private:
  void visit(Operation *op) override;
  void visitBinary(Operation *op);
  static bool isDense(Operation *op) {
    return isPlainFilter(op) && !isa<DepthwiseConv2DOp>(op) &&
           shapeOf(op->getOperand(kFilterOperand)).back() ==
               shapeOf(op->getOperand(0)).back();
  }
  static bool isDepthwise(Operation *op) {
    return isa<DepthwiseConv2DOp>(op) && isPlainFilter(op) &&
           shapeOf(op->getOperand(0)).back() ==
               shapeOf(op->getResult(0)).back();
  }
};

/// Constants and gates of one value a channel change their order, too.
void OrderFinder::visitBinary(Operation *op) {
  Value result = op->getResult(0);
  int64_t channels = shapeOf(result).back();
  for (Value operand : op->getOperands()) {
    int64_t last = shapeOf(operand).empty() ? 1 : shapeOf(operand).back();
    bool constant = bool(constantFloats(operand));
    if ((last != channels && last != 1) || (!constant && !known(operand)))
      return pinAll(op);
    if (!constant && last == channels)
      tie(operand, result);
  }
}

void OrderFinder::visit(Operation *op) {
  if (isDense(op))
    return;
  if (isBinary(op) && known(op->getResult(0)))
    return visitBinary(op);
  if (op->getNumOperands() && op->getNumResults() == 1 &&
      known(op->getOperand(0)) &&
      (isFunction(op) || isDepthwise(op) || keepsChannels(op)))
    return tie(op->getOperand(0), op->getResult(0));
  pinAll(op);
}

std::vector<ChannelOrderRegion> OrderFinder::run() {
  visitAll();
  std::vector<ChannelOrderRegion> regions;
  forEachFree([&](size_t number, Value tensor) {
    ChannelOrderRegion &region = regionOf(regions, number, tensor);
    addFilters(region, tensor);
    Operation *op = tensor.getDefiningOp();
    if (isDepthwise(op))
      region.depthwise.push_back(op);
    if (isBinary(op))
      for (OpOperand &operand : op->getOpOperands())
        if (constantFloats(operand.get()) && !shapeOf(operand.get()).empty() &&
            shapeOf(operand.get()).back() == region.channels)
          region.constants.push_back(&operand);
  });
  for (ChannelOrderRegion &region : regions) {
    llvm::erase_if(region.producers, isDepthwise);
    llvm::erase_if(region.consumers, isDepthwise);
  }
  dropOpen(regions);
  llvm::erase_if(regions, [](const ChannelOrderRegion &region) {
    return region.depthwise.empty();
  });
  return regions;
}

} // namespace

/// Weights are constants and nothing is fused to it yet.
bool isPlainFilter(Operation *op) {
  if (!hasFilter(op) || !constantFloats(op->getOperand(kFilterOperand)))
    return false;
  Value bias = biasOf(op);
  if (bias && !constantFloats(bias))
    return false;
  return op->getNumOperands() == (bias ? 3u : 2u) &&
         !op->getAttrOfType<ActivationAttr>("activation");
}

std::vector<ChannelRegion> findChannelRegions(FunctionOpInterface function) {
  return ScaleFinder(function).run();
}

std::vector<ChannelOrderRegion>
findChannelOrderRegions(FunctionOpInterface function) {
  return OrderFinder(function).run();
}

} // namespace npu
