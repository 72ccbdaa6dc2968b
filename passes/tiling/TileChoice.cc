//===- TileChoice.cc - Which tile of an operator --------------------------===//

#include "passes/tiling/TileChoice.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace npu {

using rt::DType;
using rt::Opcode;
using rt::Space;
using target::Workload;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

int64_t elementBytes(Value tensor) {
  Type element = elementOf(tensor);
  if (auto quantised = dyn_cast<quant::QuantizedType>(element))
    return ceilDiv(quantised.getStorageTypeIntegralWidth(), 8);
  return ceilDiv(element.getIntOrFloatBitWidth(), 8);
}

int64_t bytesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements() *
         elementBytes(tensor);
}

static DType dtypeOf(Value tensor) {
  Type element = elementOf(tensor);
  if (element.isF32())
    return DType::kF32;
  if (element.isF16())
    return DType::kF16;
  switch (elementBytes(tensor)) {
  case 1:
    return DType::kI8;
  case 2:
    return DType::kI16;
  case 8:
    return DType::kI64;
  default:
    return DType::kI32;
  }
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

static Opcode opcodeOf(Operation *op) {
  return TypeSwitch<Operation *, Opcode>(op)
      .Case<Conv2DOp, FullyConnectedOp>([](auto) { return Opcode::kConv2d; })
      .Case([](DepthwiseConv2DOp) { return Opcode::kDepthwiseConv2d; })
      .Case([](MatMulOp) { return Opcode::kMatmul; })
      .Case([](VectorMacOp) { return Opcode::kVectorMac; })
      .Case([](RescaleOp) { return Opcode::kRequantize; })
      .Case<MaxPool2DOp, AvgPool2DOp>([](auto) { return Opcode::kPool2d; })
      .Case<ReduceMeanOp, ReduceSumOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
          [](auto) { return Opcode::kReduce; })
      .Case([](SoftmaxOp) { return Opcode::kSoftmax; })
      .Case([](ArgMaxOp) { return Opcode::kArgMax; })
      .Case([](GatherOp) { return Opcode::kGather; })
      .Case([](ResizeOp) { return Opcode::kResize2d; })
      .Case<CastOp, QuantizeOp, DequantizeOp>(
          [](auto) { return Opcode::kConvert; })
      .Case<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, PowOp, PReluOp>(
          [](auto) { return Opcode::kBinary; })
      .Case<RemOp, ModOp, AndOp, OrOp, XorOp, ShlOp, ShrOp>(
          [](auto) { return Opcode::kBinary; })
      .Case<EqualOp, LessOp, LessEqualOp>(
          [](auto) { return Opcode::kCompare; })
      .Case([](SelectOp) { return Opcode::kSelect; })
      .Default([](Operation *op) {
        return dtypeOf(op->getOperand(0)) == DType::kI8 ? Opcode::kLut
                                                        : Opcode::kUnary;
      });
}

