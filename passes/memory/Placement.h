//===- Placement.h - Offsets for buffers with lifetimes ---------*- C++ -*-===//
//
// Offline allocation: every buffer has a size and a lifetime, two buffers that
// live together must not overlap in memory. No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_MEMORY_PLACEMENT_H
#define PASSES_MEMORY_PLACEMENT_H

#include <cstdint>
#include <vector>

namespace npu {

constexpr int64_t kBufferAlignment = 64;

/// Lives from time `first` to `last`, both included.
struct PlacedBuffer {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  int64_t offset = 0; ///< the result
};

/// The largest sum of bytes that live at one time, and the first such time.
struct LiveBytes {
  int64_t bytes = 0, time = 0;
};
LiveBytes largestLiveBytes(const std::vector<PlacedBuffer> &buffers);

/// Chooses the offsets (multiples of kBufferAlignment) so that the end of the
/// memory used, which is returned, is small. Several greedy orders are tried
/// and the best one improved; stops as soon as `enough` bytes suffice or the
/// lower bound is reached. `quick` gives up early. Deterministic.
int64_t placeBuffers(std::vector<PlacedBuffer> &buffers, int64_t enough = 0,
                     bool quick = false);

} // namespace npu

#endif // PASSES_MEMORY_PLACEMENT_H
