//===- TilePass.cc - npu-tile ---------------------------------------------===//

#include "passes/tiling/Passes.h"

#include "passes/tiling/Residency.h"
#include "passes/tiling/TileChoice.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUTILEPASS
#include "passes/tiling/Passes.h.inc"

namespace {

std::string join(ArrayRef<int64_t> list) {
  std::string text;
  for (int64_t value : list)
    text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

struct NpuTile : impl::NpuTilePassBase<NpuTile> {
  using NpuTilePassBase::NpuTilePassBase;

  void runOnOperation() override;

private:
  LogicalResult tile(Operation *op, const TileChoice &choice, int64_t cores);
  void say(Operation *op, const TileChoice &choice, int64_t budget);
};

void NpuTile::say(Operation *op, const TileChoice &choice, int64_t budget) {
  std::string text;
  llvm::raw_string_ostream(text)
      << nodeName(op->getLoc()) << ": " << choice.tiles << " tile(s) of "
      << join(choice.sizes) << " of "
      << join(cast<RankedTensorType>(op->getResult(0).getType()).getShape())
      << ", loops " << join(choice.order) << "; " << choice.sramBytes << " of "
      << budget << " bytes of SRAM"
      << (choice.doubleBuffered ? "" : " (no double buffers)") << ", "
      << choice.dmaBytes << " bytes by DMA, about "
      << static_cast<int64_t>(choice.cycles) << " cycles";
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("tile").category("npu-tile"))
      << text;
}

/// Replaces `op` with its tiles, in the order of the choice's loops.
LogicalResult NpuTile::tile(Operation *op, const TileChoice &choice,
                            int64_t cores) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  OpBuilder b(op);
  auto empty = tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                       type.getElementType());
  if (op->hasAttr("npu.sram"))
    empty->setAttr("npu.sram", b.getUnitAttr());
  Value whole = empty;
  auto tileable = cast<TilingInterface>(op);
  SmallVector<int64_t> index(rank, 0);
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  for (int64_t number = 0; number < choice.tiles; ++number) {
    SmallVector<OpFoldResult> offsets, sizes;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t offset = index[i] * choice.sizes[i];
      offsets.push_back(b.getIndexAttr(offset));
      sizes.push_back(b.getIndexAttr(
          std::min(choice.sizes[i], type.getDimSize(i) - offset)));
    }
    FailureOr<TilingResult> tiled =
        tileable.getTiledImplementation(b, offsets, sizes);
    if (failed(tiled))
      return op->emitError()
             << "node '" << nodeName(op->getLoc())
             << "': cannot be cut into tiles of " << join(choice.sizes);
    for (Operation *tile : tiled->tiledOps) {
      tile->removeAttr("npu.sram");
      if (cores > 1)
        tile->setAttr("npu.core", b.getI64IntegerAttr(
                                      number * std::min(cores, choice.tiles) /
                                      choice.tiles));
    }
    whole = tensor::InsertSliceOp::create(b, op->getLoc(),
                                          tiled->tiledValues.front(), whole,
                                          offsets, sizes, ones);
    for (int64_t dim : llvm::reverse(choice.order)) {
      if (++index[dim] * choice.sizes[dim] < type.getDimSize(dim))
        break;
      index[dim] = 0;
    }
  }
  op->getResult(0).replaceAllUsesWith(whole);
  op->erase();
  return success();
}

void NpuTile::runOnOperation() {
  func::FuncOp function = getOperation();
  target::Target target = targetOf(function);
  if (target.unified() || !function.getBody().hasOneBlock())
    return;
  int64_t cores =
      maxCores > 0 ? std::min<int64_t>(maxCores, target.cores) : target.cores;
  int64_t capacity = target.memory.sram_bytes * (100 - margin) / 100;

  SmallVector<Operation *> ops;
  DenseMap<Operation *, std::unique_ptr<TileSearch>> searches;
  for (Operation &op : function.getBody().front())
    if (isTileable(&op)) {
      ops.push_back(&op);
      searches[&op] = std::make_unique<TileSearch>(target, &op, cores);
    }

  Residency residency(function);
  if (resident && cores == 1) {
    residency.choose(capacity, [&](Operation *op) -> int64_t {
      auto it = searches.find(op);
      return it == searches.end()
                 ? 0
                 : it->second->smallest(residency.placementOf(op), true);
    });
    for (Operation *op : residency.owners())
      op->setAttr("npu.sram", UnitAttr::get(op->getContext()));
  }

  // Choose for all before anything changes.
  SmallVector<std::pair<Operation *, TileChoice>> choices;
  for (Operation *op : ops) {
    Placement placement = residency.placementOf(op);
    int64_t budget = capacity - residency.bytesAt(op);
    auto choice = searches[op]->best(budget, placement);
    if (!choice) {
      op->emitError() << "node '" << nodeName(op->getLoc())
                      << "': the smallest tile needs "
                      << searches[op]->smallest(placement, false)
                      << " bytes of SRAM, "
                      << "but " << budget << " of target '" << target.name
                      << "' are free for it; split the operator in the model "
                         "or take a target with more SRAM";
      return signalPassFailure();
    }
    say(op, *choice, budget);
    choices.push_back({op, *choice});
  }
  for (auto &[op, choice] : choices)
    if (choice.tiles > 1 && failed(tile(op, choice, cores)))
      return signalPassFailure();
}

} // namespace
} // namespace npu
