//===- context.h - What a kernel may use besides its command ----*- C++ -*-===//
#ifndef RUNTIME_KERNELS_CONTEXT_H
#define RUNTIME_KERNELS_CONTEXT_H

#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/kernels/memory.h"
#include "runtime/kernels/thread_pool.h"

namespace npu::rt {

/// Instruction set of the vectorised kernels. All give the same integers.
enum class Isa { kPortable, kAvx2, kAvx512 }; // each has those before it

/// The best one that this CPU has.
Isa detectIsa();
/// "portable", "AVX2", "AVX-512 VNNI".
const char *isaName(Isa isa);

/// 64-byte aligned memory that only grows.
class Scratch {
public:
  uint8_t *get(int64_t bytes) {
    if (bytes > size_) {
      size_ = (bytes + 63) / 64 * 64;
      data_.reset(static_cast<uint8_t *>(std::aligned_alloc(64, size_)));
    }
    return data_.get();
  }

private:
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  int64_t size_ = 0;
};

/// Weights in the order in which the kernels read them.
struct PackedWeights {
  std::vector<uint8_t> bytes; ///< layout is the kernel's own
  std::vector<int32_t> sums;  ///< per output channel: sum of the weights
};

struct Context {
  Isa isa = Isa::kPortable;
  ThreadPool *pool = nullptr;
  const MemoryMap *memory = nullptr;
  std::vector<Scratch> scratch; ///< one per thread
  /// Weights that lie in kConst, packed when the program was loaded; by
  /// command index.
  const std::unordered_map<int64_t, PackedWeights> *packed = nullptr;
  int64_t command = -1;    ///< index of the command being run
  PackedWeights packedNow; ///< weights that are in SRAM or DRAM, packed anew
};

} // namespace npu::rt

#endif // RUNTIME_KERNELS_CONTEXT_H
