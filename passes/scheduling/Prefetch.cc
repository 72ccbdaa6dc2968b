//===- Prefetch.cc - cmdq-prefetch ----------------------------------------===//

#include "passes/scheduling/Passes.h"

#include "dialects/cmdq/Encode.h"
#include "dialects/npu/NPU.h"
#include "runtime/queue/hazards.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_CMDQPREFETCHPASS
#include "passes/scheduling/Passes.h.inc"

namespace {

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() *
         rt::sizeOf(*cmdq::toDType(type.getElementType()));
}

/// A command (or host call) at its place in the order.
struct Step {
  Operation *op = nullptr;
  bool command = false;
  rt::Command encoded{};
  int64_t live = 0; ///< SRAM bytes of its core while it runs
  /// Of a load: the buffer that it is the first to touch, or null.
  Value fills;
};

/// Commands in program order; loads are moved up within it. Buffers have an
/// address each of their own, so that conflicts are those of the program and
/// not of a plan.
class Prefetcher {
public:
  Prefetcher(cmdq::ProgramOp program, int64_t lookahead, int64_t capacity)
      : program(program), lookahead(lookahead), capacity(capacity) {}

  LogicalResult run();

private:
  LogicalResult collect();
  void countLiveBytes();
  void hoist(size_t index);
  bool isLoad(const Step &step) const;
  void rebuild();
  void emit(Operation *op);

  cmdq::ProgramOp program;
  int64_t lookahead, capacity;
  std::vector<Step> steps;
  DenseMap<Value, cmdq::Address> addresses;
  DenseSet<Operation *> emitted;
};

bool isCompute(const Step &step) {
  return step.encoded.engine == rt::Engine::kMatrix ||
         step.encoded.engine == rt::Engine::kVector;
}

bool Prefetcher::isLoad(const Step &step) const {
  return step.command && step.encoded.opcode == rt::Opcode::kDma &&
         step.encoded.engine == rt::Engine::kDmaIn &&
         step.encoded.operands[0].space == rt::Space::kSram;
}

LogicalResult Prefetcher::collect() {
  int64_t end = 0;
  for (Operation &op : program.getBody().front()) {
    if (isa<cmdq::BufferOp>(op))
      return op.emitOpError("has an address already; run cmdq-prefetch before "
                            "cmdq-plan-memory");
    if (isa<cmdq::AllocOp, cmdq::ConstantOp, cmdq::IoOp>(op)) {
      auto type = cast<MemRefType>(op.getResult(0).getType());
      auto bound = dyn_cast<cmdq::IoOp>(op);
      addresses[op.getResult(0)] = {
          static_cast<rt::Space>(cmdq::spaceOf(type)),
          bound ? static_cast<int>(bound.getIndex()) : 0, bound ? 0 : end};
      end = llvm::alignTo(end + bytesOf(type), 64);
    }
    auto command = dyn_cast<cmdq::CommandOpInterface>(op);
    if (!command && !isa<cmdq::HostCallOp>(op))
      continue;
    Step step;
    step.op = &op;
    step.command = bool(command);
    if (command)
      step.encoded = cmdq::encodeCommand(
          command, [&](Value root) { return addresses.lookup(root); });
    steps.push_back(step);
  }
  return success();
}

/// Fills in Step::live and Step::fills. A core's bytes do not change while
/// other cores run, so one list of steps serves all cores.
void Prefetcher::countLiveBytes() {
  struct Life {
    size_t first, last;
  };
  llvm::MapVector<Value, Life> lives;
  for (auto [i, step] : llvm::enumerate(steps))
    for (Value operand : step.op->getOperands()) {
      Value root = cmdq::rootBuffer(operand);
      if (!root.getDefiningOp<cmdq::AllocOp>() ||
          cmdq::spaceOf(root) != cmdq::SpaceKind::Sram)
        continue;
      auto [it, isNew] = lives.insert({root, Life{i, i}});
      it->second.last = i;
      if (isNew && isLoad(step))
        step.fills = root;
    }
  DenseMap<uint32_t, std::vector<int64_t>> changes;
  for (auto &[root, life] : lives) {
    auto alloc = root.getDefiningOp<cmdq::AllocOp>();
    auto &change = changes[alloc.getCore()];
    change.resize(steps.size() + 1);
    int64_t bytes = llvm::alignTo(bytesOf(alloc.getType()), 64);
    change[life.first] += bytes;
    change[life.last + 1] -= bytes;
  }
  DenseMap<uint32_t, int64_t> live;
  for (auto &[core, change] : changes) {
    int64_t sum = 0;
    for (auto [i, step] : llvm::enumerate(steps)) {
      sum += change[i];
      if (step.command && step.encoded.core == core)
        step.live = sum;
    }
  }
}

/// Moves the load at `index` up as far as it may go.
void Prefetcher::hoist(size_t index) {
  Step &load = steps[index];
  int64_t bytes = 0;
  if (load.fills)
    bytes = llvm::alignTo(bytesOf(cast<MemRefType>(load.fills.getType())), 64);
  int64_t passed = 0;
  size_t place = index, to = index;
  for (; place > 0; --place) {
    const Step &other = steps[place - 1];
    if (!other.command || rt::conflict(load.encoded, other.encoded))
      break;
    if (other.encoded.core == load.encoded.core) {
      if (other.live + bytes > capacity)
        break;
      if (isCompute(other) && ++passed > lookahead)
        break;
    }
    // Overtaking nothing but other loads gains nothing.
    if (other.encoded.engine != rt::Engine::kDmaIn)
      to = place - 1;
  }
  if (to == index)
    return;
  int64_t before = steps[to].live;
  for (size_t i = to; i < index; ++i) {
    Step &other = steps[i];
    if (other.encoded.core == load.encoded.core)
      other.live += bytes;
    before = std::max(before, other.live);
  }
  load.live = before;
  std::rotate(steps.begin() + static_cast<int64_t>(to),
              steps.begin() + static_cast<int64_t>(index),
              steps.begin() + static_cast<int64_t>(index) + 1);
}

/// Moves `op`, after what it needs, to the end of the new order.
void Prefetcher::emit(Operation *op) {
  if (!emitted.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp())
      emit(definition);
  Block &block = program.getBody().front();
  op->moveBefore(&block, block.end());
}

void Prefetcher::rebuild() {
  Block &block = program.getBody().front();
  SmallVector<Operation *> others;
  for (Operation &op : block)
    if (isa<cmdq::IoOp, cmdq::ConstantOp>(op))
      others.push_back(&op);
  for (Operation *op : others)
    emit(op);
  for (const Step &step : steps)
    emit(step.op);
  // What no command uses went to the front.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!emitted.contains(&op))
      op.moveBefore(&block, block.end());
}

LogicalResult Prefetcher::run() {
  if (failed(collect()))
    return failure();
  countLiveBytes();
  for (size_t i = 0; i < steps.size(); ++i)
    if (isLoad(steps[i]))
      hoist(i);
  rebuild();
  return success();
}

struct CmdqPrefetch : impl::CmdqPrefetchPassBase<CmdqPrefetch> {
  using CmdqPrefetchPassBase::CmdqPrefetchPassBase;

  void runOnOperation() override {
    target::Target target = targetOf(getOperation());
    if (target.unified() || lookahead <= 0)
      return;
    int64_t capacity = target.memory.sram_bytes / 100 *
                       (100 - std::clamp<int64_t>(margin, 0, 100));
    for (auto program : getOperation().getOps<cmdq::ProgramOp>())
      if (failed(Prefetcher(program, lookahead, capacity).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace npu
