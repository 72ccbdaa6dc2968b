//===- kernels.h - Executing commands ---------------------------*- C++ -*-===//
//
// What each command means is written in runtime/queue/command.h. A command
// must have passed validateCommand() before it is executed: kernels trust it.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_KERNELS_KERNELS_H
#define RUNTIME_KERNELS_KERNELS_H

#include "absl/status/status.h"
#include "runtime/kernels/context.h"

namespace npu::rt {

/// Sizes in bytes of the spaces that a command may touch.
struct SpaceSizes {
  int64_t constants = 0, dram = 0;
  int64_t sram = 0; ///< of each core
  int cores = 1;
  std::vector<int64_t> io; ///< inputs, then outputs
  int inputs = 0;          ///< how many of `io` are inputs, never written
};

/// Checks everything that a kernel relies on: operands inside their spaces and
/// aligned, element types, shapes, parameters, and tables in the constant
/// section. `constants` may be null; then the content of tables is not looked
/// at. The error names what is wrong, not which command it is.
absl::Status validateCommand(const Command &command, const SpaceSizes &sizes,
                             const uint8_t *constants);

/// Runs one command to its end.
void execute(const Command &command, Context &context);

/// Packs the weights of a convolution for the instruction set; false when the
/// command has nothing to pack.
bool packWeights(const Command &command, const MemoryMap &memory, Isa isa,
                 PackedWeights *out);

} // namespace npu::rt

#endif // RUNTIME_KERNELS_KERNELS_H
