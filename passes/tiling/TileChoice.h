//===- TileChoice.h - Which tile of an operator -----------------*- C++ -*-===//
#ifndef PASSES_TILING_TILECHOICE_H
#define PASSES_TILING_TILECHOICE_H

#include "dialects/npu/NPU.h"
#include "dialects/npu/Tiling.h"
#include "target/cost_model.h"

#include <optional>

namespace npu {

/// Bytes of a tensor's elements in memory.
int64_t bytesOf(mlir::Value tensor);
int64_t elementBytes(mlir::Value tensor);

/// Which of an operator's operands and result lie in SRAM as a whole.
struct Placement {
  llvm::SmallVector<bool, 4> operands; ///< by operand number
  bool result = false;
};

/// A way to cut an operator, and what it costs.
struct TileChoice {
  llvm::SmallVector<int64_t, 4> sizes; ///< of the result's tiles
  llvm::SmallVector<int64_t, 4> order; ///< dimensions, outermost loop first
  int64_t tiles = 1;
  bool doubleBuffered = true; ///< the next tile is fetched meanwhile
  int64_t sramBytes = 0; ///< working set, double buffers included
  int64_t dmaBytes = 0;  ///< moved in and out for the whole operator
  double cycles = 0;     ///< estimate for the whole operator
};

/// Asks the cost model about the tiles of one operator.
class TileSearch {
public:
  TileSearch(const target::Target &target, mlir::Operation *op, int64_t cores);

  /// The cheapest choice whose working set is at most `budget` bytes, without
  /// double buffers only if there is none with; none if nothing fits.
  std::optional<TileChoice> best(int64_t budget, const Placement &placement);
  /// The smallest working set of any choice.
  int64_t smallest(const Placement &placement, bool doubleBuffered);

private:
  std::optional<TileChoice> evaluate(llvm::ArrayRef<int64_t> sizes,
                                     bool channelsOuter, bool doubleBuffered,
                                     const Placement &placement);
  std::vector<llvm::SmallVector<int64_t, 4>> candidates();

  const target::Target &target;
  mlir::Operation *op;
  int64_t cores;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<llvm::SmallVector<int64_t, 4>> sizesToTry;
};

} // namespace npu

#endif // PASSES_TILING_TILECHOICE_H
