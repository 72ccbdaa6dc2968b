//===- ChannelRegions.cc - Tensors scaled channel by channel --------------===//

#include "passes/quantization/ChannelRegions.h"

#include "passes/quantization/Types.h"

using namespace mlir;

namespace npu {

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

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

class Finder {
public:
  explicit Finder(FunctionOpInterface function)
      : body(function.getFunctionBody().front()) {}

  std::vector<ChannelRegion> run() {
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
    return collect();
  }

private:
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

  void visit(Operation *op);
  void visitMul(MulOp op);
  static bool keepsChannels(Operation *op);
  std::vector<ChannelRegion> collect();

  struct Node {
    Value tensor;
    unsigned parent;
    bool pinned;
  };
  Block &body;
  DenseMap<Value, unsigned> ids;
  std::vector<Node> nodes;
};

/// Operand 0 multiplied by s > 0, channel by channel, gives the result
/// multiplied by s. (Of a clip that is for equalisation to see to.)
bool Finder::keepsChannels(Operation *op) {
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

/// A gate stays as it is; what it opens may be scaled.
void Finder::visitMul(MulOp op) {
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

void Finder::visit(Operation *op) {
  if (isPlainFilter(op))
    return; // takes factors on either side
  if (auto mul = dyn_cast<MulOp>(op))
    return visitMul(mul);
  bool sum = isa<AddOp, SubOp, MaxOp, MinOp>(op) &&
             llvm::all_of(op->getOperands(), [&](Value v) {
               return ids.count(v) && v.getType() == op->getResultTypes()[0];
             });
  if (sum) {
    for (Value operand : op->getOperands())
      tie(operand, op->getResult(0));
    return;
  }
  if (op->getNumOperands() && op->getNumResults() == 1 &&
      ids.count(op->getOperand(0)) && keepsChannels(op))
    return tie(op->getOperand(0), op->getResult(0));
  pinAll(op);
}

std::vector<ChannelRegion> Finder::collect() {
  DenseMap<unsigned, unsigned> index;
  std::vector<ChannelRegion> regions;
  for (Node &node : nodes) {
    unsigned root = find(node.tensor);
    if (nodes[root].pinned)
      continue;
    auto [it, isNew] = index.try_emplace(root, regions.size());
    if (isNew)
      regions.push_back({shapeOf(node.tensor).back(), {}, {}, {}, {}});
    ChannelRegion &region = regions[it->second];
    region.tensors.push_back(node.tensor);
    Operation *def = node.tensor.getDefiningOp();
    if (isPlainFilter(def))
      region.producers.push_back(def);
    if (auto clip = dyn_cast<ClipOp>(def))
      region.clips.push_back(clip);
    for (Operation *user : node.tensor.getUsers())
      if (isPlainFilter(user))
        region.consumers.push_back(user);
  }
  llvm::erase_if(regions, [](const ChannelRegion &region) {
    return region.producers.empty() || region.consumers.empty();
  });
  return regions;
}

} // namespace

std::vector<ChannelRegion> findChannelRegions(FunctionOpInterface function) {
  return Finder(function).run();
}

} // namespace npu
