//===- Residency.cc - Tensors that stay in SRAM ---------------------------===//

#include "passes/tiling/Residency.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

static bool isView(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, SplitOp, StorageCastOp,
             BroadcastToOp>(op);
}

int Residency::newBuffer(Value value, bool eligible) {
  Buffer buffer;
  buffer.owner = value.getDefiningOp();
  buffer.bytes = bytesOf(value);
  buffer.eligible = eligible;
  list.push_back(buffer);
  int index = list.size() - 1;
  buffers[value] = index;
  return index;
}

/// As the lowering does: results that are returned or are pieces of others are
/// written in place.
void Residency::planBackwards(Operation &op) {
  auto assign = [&](Value value, int buffer) {
    Operation *producer = value.getDefiningOp();
    if (producer && !isa<ConstantOp>(producer))
      buffers.try_emplace(value, buffer);
  };
  auto own = [&](Value value) {
    int buffer = bufferOf(value);
    return buffer >= 0 ? buffer : newBuffer(value, /*eligible=*/true);
  };
  TypeSwitch<Operation *>(&op)
      .Case([&](func::ReturnOp op) {
        for (Value value : op.getOperands())
          if (value.getDefiningOp() && bufferOf(value) < 0)
            newBuffer(value, /*eligible=*/false);
      })
      .Case([&](ConcatOp op) {
        int buffer = own(op.getOutput());
        for (Value input : op.getInputs())
          assign(input, buffer);
      })
      .Case([&](PadOp op) { assign(op.getInput(), own(op.getOutput())); })
      .Case<TransposeOp, ReshapeOp, StorageCastOp>([&](auto op) {
        int buffer = bufferOf(op.getOutput());
        if (buffer >= 0)
          assign(op.getInput(), buffer);
      })
      .Case([&](VectorMacOp op) {
        if (op.getAccumulator() && op.getAccumulator().hasOneUse())
          assign(op.getAccumulator(), own(op.getOutput()));
      })
      .Case([&](HostCallOp op) {
        for (Value value : op.getOutputs())
          if (bufferOf(value) < 0)
            newBuffer(value, /*eligible=*/false);
      });
}

void Residency::touch(int buffer, int index) {
  if (buffer < 0)
    return;
  Buffer &b = list[buffer];
  if (b.first < 0)
    b.first = index;
  b.last = std::max(b.last, index);
}

Residency::Residency(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (Operation &op : llvm::reverse(block))
    planBackwards(op);
  int index = 0;
  for (Operation &op : block) {
    numbers[&op] = index;
    for (Value operand : op.getOperands())
      touch(bufferOf(operand), index);
    for (Value result : op.getResults()) {
      if (isa<ConstantOp>(op))
        continue;
      if (bufferOf(result) < 0 && isView(&op)) {
        // A view lives as long as what it looks at.
        int source = bufferOf(op.getOperand(0));
        if (source >= 0)
          buffers[result] = source;
        continue;
      }
      if (bufferOf(result) < 0)
        newBuffer(result,
                  isTileable(&op) || isa<DepthToSpaceOp, SpaceToDepthOp>(op));
      touch(bufferOf(result), index);
    }
    ++index;
  }
  residentBytes.assign(index, 0);
}

void Residency::choose(int64_t capacity,
                       function_ref<int64_t(Operation *)> workingSet) {
  std::vector<int64_t> work(numbers.size(), 0);
  for (auto [op, number] : numbers)
    work[number] = workingSet(op);
  SmallVector<int> order;
  for (int i = 0, e = list.size(); i < e; ++i)
    if (list[i].eligible && list[i].last > list[i].first)
      order.push_back(i);
  auto length = [&](int i) { return list[i].last - list[i].first; };
  llvm::sort(order, [&](int a, int b) {
    return std::make_tuple(length(a), -list[a].bytes, a) <
           std::make_tuple(length(b), -list[b].bytes, b);
  });
  for (int i : order) {
    Buffer &buffer = list[i];
    bool fits = true;
    for (int n = buffer.first; n <= buffer.last && fits; ++n)
      fits = residentBytes[n] + buffer.bytes + work[n] <= capacity;
    if (!fits)
      continue;
    buffer.resident = true;
    for (int n = buffer.first; n <= buffer.last; ++n)
      residentBytes[n] += buffer.bytes;
  }
}

Placement Residency::placementOf(Operation *op) const {
  auto resident = [&](Value value) {
    int buffer = bufferOf(value);
    return buffer >= 0 && list[buffer].resident;
  };
  Placement placement;
  for (Value operand : op->getOperands())
    placement.operands.push_back(resident(operand));
  placement.result = op->getNumResults() == 1 && resident(op->getResult(0));
  return placement;
}

int64_t Residency::bytesAt(Operation *op) const {
  return residentBytes[numbers.lookup(op)];
}

SmallVector<Operation *> Residency::owners() const {
  SmallVector<Operation *> operations;
  for (const Buffer &buffer : list)
    if (buffer.resident)
      operations.push_back(buffer.owner);
  return operations;
}

} // namespace npu
