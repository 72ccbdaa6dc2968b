//===- Prefetch.cc - cmdq-prefetch ----------------------------------------===//

#include "passes/scheduling/Passes.h"

#include "dialects/cmdq/Encode.h"
#include "dialects/npu/NPU.h"
#include "passes/memory/Placement.h"
#include "runtime/queue/hazards.h"

#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_CMDQPREFETCHPASS
#include "passes/scheduling/Passes.h.inc"

namespace {

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() *
         rt::sizeOf(*cmdq::toDType(type.getElementType()));
}

/// Bytes of a buffer's place in memory.
int64_t sizeOf(Value root) {
  return llvm::alignTo(bytesOf(cast<MemRefType>(root.getType())),
                       kBufferAlignment);
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
  Prefetcher(cmdq::ProgramOp program, int64_t lookahead, int64_t limit,
             int64_t capacity)
      : program(program), lookahead(lookahead), limit(limit),
        capacity(capacity) {}

  LogicalResult run();

private:
  LogicalResult collect();
  void findLives();
  void countLiveBytes();
  void hoistAll();
  void hoist(size_t index);
  struct Arena {
    std::vector<PlacedBuffer> buffers;
    std::vector<Value> roots;
  };
  using Arenas = llvm::MapVector<uint32_t, Arena>;
  Arenas arenas();
  void pinAround(const Arena &arena);
  bool settled();
  bool isLoad(const Step &step) const;
  void rebuild();
  void emit(Operation *op);

  cmdq::ProgramOp program;
  int64_t lookahead;
  int64_t limit;               ///< of the bytes that live at once
  int64_t capacity;            ///< of an SRAM
  std::vector<Step> steps;     ///< in the order of the program
  std::vector<uint32_t> order; ///< indices of steps, the new order
  llvm::MapVector<Value, SmallVector<uint32_t>> users; ///< of SRAM buffers
  bool fits = false;      ///< all buffers find a place
  DenseSet<Value> pinned; ///< buffers whose loads stay where they are
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

void Prefetcher::findLives() {
  for (auto [i, step] : llvm::enumerate(steps))
    for (Value operand : step.op->getOperands()) {
      Value root = cmdq::rootBuffer(operand);
      if (!root.getDefiningOp<cmdq::AllocOp>() ||
          cmdq::spaceOf(root) != cmdq::SpaceKind::Sram)
        continue;
      auto &list = users[root];
      if (list.empty() && isLoad(step))
        step.fills = root;
      list.push_back(i);
    }
}

/// Fills in Step::live for the order of the program.
void Prefetcher::countLiveBytes() {
  DenseMap<uint32_t, std::vector<int64_t>> changes;
  for (auto &[root, list] : users) {
    auto alloc = root.getDefiningOp<cmdq::AllocOp>();
    auto &change = changes[alloc.getCore()];
    change.resize(steps.size() + 1);
    change[list.front()] += sizeOf(root);
    change[list.back() + 1] -= sizeOf(root);
  }
  for (auto &[core, change] : changes) {
    int64_t sum = 0;
    for (auto [i, step] : llvm::enumerate(steps)) {
      sum += change[i];
      if (step.command && step.encoded.core == core)
        step.live = sum;
    }
  }
}

/// Moves the load at `index` of the order up as far as it may go.
void Prefetcher::hoist(size_t index) {
  Step &load = steps[order[index]];
  int64_t bytes = load.fills ? sizeOf(load.fills) : 0;
  int64_t passed = 0;
  size_t to = index;
  for (size_t place = index; place > 0; --place) {
    const Step &other = steps[order[place - 1]];
    if (!other.command || rt::conflict(load.encoded, other.encoded))
      break;
    if (other.encoded.core == load.encoded.core) {
      if (other.live + bytes > limit)
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
  load.live = bytes;
  for (size_t i = to; i < index; ++i) {
    Step &other = steps[order[i]];
    if (other.encoded.core != load.encoded.core)
      continue;
    other.live += bytes;
    load.live = std::max(load.live, other.live);
  }
  auto begin = order.begin();
  std::rotate(begin + static_cast<int64_t>(to),
              begin + static_cast<int64_t>(index),
              begin + static_cast<int64_t>(index) + 1);
}

void Prefetcher::hoistAll() {
  order.resize(steps.size());
  std::iota(order.begin(), order.end(), 0);
  countLiveBytes();
  for (size_t i = 0; i < steps.size(); ++i)
    if (isLoad(steps[i]) && !pinned.contains(steps[i].fills))
      hoist(i);
}

/// The SRAM buffers of each core with their lives in the new order, listed as
/// cmdq-plan-memory will find them, so that it comes to the same places.
Prefetcher::Arenas Prefetcher::arenas() {
  std::vector<int64_t> position(steps.size());
  for (auto [place, index] : llvm::enumerate(order))
    position[index] = static_cast<int64_t>(place);
  Arenas result;
  DenseSet<Value> seen;
  for (uint32_t index : order)
    for (Value operand : steps[index].op->getOperands()) {
      Value root = cmdq::rootBuffer(operand);
      auto list = users.find(root);
      if (list == users.end() || !seen.insert(root).second)
        continue;
      int64_t first = position[index], last = first;
      for (uint32_t user : list->second)
        last = std::max(last, position[user]);
      auto bytes = bytesOf(cast<MemRefType>(root.getType()));
      Arena &arena = result[root.getDefiningOp<cmdq::AllocOp>().getCore()];
      arena.buffers.push_back({bytes, first, last, 0});
      arena.roots.push_back(root);
    }
  return result;
}

/// Pins the loads of all buffers that live together with one that is placed
/// above the capacity.
void Prefetcher::pinAround(const Arena &arena) {
  for (const PlacedBuffer &high : arena.buffers)
    if (high.offset + high.bytes > capacity)
      for (auto [other, root] : llvm::zip(arena.buffers, arena.roots))
        if (other.first <= high.last && high.first <= other.last)
          pinned.insert(root);
}

/// Live bytes are an estimate: the buffers must also find a place. Pins the
/// loads at times when they do not. True if the order is good as it is or will
/// never be; `fits` tells which.
bool Prefetcher::settled() {
  size_t before = pinned.size();
  SmallVector<Arena> full;
  for (auto &[core, arena] : arenas()) {
    if (placeBuffers(arena.buffers, capacity, /*quick=*/true) <= capacity)
      continue;
    pinAround(arena);
    full.push_back(arena);
  }
  if (pinned.size() > before)
    return false;
  fits = llvm::all_of(full, [&](Arena &arena) {
    return placeBuffers(arena.buffers, capacity) <= capacity;
  });
  return true;
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
  for (uint32_t index : order)
    emit(steps[index].op);
  // What no command uses went to the front.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!emitted.contains(&op))
      op.moveBefore(&block, block.end());
}

LogicalResult Prefetcher::run() {
  if (failed(collect()))
    return failure();
  findLives();
  // Less ambitious where the SRAM is too fragmented; in the end not at all.
  for (; lookahead > 0 && !fits; lookahead /= 2) {
    pinned.clear();
    do
      hoistAll();
    while (!settled());
  }
  if (!fits)
    return success();
  rebuild();
  return success();
}

struct CmdqPrefetch : impl::CmdqPrefetchPassBase<CmdqPrefetch> {
  using CmdqPrefetchPassBase::CmdqPrefetchPassBase;

  void runOnOperation() override {
    target::Target target = targetOf(getOperation());
    if (target.unified() || lookahead <= 0)
      return;
    int64_t capacity = target.memory.sram_bytes;
    int64_t limit =
        capacity / 100 * (100 - std::clamp<int64_t>(margin, 0, 100));
    for (auto program : getOperation().getOps<cmdq::ProgramOp>())
      if (failed(Prefetcher(program, lookahead, limit, capacity).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace npu
