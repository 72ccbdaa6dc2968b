//===- memory.h - The memory that commands work on --------------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_MEMORY_H
#define RUNTIME_KERNELS_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/queue/command.h"

namespace npu::rt {

struct Region {
  uint8_t *data = nullptr;
  int64_t size = 0;
};

/// Base and size of every space. Constants are never written.
struct MemoryMap {
  Region constants, dram;
  std::vector<Region> sram; ///< one per core
  std::vector<Region> io;   ///< bound inputs, then outputs

  Region region(const Operand &operand, int core) const {
    switch (operand.space) {
    case Space::kConst:
      return constants;
    case Space::kDram:
      return dram;
    case Space::kSram:
      return sram[core];
    case Space::kIo:
      return io[operand.io];
    }
    return {};
  }
};

/// An operand with its address resolved.
struct View {
  uint8_t *data;
  const Operand *operand;

  template <typename T> T *as() const { return reinterpret_cast<T *>(data); }
  DType dtype() const { return operand->dtype; }
  int rank() const { return operand->rank; }
  int64_t dim(int i) const { return operand->dims[i]; }
  int64_t stride(int i) const { return operand->strides[i]; }
  bool present() const { return operand->rank != 0; }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank(); ++i)
      n *= dim(i);
    return n;
  }
};

} // namespace npu::rt

#endif // RUNTIME_KERNELS_MEMORY_H
