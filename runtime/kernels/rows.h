//===- rows.h - Elementwise commands, row by row ----------------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_ROWS_H
#define RUNTIME_KERNELS_ROWS_H

#include "runtime/kernels/families.h"
#include "runtime/kernels/iterate.h"

namespace npu::rt {

/// Calls body(row offsets, first element, count) over all elements, in pieces
/// large enough to be worth a thread.
template <int N, typename F>
void forEachRow(const Loop<N> &loop, ThreadPool &pool, const F &body) {
  constexpr int64_t kPiece = 16384;
  int64_t inner = loop.inner(), rows = loop.rows();
  if (inner >= 2 * kPiece) {
    int64_t pieces = (inner + kPiece - 1) / kPiece;
    pool.parallelFor(rows * pieces, [&](int64_t i, int) {
      int64_t from = i % pieces * kPiece;
      body(loop.offsets(i / pieces), from, std::min(kPiece, inner - from));
    });
    return;
  }
  int64_t step = std::max<int64_t>(1, kPiece / inner);
  pool.parallelFor((rows + step - 1) / step, [&](int64_t i, int) {
    for (int64_t row = i * step; row < std::min(rows, (i + 1) * step); ++row)
      body(loop.offsets(row), 0, inner);
  });
}

/// The first N operands of a command, and the loop over them.
template <int N> struct Strided {
  std::array<View, N> views;
  Loop<N> loop;
  Strided(const Command &command, const MemoryMap &memory)
      : views(make(command, memory)), loop(pointers(views)) {}
  static std::array<View, N> make(const Command &command,
                                  const MemoryMap &memory) {
    std::array<View, N> out;
    for (int i = 0; i < N; ++i)
      out[i] = viewOf(command, i, memory);
    return out;
  }
  static std::array<const View *, N> pointers(const std::array<View, N> &v) {
    std::array<const View *, N> out;
    for (int i = 0; i < N; ++i)
      out[i] = &v[i];
    return out;
  }
};

} // namespace npu::rt

#endif // RUNTIME_KERNELS_ROWS_H
