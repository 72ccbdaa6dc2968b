//===- PlanMemory.cc - cmdq-plan-memory -----------------------------------===//

#include "passes/memory/Passes.h"

#include "dialects/cmdq/Encode.h"
#include "dialects/npu/NPU.h"
#include "passes/memory/Constants.h"
#include "passes/memory/Placement.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_CMDQPLANMEMORYPASS
#include "passes/memory/Passes.h.inc"

namespace {

using cmdq::SpaceKind;

/// One memory (the DRAM, or the SRAM of a core) and the buffers in it.
struct Arena {
  std::vector<PlacedBuffer> buffers;
  SmallVector<cmdq::AllocOp> allocs;
};
constexpr int kDramArena = -1;

class Planner {
public:
  Planner(cmdq::ProgramOp program, target::Target target, int64_t slack)
      : program(program), target(std::move(target)), slack(slack) {}

  LogicalResult run();

private:
  LogicalResult collect();
  LogicalResult note(Operation *op, Value operand);
  LogicalResult placeSram(int core, Arena &arena);
  std::vector<PlacedBuffer> extended(const Arena &arena, ArrayRef<int64_t> mine,
                                     int64_t limit) const;
  int64_t placeWithSlack(int core, Arena &arena, int64_t capacity);
  void adopt(const Arena &arena);
  cmdq::Address addressOf(Value root) const;
  void rewrite();
  Value bufferFor(OpBuilder &b, Value operand);
  std::string layerAt(int64_t time) const;

  cmdq::ProgramOp program;
  target::Target target;
  int64_t slack;
  SmallVector<Operation *> steps; ///< commands and host calls; index is time
  llvm::MapVector<int, Arena> arenas;
  DenseMap<Value, std::pair<int, int>> indices; ///< arena, buffer in it
  DenseMap<Value, int64_t> offsets;             ///< of the allocs
  DenseMap<std::tuple<int64_t, int64_t, Type>, Value> planned;
  bool isPlanned = false, isVirtual = false;
};

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() *
         rt::sizeOf(*cmdq::toDType(type.getElementType()));
}

LogicalResult Planner::note(Operation *op, Value operand) {
  Value root = cmdq::rootBuffer(operand);
  if (!isa_and_nonnull<cmdq::AllocOp, cmdq::ConstantOp, cmdq::IoOp,
                       cmdq::BufferOp>(root.getDefiningOp()))
    return op->emitOpError("operand ")
           << operand.getType()
           << " is no view of a cmdq.alloc, cmdq.constant or cmdq.io";
  isPlanned |= bool(root.getDefiningOp<cmdq::BufferOp>());
  auto alloc = root.getDefiningOp<cmdq::AllocOp>();
  isVirtual |= !root.getDefiningOp<cmdq::BufferOp>();
  if (!alloc)
    return success();
  bool sram = cmdq::spaceOf(alloc.getType()) == SpaceKind::Sram;
  auto command = dyn_cast<cmdq::CommandOpInterface>(op);
  if (sram && (!command || command.getCore() != alloc.getCore()))
    return op->emitOpError("cannot reach the SRAM of core ")
           << alloc.getCore()
           << (command ? "; a command uses the SRAM of its own core only"
                       : "; host segments use DRAM");
  int arenaIndex = sram ? static_cast<int>(alloc.getCore()) : kDramArena;
  Arena &arena = arenas[arenaIndex];
  auto time = static_cast<int64_t>(steps.size());
  auto [it, isNew] = indices.try_emplace(
      root, arenaIndex, static_cast<int>(arena.buffers.size()));
  if (isNew) {
    arena.buffers.push_back({bytesOf(alloc.getType()), time, time, 0});
    arena.allocs.push_back(alloc);
  }
  arena.buffers[it->second.second].last = time;
  return success();
}

