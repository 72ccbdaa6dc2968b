//===- MovementChain.h - Reshapes and transposes as one movement -*- C++
//-*-===//
//
// A chain of reshapes and transposes cuts the dimensions of its source into
// atoms and puts them together in another order. Chains that do the same have
// the same canonical steps.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_LEGALIZATION_MOVEMENTCHAIN_H
#define PASSES_LEGALIZATION_MOVEMENTCHAIN_H

#include "dialects/npu/NPU.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace npu {

/// One operator of a canonical chain.
struct MovementStep {
  enum Kind { kReshape, kTranspose, kGather, kDepthToSpace, kSpaceToDepth };
  Kind kind;
  llvm::SmallVector<int64_t> list; ///< shape, perm or indices
  int64_t number = 0;              ///< axis or block size
  bool crd = false;                ///< order of depth_to_space
};

class MovementChain {
public:
  /// The longest chain of reshapes and transposes that ends in `end`.
  static std::optional<MovementChain> endingAt(mlir::Operation *end);

  mlir::Value source() const { return start; }
  /// The canonical steps. A reshape comes before a transpose where it can: a
  /// transpose at the end meets others.
  llvm::SmallVector<MovementStep> canonical() const;
  /// Are the operators of the chain these steps already?
  bool is(llvm::ArrayRef<MovementStep> steps) const;

private:
  using Dims = llvm::SmallVector<llvm::SmallVector<int>>; ///< atoms of each

  explicit MovementChain(mlir::Value start);
  bool apply(mlir::Operation *op);
  bool regroup(llvm::ArrayRef<int64_t> shape);
  void split(int atom, int64_t inner);
  std::optional<MovementStep> depthToSpace(const Dims &from, const Dims &to,
                                           bool reverse) const;
  int64_t product(llvm::ArrayRef<int> atoms) const;

  friend struct Canonicaliser;

  mlir::Value start;
  llvm::SmallVector<mlir::Operation *> ops; ///< from the source on
  llvm::SmallVector<int64_t> sizes;         ///< of the atoms
  Dims src, dst;
  llvm::SmallVector<int64_t> srcShape, dstShape;
};

/// Emits the steps after `value`.
mlir::Value emitSteps(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<MovementStep> steps);

} // namespace npu

#endif // PASSES_LEGALIZATION_MOVEMENTCHAIN_H
