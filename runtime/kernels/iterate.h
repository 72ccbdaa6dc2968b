//===- iterate.h - Walking strided views ------------------------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_ITERATE_H
#define RUNTIME_KERNELS_ITERATE_H

#include <array>
#include <cstdint>
#include <utility>

#include "runtime/kernels/memory.h"

namespace npu::rt {

/// N views of the same dims, with dimensions merged where all of them allow
/// it. The last dimension is the innermost; strides are in elements.
template <int N> struct Loop {
  int rank = 0;
  int64_t dims[kMaxRank];
  int64_t strides[N][kMaxRank];

  explicit Loop(const std::array<const View *, N> &views) {
    const View &first = *views[0];
    for (int i = 0; i < first.rank(); ++i) {
      int64_t dim = first.dim(i);
      if (dim == 1)
        continue;
      bool merge = rank > 0;
      for (int v = 0; v < N && merge; ++v)
        merge = strides[v][rank - 1] == views[v]->stride(i) * dim;
      if (!merge)
        ++rank;
      dims[rank - 1] = merge ? dims[rank - 1] * dim : dim;
      for (int v = 0; v < N; ++v)
        strides[v][rank - 1] = views[v]->stride(i);
    }
    if (rank == 0) {
      rank = 1;
      dims[0] = 1;
      for (int v = 0; v < N; ++v)
        strides[v][0] = 1;
    }
    // A few values each, as in a transpose of pictures: the long way round.
    constexpr int64_t kFew = 8;
    if (rank > 1 && inner() <= kFew && dims[rank - 2] >= 4 * inner()) {
      std::swap(dims[rank - 1], dims[rank - 2]);
      for (int v = 0; v < N; ++v)
        std::swap(strides[v][rank - 1], strides[v][rank - 2]);
    }
  }

  int64_t inner() const { return dims[rank - 1]; }
  int64_t innerStride(int v) const { return strides[v][rank - 1]; }
  int64_t rows() const {
    int64_t n = 1;
    for (int i = 0; i + 1 < rank; ++i)
      n *= dims[i];
    return n;
  }
  /// Element offsets of row `row` in each view.
  std::array<int64_t, N> offsets(int64_t row) const {
    std::array<int64_t, N> out{};
    for (int i = rank - 2; i >= 0; --i) {
      int64_t index = row % dims[i];
      row /= dims[i];
      for (int v = 0; v < N; ++v)
        out[v] += index * strides[v][i];
    }
    return out;
  }
};

} // namespace npu::rt

#endif // RUNTIME_KERNELS_ITERATE_H