LogicalResult Planner::collect() {
  for (Operation &op : program.getBody().front()) {
    if (!isa<cmdq::CommandOpInterface, cmdq::HostCallOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (failed(note(&op, operand)))
        return failure();
    steps.push_back(&op);
  }
  if (isPlanned && isVirtual)
    return program.emitError("mixes planned and unplanned buffers; plan the "
                             "memory of a program once");
  return success();
}

std::string Planner::layerAt(int64_t time) const {
  if (auto command = dyn_cast<cmdq::CommandOpInterface>(steps[time]))
    if (auto layer = command.getLayer())
      return layer->str();
  std::string name = nodeName(steps[time]->getLoc());
  return name.empty() ? "(without name)" : name;
}

/// Lifetimes with up to `slack` more commands of the core after the last use,
/// as long as no more than `limit` bytes live: what takes a buffer's place then
/// need not wait for other engines.
std::vector<PlacedBuffer> Planner::extended(const Arena &arena,
                                            ArrayRef<int64_t> mine,
                                            int64_t limit) const {
  // In numbers of the core's commands, so that the lists are short.
  std::vector<PlacedBuffer> buffers = arena.buffers;
  auto size = static_cast<int64_t>(mine.size());
  std::vector<int64_t> live(size + 1, 0);
  for (PlacedBuffer &buffer : buffers) {
    buffer.first = llvm::lower_bound(mine, buffer.first) - mine.begin();
    buffer.last = llvm::lower_bound(mine, buffer.last) - mine.begin();
    live[buffer.first] += llvm::alignTo(buffer.bytes, kBufferAlignment);
    live[buffer.last + 1] -= llvm::alignTo(buffer.bytes, kBufferAlignment);
  }
  for (int64_t i = 1; i < size; ++i)
    live[i] += live[i - 1];
  // One more command for all in turn, so that none takes all the room.
  for (int64_t step = 1; step <= slack; ++step)
    for (auto [buffer, original] : llvm::zip(buffers, arena.buffers)) {
      int64_t end = llvm::lower_bound(mine, original.last) - mine.begin();
      int64_t bytes = llvm::alignTo(buffer.bytes, kBufferAlignment);
      if (buffer.last != end + step - 1 || buffer.last + 1 >= size ||
          live[buffer.last + 1] + bytes > limit)
        continue;
      live[++buffer.last] += bytes;
    }
  return buffers;
}

int64_t Planner::placeWithSlack(int core, Arena &arena, int64_t capacity) {
  std::vector<int64_t> mine; // times of this core's commands
  for (auto [time, op] : llvm::enumerate(steps)) {
    auto command = dyn_cast<cmdq::CommandOpInterface>(op);
    if (command && static_cast<int>(command.getCore()) == core)
      mine.push_back(static_cast<int64_t>(time));
  }
  for (int64_t percent : {97, 92, 85, 75, 60}) {
    if (slack <= 0)
      break;
    std::vector<PlacedBuffer> buffers =
        extended(arena, mine, capacity / 100 * percent);
    int64_t peak = placeBuffers(buffers, capacity, /*quick=*/true);
    if (peak > capacity)
      continue;
    for (auto [buffer, other] : llvm::zip(arena.buffers, buffers))
      buffer.offset = other.offset;
    return peak;
  }
  return placeBuffers(arena.buffers, slack > 0 ? capacity : 0);
}

LogicalResult Planner::placeSram(int core, Arena &arena) {
  int64_t capacity = target.memory.sram_bytes;
  int64_t peak = placeWithSlack(core, arena, capacity);
  if (peak > capacity) {
    auto [live, time] = largestLiveBytes(arena.buffers);
    return steps[time]->emitError()
           << "layer '" << layerAt(time) << "' needs " << peak
           << " bytes of SRAM on core " << core << " (" << live
           << " of them live at once), but target '" << target.name << "' has "
           << capacity
           << "; run npu-tile with a larger sram-margin, or take a target with "
              "more SRAM";
  }
  program.setSramBytes(std::max<int64_t>(peak, program.getSramBytes().value()));
  return success();
}

void Planner::adopt(const Arena &arena) {
  for (auto [alloc, buffer] : llvm::zip(arena.allocs, arena.buffers))
    offsets[cmdq::AllocOp(alloc).getMemref()] = buffer.offset;
}

cmdq::Address Planner::addressOf(Value root) const {
  if (auto constant = root.getDefiningOp<cmdq::ConstantOp>())
    return {rt::Space::kConst, 0, static_cast<int64_t>(*constant.getOffset())};
  if (auto io = root.getDefiningOp<cmdq::IoOp>())
    return {rt::Space::kIo, static_cast<int>(io.getIndex()), 0};
  auto space = static_cast<rt::Space>(cmdq::spaceOf(root));
  return {space, 0, offsets.lookup(root)};
}

/// The view as a buffer of its own; one op for equal ones.
Value Planner::bufferFor(OpBuilder &b, Value operand) {
  Value root = cmdq::rootBuffer(operand);
  auto type = cast<MemRefType>(operand.getType());
  rt::Operand view = cmdq::encodeOperand(
      operand, [&](Value value) { return addressOf(value); });
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  auto layout = StridedLayoutAttr::get(type.getContext(), 0, strides);
  auto atZero = MemRefType::get(type.getShape(), type.getElementType(), layout,
                                type.getMemorySpace());
  auto dense =
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface{}, type.getMemorySpace());
  SmallVector<int64_t> denseStrides;
  (void)dense.getStridesAndOffset(denseStrides, offset);
  if (strides == denseStrides)
    atZero = dense;
  auto alloc = root.getDefiningOp<cmdq::AllocOp>();
  int64_t core = alloc ? alloc.getCore() : 0;
  int64_t unit = view.space == rt::Space::kIo ? view.io : core;
  Value &buffer = planned[{view.offset, unit, Type(atZero)}];
  if (!buffer)
    buffer = cmdq::BufferOp::create(b, root.getLoc(), atZero, view.offset,
                                    view.io, core);
  return buffer;
}

void Planner::rewrite() {
  Block &block = program.getBody().front();
  OpBuilder b(program.getContext());
  for (Operation *op : steps) {
    b.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(bufferFor(b, operand.get()));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<cmdq::AllocOp, ViewLikeOpInterface>(op) && op.use_empty())
      op.erase();
}

LogicalResult Planner::run() {
  if (failed(collect()))
    return failure();
  if (isPlanned)
    return success();
  program.setSramBytes(0);
  for (auto &[index, arena] : arenas)
    if (index != kDramArena && failed(placeSram(index, arena)))
      return failure();
  Arena &dram = arenas[kDramArena];
  program.setDramBytes(placeBuffers(dram.buffers));
  Builder b(program.getContext());
  program->setAttr("npu.dram_lower_bound",
                   b.getI64IntegerAttr(largestLiveBytes(dram.buffers).bytes));
  for (auto &[index, arena] : arenas)
    adopt(arena);
  // Views of constants that no command uses must not keep them.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isa<ViewLikeOpInterface>(op) && op.use_empty())
      op.erase();
  placeConstants(program);
  rewrite();
  return success();
}

struct CmdqPlanMemory : impl::CmdqPlanMemoryPassBase<CmdqPlanMemory> {
  using CmdqPlanMemoryPassBase::CmdqPlanMemoryPassBase;

  void runOnOperation() override {
    target::Target target = targetOf(getOperation());
    for (auto program : getOperation().getOps<cmdq::ProgramOp>())
      if (failed(Planner(program, target, slack).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace npu