/// The command that computes one tile, with operands in SRAM.
static Workload workloadOf(Operation *op, const Tile &result,
                           const TileNeeds &needs) {
  Workload w;
  w.opcode = opcodeOf(op);
  w.type = dtypeOf(op->getOperand(0));
  w.output = dtypeOf(op->getResult(0));
  w.outputs = result.elements();
  w.reads = needs.operands[0].elements();
  w.traffic[Space::kSram] = w.outputs * elementBytes(op->getResult(0));
  for (auto [operand, tile] : llvm::zip(op->getOperands(), needs.operands))
    w.traffic[Space::kSram] += tile.elements() * elementBytes(operand);
  auto window = [&](int64_t kh, int64_t kw, int64_t groups) {
    w.batch = result.sizes[0];
    w.out_h = result.sizes[1];
    w.out_w = result.sizes[2];
    w.oc = result.sizes[3];
    w.ic = needs.operands[0].sizes[3];
    w.kernel_h = kh;
    w.kernel_w = kw;
    w.groups = groups;
  };
  TypeSwitch<Operation *>(op)
      .Case([&](Conv2DOp conv) {
        auto filter = cast<RankedTensorType>(conv.getFilter().getType());
        int64_t icPerGroup = filter.getDimSize(3);
        window(filter.getDimSize(1), filter.getDimSize(2),
               std::max<int64_t>(1, needs.operands[0].sizes[3] / icPerGroup));
        w.residual = static_cast<bool>(conv.getResidual());
      })
      .Case([&](DepthwiseConv2DOp conv) {
        auto filter = cast<RankedTensorType>(conv.getFilter().getType());
        window(filter.getDimSize(0), filter.getDimSize(1), result.sizes[3]);
        w.residual = static_cast<bool>(conv.getResidual());
      })
      .Case([&](FullyConnectedOp fc) {
        w.oc = result.sizes.back();
        w.ic = needs.operands[0].sizes.back();
        w.out_w = w.outputs / w.oc;
        w.residual = static_cast<bool>(fc.getResidual());
      })
      .Case([&](MatMulOp) {
        w.oc = result.sizes.back();
        w.out_w = result.sizes[result.sizes.size() - 2];
        w.ic = needs.operands[0].sizes.back();
        w.batch = w.outputs / (w.oc * w.out_w);
      })
      .Case<MaxPool2DOp, AvgPool2DOp>([&](auto pool) {
        w.reads = w.outputs * pool.getKernel()[0] * pool.getKernel()[1];
      })
      .Case<ResizeOp, GatherOp>([&](auto) { w.reads = w.outputs; });
  return w;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

TileSearch::TileSearch(const target::Target &target, Operation *op,
                       int64_t cores)
    : target(target), op(op), cores(cores) {
  ArrayRef<int64_t> dims =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  shape.assign(dims.begin(), dims.end());
  sizesToTry = candidates();
}

/// Sizes that cut `size` into 1, 2, 3, .. nearly equal pieces, rounded up to
/// `block`; largest first.
static SmallVector<int64_t> cuts(int64_t size, int64_t block) {
  SmallVector<int64_t> sizes;
  for (int64_t pieces = 1; pieces <= size;
       pieces += std::max<int64_t>(1, pieces / 6)) {
    int64_t piece = ceilDiv(size, pieces);
    piece = std::min(size, ceilDiv(piece, block) * block);
    if (sizes.empty() || piece < sizes.back())
      sizes.push_back(piece);
  }
  // Below a block only when nothing else fits.
  for (int64_t piece = block / 2; piece >= 1; piece /= 2)
    if (piece < sizes.back())
      sizes.push_back(piece);
  return sizes;
}

static bool isMatrixOp(Operation *op) {
  return isa<Conv2DOp, DepthwiseConv2DOp, FullyConnectedOp, MatMulOp>(op);
}

/// All but the channels are cut from the outside in: an inner dimension only
/// when the outer ones are down to 1. Channels (the last dimension) are cut
/// independently.
std::vector<SmallVector<int64_t, 4>> TileSearch::candidates() {
  std::vector<SmallVector<int64_t, 4>> list;
  int64_t rank = shape.size();
  if (rank == 0)
    return {{}};
  SmallVector<bool> undivided = undividedDims(op);
  SmallVector<int64_t> channels;
  if (undivided.back())
    channels.push_back(shape.back());
  else
    channels = cuts(
        shape.back(),
        isMatrixOp(op) ? std::max<int64_t>(1, target.matrix.block_oc) : 16);
  std::vector<SmallVector<int64_t, 4>> outer;
  SmallVector<int64_t, 4> current(shape);
  outer.push_back(current);
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    if (undivided[dim])
      continue;
    for (int64_t size : cuts(shape[dim], 1)) {
      if (size == shape[dim])
        continue;
      current[dim] = size;
      outer.push_back(current);
    }
    current[dim] = 1;
  }
  for (int64_t size : channels)
    for (SmallVector<int64_t, 4> sizes : outer) {
      sizes.back() = size;
      list.push_back(sizes);
    }
  return list;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Length of the contiguous runs of a box of a dense tensor, in elements.
static int64_t runOf(const Tile &tile, ArrayRef<int64_t> shape) {
  int64_t run = 1;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    run *= tile.sizes[i];
    if (tile.sizes[i] != shape[i])
      break;
  }
  return run;
}

/// Operands that commands read from the weight section itself.
static bool isAuxiliary(Operation *op, unsigned operand) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<Conv2DOp, DepthwiseConv2DOp, FullyConnectedOp, RescaleOp>(
          [&](auto op) { return op->getOperand(operand) == op.getBias(); })
      .Default(false);
}

