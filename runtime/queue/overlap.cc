//===- overlap.cc - Do two strided views share a byte? --------------------===//

#include "runtime/queue/hazards.h"

#include <algorithm>

namespace npu::rt {
namespace {

/// A view in bytes: an arithmetic progression of progressions, the largest
/// stride first; the last one (stride 1) is the contiguous run.
struct Lattice {
  struct Level {
    int64_t stride, count;
  };
  Level levels[kMaxRank + 1];
  /// Bytes from the first to the last of levels[i..].
  int64_t extent[kMaxRank + 2];
  int size = 0;

  explicit Lattice(const Operand &o) {
    int64_t element = sizeOf(o.dtype);
    for (int d = 0; d < std::min<int>(o.rank, kMaxRank); ++d)
      if (o.dims[d] > 1 && o.strides[d] > 0)
        levels[size++] = {o.strides[d] * element, o.dims[d]};
    std::sort(levels, levels + size, [](const Level &a, const Level &b) {
      return a.stride > b.stride;
    });
    levels[size++] = {1, element};
    // Joins what is contiguous, the innermost first.
    for (int i = size - 1; i > 0; --i)
      if (levels[i - 1].stride == levels[i].stride * levels[i].count) {
        levels[i - 1] = {levels[i].stride,
                         levels[i - 1].count * levels[i].count};
        std::copy(levels + i + 1, levels + size, levels + i);
        --size;
      }
    extent[size] = 1;
    for (int i = size - 1; i >= 0; --i)
      extent[i] = extent[i + 1] + levels[i].stride * (levels[i].count - 1);
  }
};

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0); }
int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Recursive search for a common byte, with a limit on the work.
class Search {
public:
  Search(const Lattice &a, const Lattice &b) : a(a), b(b) {}

  /// Levels i.. of `a` at 0 against levels j.. of `b` at `delta`.
  bool meet(int i, int j, int64_t delta) {
    if (delta >= a.extent[i] || -delta >= b.extent[j])
      return false;
    if (i >= a.size - 1 && j >= b.size - 1)
      return true; // two contiguous runs within each other's bounds
    if (++steps > kLimit)
      return true; // too long to decide: conservative
    int64_t sa = i < a.size ? a.levels[i].stride : 0;
    int64_t sb = j < b.size ? b.levels[j].stride : 0;
    if (sa == sb)
      return meetSame(i, j, delta);
    return sa > sb ? meetRows(i, j, delta) : meetColumns(i, j, delta);
  }

private:
  static constexpr int kLimit = 256;

  /// Equal strides: only the difference k of the two indices matters.
  bool meetSame(int i, int j, int64_t delta) {
    int64_t stride = a.levels[i].stride;
    int64_t lo = std::max(-(a.levels[i].count - 1),
                          floorDiv(-b.extent[j + 1] - delta, stride) + 1);
    int64_t hi = std::min(b.levels[j].count - 1,
                          ceilDiv(a.extent[i + 1] - delta, stride) - 1);
    for (int64_t k = lo; k <= hi; ++k)
      if (meet(i + 1, j + 1, delta + stride * k))
        return true;
    return false;
  }
  /// The rows of `a` that are within the bounds of `b`.
  bool meetRows(int i, int j, int64_t delta) {
    int64_t stride = a.levels[i].stride;
    int64_t lo =
        std::max<int64_t>(0, floorDiv(delta - a.extent[i + 1], stride) + 1);
    int64_t hi = std::min(a.levels[i].count - 1,
                          ceilDiv(delta + b.extent[j], stride) - 1);
    for (int64_t k = lo; k <= hi; ++k)
      if (meet(i + 1, j, delta - stride * k))
        return true;
    return false;
  }
  bool meetColumns(int i, int j, int64_t delta) {
    int64_t stride = b.levels[j].stride;
    int64_t lo =
        std::max<int64_t>(0, floorDiv(-delta - b.extent[j + 1], stride) + 1);
    int64_t hi = std::min(b.levels[j].count - 1,
                          ceilDiv(a.extent[i] - delta, stride) - 1);
    for (int64_t k = lo; k <= hi; ++k)
      if (meet(i, j + 1, delta + stride * k))
        return true;
    return false;
  }

  const Lattice &a, &b;
  int steps = 0;
};

/// The memory of an operand as one number; -1: cannot conflict.
int memoryKey(const Operand &o, int core) {
  switch (o.space) {
  case Space::kConst:
    return -1;
  case Space::kDram:
    return 0;
  case Space::kSram:
    return 1 + core;
  case Space::kIo:
    return 1000 + o.io;
  }
  return -1;
}

} // namespace

Interval boundsOf(const Operand &o) {
  int64_t last = 0;
  for (int d = 0; d < std::min<int>(o.rank, kMaxRank); ++d)
    last += static_cast<int64_t>(o.dims[d] - 1) * o.strides[d];
  return {o.offset, o.offset + (last + 1) * sizeOf(o.dtype)};
}

bool overlaps(const Operand &a, const Operand &b) {
  Interval x = boundsOf(a), y = boundsOf(b);
  if (x.end <= y.begin || y.end <= x.begin)
    return false;
  Lattice la(a), lb(b);
  return Search(la, lb).meet(0, 0, b.offset - a.offset);
}

bool conflict(const Command &a, const Command &b) {
  for (int i = 0; i < kMaxOperands; ++i)
    for (int j = 0; j < kMaxOperands; ++j) {
      const Operand &x = a.operands[i], &y = b.operands[j];
      if ((i != 0 && j != 0) || x.rank == 0 || y.rank == 0)
        continue;
      int memory = memoryKey(x, a.core);
      if (memory >= 0 && memory == memoryKey(y, b.core) && overlaps(x, y))
        return true;
    }
  return false;
}

} // namespace npu::rt
