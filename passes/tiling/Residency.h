//===- Residency.h - Tensors that stay in SRAM ------------------*- C++ -*-===//
//
// Which buffers the lowering to commands will make of a function's tensors
// (views share their source's, pieces of a concatenation are written into it),
// how long they live, and which of them can stay in SRAM.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_TILING_RESIDENCY_H
#define PASSES_TILING_RESIDENCY_H

#include "passes/tiling/TileChoice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace npu {

class Residency {
public:
  /// Numbers the operators and finds the buffers.
  explicit Residency(mlir::func::FuncOp function);

  /// Chooses buffers for the SRAM as long as at every operator they and
  /// `workingSet(op)` bytes fit `capacity` together. Short lives first, then
  /// large tensors.
  void choose(int64_t capacity,
              llvm::function_ref<int64_t(mlir::Operation *)> workingSet);

  /// Which operands and results of `op` are resident.
  Placement placementOf(mlir::Operation *op) const;
  /// Bytes of resident buffers alive at `op`, its operands and result included.
  int64_t bytesAt(mlir::Operation *op) const;
  /// The operators whose result is resident and is a buffer of its own.
  llvm::SmallVector<mlir::Operation *> owners() const;

private:
  struct Buffer {
    mlir::Operation *owner = nullptr; ///< whose result the buffer is
    int64_t bytes = 0;
    int first = -1, last = -1; ///< operators that use it, by number
    bool eligible = false, resident = false;
  };

  int bufferOf(mlir::Value value) const {
    auto it = buffers.find(value);
    return it == buffers.end() ? -1 : it->second;
  }
  int newBuffer(mlir::Value value, bool eligible);
  void planBackwards(mlir::Operation &op);
  void touch(int buffer, int index);

  std::vector<Buffer> list;
  llvm::DenseMap<mlir::Value, int> buffers;
  llvm::DenseMap<mlir::Operation *, int> numbers;
  std::vector<int64_t> residentBytes; ///< by operator number
};

} // namespace npu

#endif // PASSES_TILING_RESIDENCY_H
