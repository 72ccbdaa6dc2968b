//===- executor.h - The software NPU's command processor --------*- C++ -*-===//
//
// Runs a program's commands in program order, each on all threads. Program
// order satisfies every wait (the loader's verifier guarantees it), so the
// result is that of any schedule the queues allow.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_DEVICE_SOFTWARE_EXECUTOR_H
#define RUNTIME_DEVICE_SOFTWARE_EXECUTOR_H

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace npu::rt {

struct ExecutorOptions {
  int threads = 1; ///< 0: one per CPU
  Isa isa = detectIsa();
};

/// One loaded program on the software NPU. Not for concurrent runs: a queue
/// runs one job at a time. Commands and constants must outlive it.
class Executor {
public:
  /// Packs the constant weights. The commands must have passed
  /// validateCommand(). InvalidArgument for an unusable number of threads.
  static absl::StatusOr<std::unique_ptr<Executor>>
  create(const Command *commands, int64_t count, Region constants,
         const ExecutorOptions &options);

  /// `memory` must have the sizes that the commands were validated against.
  absl::Status run(const MemoryMap &memory, const JobHooks &hooks = {}) {
    return run(memory, 0, count_, hooks);
  }
  /// The commands from `first` up to before `last` only.
  absl::Status run(const MemoryMap &memory, int64_t first, int64_t last,
                   const JobHooks &hooks);

  int threads() const { return pool_.threads(); }
  Isa isa() const { return context_.isa; }

private:
  Executor(const Command *commands, int64_t count,
           const ExecutorOptions &options);

  const Command *commands_;
  int64_t count_;
  ThreadPool pool_;
  std::unordered_map<int64_t, PackedWeights> packed_;
  Context context_;
};

} // namespace npu::rt

#endif // RUNTIME_DEVICE_SOFTWARE_EXECUTOR_H
