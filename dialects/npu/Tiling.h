//===- Tiling.h - Tiles of npu operators ------------------------*- C++ -*-===//
//
// What a tile of an operator's result needs. The operators implement MLIR's
// TilingInterface with it (static offsets and sizes only); the tiling pass asks
// it directly when it compares tile sizes.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_NPU_TILING_H
#define DIALECTS_NPU_TILING_H

#include "dialects/npu/NPU.h"
#include "runtime/queue/command.h"

#include <vector>

namespace npu {

/// A box of a tensor, in elements.
struct Tile {
  llvm::SmallVector<int64_t, 4> offsets, sizes;

  static Tile whole(llvm::ArrayRef<int64_t> shape);
  bool isWhole(llvm::ArrayRef<int64_t> shape) const;
  int64_t elements() const;
  bool operator==(const Tile &other) const {
    return offsets == other.offsets && sizes == other.sizes;
  }
};

/// What one tile of the result takes: a box of every operand, and the
/// attributes that are different in the tiled operator (paddings of an inner
/// tile, for instance).
struct TileNeeds {
  llvm::SmallVector<Tile, 4> operands;
  llvm::SmallVector<mlir::NamedAttribute, 2> attributes;
};

/// Discardable attribute of an npu.resize that is a tile of another: for rows,
/// then columns: first row of the input tile, rows of the whole input, first
/// row of the output tile, rows of the whole output. Coordinates are those of
/// the whole.
constexpr llvm::StringLiteral kResizeWindow = "npu.window";

/// The taps of `op` along rows (axis 0) or columns (1), relative to its input.
std::vector<rt::ResizeTap> resizeTaps(ResizeOp op, int axis);

/// True if `op` implements TilingInterface.
bool isTileable(mlir::Operation *op);

/// Dimensions of the result that must not be divided (softmax's axis), as a
/// mask over the result's dimensions.
llvm::SmallVector<bool> undividedDims(mlir::Operation *op);

/// Failure if this box of the result cannot be computed alone: a dimension
/// that must not be divided is, or channels cut through a group.
mlir::FailureOr<TileNeeds> tileNeeds(mlir::Operation *op, const Tile &result);

/// Makes the operators implement TilingInterface.
void attachTilingInterfaces(mlir::MLIRContext *context);

} // namespace npu

#endif // DIALECTS_NPU_TILING_H