std::optional<TileChoice> TileSearch::evaluate(ArrayRef<int64_t> sizes,
                                               bool channelsOuter,
                                               bool doubleBuffered,
                                               const Placement &placement) {
  int64_t rank = shape.size();
  TileChoice choice;
  choice.doubleBuffered = doubleBuffered;
  choice.sizes.assign(sizes.begin(), sizes.end());
  for (int64_t i = 0; i < rank; ++i)
    choice.order.push_back(channelsOuter ? (i + rank - 1) % rank : i);
  SmallVector<int64_t, 4> counts;
  for (int64_t i = 0; i < rank; ++i) {
    counts.push_back(ceilDiv(shape[i], sizes[i]));
    choice.tiles *= counts.back();
  }
  // A tile from the middle, which has halos on both sides.
  auto tileAt = [&](ArrayRef<int64_t> index) {
    Tile tile;
    for (int64_t i = 0; i < rank; ++i) {
      tile.offsets.push_back(index[i] * sizes[i]);
      tile.sizes.push_back(std::min(sizes[i], shape[i] - index[i] * sizes[i]));
    }
    return tile;
  };
  SmallVector<int64_t, 4> middle;
  for (int64_t count : counts)
    middle.push_back(std::min<int64_t>(1, count - 1) - (count == 2 ? 1 : 0));
  Tile result = tileAt(middle);
  FailureOr<TileNeeds> needs = tileNeeds(op, result);
  if (failed(needs))
    return std::nullopt;

  // Which loops change which operand.
  unsigned operands = op->getNumOperands();
  SmallVector<SmallVector<bool, 4>, 4> changes(operands,
                                               SmallVector<bool, 4>(rank));
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (counts[dim] == 1)
      continue;
    SmallVector<int64_t, 4> next = middle;
    next[dim] =
        middle[dim] + 1 < counts[dim] ? middle[dim] + 1 : middle[dim] - 1;
    FailureOr<TileNeeds> other = tileNeeds(op, tileAt(next));
    if (failed(other))
      return std::nullopt;
    for (unsigned k = 0; k < operands; ++k)
      changes[k][dim] = !(needs->operands[k] == other->operands[k]);
  }

  int64_t usedCores = std::min(cores, choice.tiles);
  double dmaIn = 0, dmaOut = 0;
  for (unsigned k = 0; k < operands; ++k) {
    Value operand = op->getOperand(k);
    if (isAuxiliary(op, k) || placement.operands[k])
      continue;
    // The operand stays while only loops inside its innermost one advance.
    int64_t loads = 1, iterations = 1;
    for (int64_t dim : choice.order) {
      iterations *= counts[dim];
      if (changes[k][dim])
        loads = iterations;
    }
    int64_t bytes = needs->operands[k].elements() * elementBytes(operand);
    choice.sramBytes += bytes * (loads > 1 && doubleBuffered ? 2 : 1);
    loads = std::max(loads, usedCores);
    choice.dmaBytes += loads * bytes;
    bool constant = operand.getDefiningOp<ConstantOp>() != nullptr;
    int64_t run = runOf(needs->operands[k],
                        cast<RankedTensorType>(operand.getType()).getShape()) *
                  elementBytes(operand);
    dmaIn += static_cast<double>(loads) *
             target::cost(target, target::dmaWorkload(constant ? Space::kConst
                                                               : Space::kDram,
                                                      Space::kSram, bytes, run))
                 .cycles();
  }
  if (!placement.result) {
    Value value = op->getResult(0);
    int64_t bytes = result.elements() * elementBytes(value);
    choice.sramBytes += bytes * (choice.tiles > 1 && doubleBuffered ? 2 : 1);
    choice.dmaBytes += bytesOf(value);
    dmaOut =
        static_cast<double>(choice.tiles) *
        target::cost(target, target::dmaWorkload(
                                 Space::kSram, Space::kDram, bytes,
                                 runOf(result, shape) * elementBytes(value)))
            .cycles();
  }
  double compute =
      static_cast<double>(choice.tiles) *
      target::cost(target, workloadOf(op, result, *needs)).cycles();
  // Cores share the work; the DRAM's bandwidth does not grow with them.
  auto spread = static_cast<double>(usedCores);
  double rounds = static_cast<double>(ceilDiv(choice.tiles, usedCores)) *
                  spread / static_cast<double>(choice.tiles);
  double shared = static_cast<double>(choice.dmaBytes) /
                  std::max(1e-9, target.memory.dram_bytes_per_cycle);
  compute = compute * rounds / spread;
  dmaIn = dmaIn * rounds / spread;
  dmaOut = dmaOut * rounds / spread;
  // A pipeline of tiles: the slowest stage, and one tile of the others. The
  // last term breaks ties in favour of fewer commands.
  double perCore = static_cast<double>(ceilDiv(choice.tiles, usedCores));
  choice.cycles = doubleBuffered ? std::max({compute, dmaIn, dmaOut, shared}) +
                                       (dmaIn + dmaOut) / perCore
                                 : std::max(compute + dmaIn + dmaOut, shared);
  choice.cycles += perCore * 2 * target.matrix.command_cycles;
  return choice;
}

std::optional<TileChoice> TileSearch::best(int64_t budget,
                                           const Placement &placement) {
  std::optional<TileChoice> best;
  for (bool doubleBuffered : {true, false}) {
    for (const auto &sizes : sizesToTry)
      for (bool channelsOuter : {false, true}) {
        auto choice = evaluate(sizes, channelsOuter, doubleBuffered, placement);
        if (!choice || choice->sramBytes > budget)
          continue;
        if (!best || choice->cycles < best->cycles)
          best = choice;
      }
    if (best)
      break;
  }
  return best;
}

int64_t TileSearch::smallest(const Placement &placement, bool doubleBuffered) {
  int64_t bytes = std::numeric_limits<int64_t>::max();
  for (const auto &sizes : sizesToTry)
    if (auto choice =
            evaluate(sizes, /*channelsOuter=*/false, doubleBuffered, placement))
      bytes = std::min(bytes, choice->sramBytes);
  return bytes;
}

} // namespace npu
