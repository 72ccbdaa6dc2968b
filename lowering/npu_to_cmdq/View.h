//===- View.h - Strided views of buffers ------------------------*- C++ -*-===//
//
// A tensor during lowering: a strided view of a root buffer. Data-movement
// operators mostly only change the view; it becomes memory operands at the
// last moment.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_NPU_TO_CMDQ_VIEW_H
#define LOWERING_NPU_TO_CMDQ_VIEW_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace npu {

/// Dims outermost first, strides and offset in elements of `root`'s type.
/// Rank 0 is a scalar; the rank is not limited.
struct View {
  mlir::Value root;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 6> dims, strides;

  /// All of a dense buffer, seen with `shape` (same number of elements).
  static View whole(mlir::Value root, llvm::ArrayRef<int64_t> shape);

  int64_t rank() const { return dims.size(); }
  int64_t elements() const;
  bool operator==(const View &other) const;

  /// Result dimension i is dimension perm[i].
  View permuted(llvm::ArrayRef<int64_t> perm) const;
  /// `sizes` elements from `starts`, every `steps`-th (may be negative).
  View sliced(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> steps) const;
  /// The same along one dimension.
  View slicedDim(int64_t dim, int64_t start, int64_t size,
                 int64_t step = 1) const;
  /// NumPy broadcast to `shape`.
  View broadcast(llvm::ArrayRef<int64_t> shape) const;
  /// Same elements in row-major order; none if that needs a copy.
  std::optional<View> reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// Dimensions that broadcast (stride 0) reduced to 1.
  View stored() const;

  /// Elements lie in row-major order without gaps.
  bool dense() const;
  /// The last dimension with more than one element has stride 1.
  bool innerContiguous() const;

  /// A memref of this view: `root` itself, or a reinterpret_cast of it. Views
  /// of rank 0 get a dimension. Needs rank <= 6.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// Drops dimensions of size 1 and joins neighbours, the same ones in all views
/// (which have equal dims), to make the rank small.
void coalesce(llvm::MutableArrayRef<View> views);

} // namespace npu

#endif // LOWERING_NPU_TO_CMDQ_VIEW_H
