//===- Partition.cc - npu-partition ---------------------------------------===//

#include "passes/partition/Passes.h"

#include "mlir/IR/Remarks.h"
#include "passes/partition/Models.h"
#include "passes/partition/Phases.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUPARTITIONPASS
#include "passes/partition/Passes.h.inc"

namespace {

int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

class Partitioner {
public:
  Partitioner(func::FuncOp function, bool move)
      : function(function), move(move) {}

  LogicalResult run();

private:
  void collect();
  Place placeOf(Operation *op);
  void reorder(const Phases &phases);
  LogicalResult buildSegment(ArrayRef<Operation *> members);
  void remark(HostCallOp call, int moved);

  func::FuncOp function;
  bool move;
  SmallVector<Operation *> ops;
  std::vector<PlacedNode> nodes;
  llvm::StringSet<> pinned;
  int segments = 0;
};

Place Partitioner::placeOf(Operation *op) {
  if (isa<HostCallOp>(op))
    return Place::kHost;
  bool free =
      move && isMovement(op) && !pinned.contains(nodeName(op->getLoc()));
  return free ? Place::kEither : Place::kNpu;
}

void Partitioner::collect() {
  if (auto names = function->getAttrOfType<ArrayAttr>("npu.pinned"))
    for (Attribute name : names)
      if (auto text = dyn_cast<StringAttr>(name))
        pinned.insert(text.getValue());
  DenseMap<Operation *, int> numbers;
  for (Operation &op : function.front()) {
    if (isa<ConstantOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    PlacedNode node{placeOf(&op), {}};
    for (Value operand : op.getOperands())
      if (auto it = numbers.find(operand.getDefiningOp()); it != numbers.end())
        node.operands.push_back(it->second);
    numbers[&op] = int(ops.size());
    ops.push_back(&op);
    nodes.push_back(std::move(node));
  }
}

/// Constants first, then phase by phase.
void Partitioner::reorder(const Phases &phases) {
  Block &block = function.front();
  Operation *end = block.getTerminator();
  SmallVector<Operation *> constants;
  for (Operation &op : block)
    if (isa<ConstantOp>(op))
      constants.push_back(&op);
  for (Operation *constant : constants)
    constant->moveBefore(end);
  for (size_t phase = 0; phase < phases.places.size(); ++phase)
    for (auto [i, op] : llvm::enumerate(ops))
      if (phases.phase[i] == int(phase))
        op->moveBefore(end);
}

LogicalResult Partitioner::buildSegment(ArrayRef<Operation *> members) {
  ModelBuilder model;
  llvm::DenseSet<Operation *> inside(members.begin(), members.end());
  SmallVector<Value> outputs;
  SmallVector<Attribute> infos, names;
  Builder b(function.getContext());
  int moved = 0;
  for (Operation *op : members) {
    auto call = dyn_cast<HostCallOp>(op);
    if (call) {
      if (failed(model.add(call)))
        return failure();
      infos.append(call.getNodes().begin(), call.getNodes().end());
    } else {
      model.add(op);
      ++moved;
      infos.push_back(HostNodeInfo{
          nodeName(op->getLoc()), op->getName().getStringRef().str(),
          "it only moves data between nodes on the host",
          "none needed: it follows them to the NPU", 0,
          bytesOf(op->getResult(0))}
                          .toAttribute(function.getContext()));
    }
    auto tensors = op->getAttrOfType<ArrayAttr>("npu.tensors");
    auto tensor = op->getAttrOfType<StringAttr>("npu.tensor");
    for (OpResult result : op->getResults()) {
      if (llvm::all_of(result.getUsers(),
                       [&](Operation *user) { return inside.count(user); }))
        continue;
      outputs.push_back(result);
      names.push_back(tensors  ? tensors[result.getResultNumber()]
                      : tensor ? Attribute(tensor)
                               : Attribute(b.getStringAttr("")));
    }
  }
  OpBuilder builder(members.back());
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  std::string bytes = model.finish(outputs);
  auto merged = HostCallOp::create(builder, members.front()->getLoc(), types,
                                   SmallVector<Value>(model.inputs()),
                                   builder.getStringAttr(bytes),
                                   builder.getArrayAttr(infos));
  merged->setAttr("npu.tensors", builder.getArrayAttr(names));
  for (auto [output, result] : llvm::zip(outputs, merged.getResults()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(members))
    op->erase();
  remark(merged, moved);
  return success();
}

void Partitioner::remark(HostCallOp call, int moved) {
  constexpr size_t kNamed = 5;
  int64_t in = 0, out = 0;
  for (Value value : call.getInputs())
    in += bytesOf(value);
  for (Value value : call.getResults())
    out += bytesOf(value);
  std::string text = "host segment " + std::to_string(segments++) + ": " +
                     std::to_string(call.getNodes().size()) + " nodes";
  if (moved)
    text += ", " + std::to_string(moved) + " of them only move data";
  text += " (";
  for (auto [i, node] : llvm::enumerate(call.getNodes()))
    if (auto info = HostNodeInfo::from(node); info && i < kNamed)
      text += (i ? ", " : "") + info->name;
  text += call.getNodes().size() > kNamed ? ", ...); " : "); ";
  text += std::to_string(in) + " bytes in, " + std::to_string(out) + " out";
  remark::passed(
      call.getLoc(),
      remark::RemarkOpts::name("host-segment").category("npu-partition"))
      << text;
}

LogicalResult Partitioner::run() {
  collect();
  if (llvm::none_of(ops, [](Operation *op) { return isa<HostCallOp>(op); }))
    return success();
  Phases phases = assignPhases(nodes);
  reorder(phases);
  for (size_t phase = 0; phase < phases.places.size(); ++phase) {
    if (phases.places[phase] != Place::kHost)
      continue;
    SmallVector<Operation *> members;
    for (auto [i, op] : llvm::enumerate(ops))
      if (phases.phase[i] == int(phase))
        members.push_back(op);
    if (failed(buildSegment(members)))
      return failure();
  }
  return success();
}

struct NpuPartition : impl::NpuPartitionPassBase<NpuPartition> {
  using NpuPartitionPassBase::NpuPartitionPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration() || !function.getBody().hasOneBlock())
      return;
    if (failed(Partitioner(function, move).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace npu
