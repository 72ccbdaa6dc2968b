#include "runtime/device/software/executor.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"

namespace npu::rt {

Executor::Executor(const Command *commands, int64_t count,
                   const ExecutorOptions &options)
    : commands_(commands), count_(count), pool_(options.threads) {
  context_.isa = options.isa;
  context_.pool = &pool_;
  context_.packed = &packed_;
  context_.scratch.resize(pool_.threads());
}

absl::StatusOr<std::unique_ptr<Executor>>
Executor::create(const Command *commands, int64_t count, Region constants,
                 const ExecutorOptions &options) {
  ExecutorOptions actual = options;
  if (actual.threads == 0)
    actual.threads = int(std::thread::hardware_concurrency());
  if (actual.threads < 1 || actual.threads > 256)
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot run on ", options.threads, " threads; give 1 to 256"));
  if (actual.isa > detectIsa())
    return absl::UnavailableError(
        absl::StrCat("this CPU has no ", isaName(actual.isa), "; use the ",
                     isaName(detectIsa()), " kernels"));
  std::unique_ptr<Executor> executor(new Executor(commands, count, actual));
  MemoryMap memory;
  memory.constants = constants;
  for (int64_t i = 0; i < count; ++i) {
    PackedWeights packed;
    if (packWeights(commands[i], memory, actual.isa, &packed))
      executor->packed_.emplace(i, std::move(packed));
  }
  return executor;
}

absl::Status Executor::run(const MemoryMap &memory, int64_t first, int64_t last,
                           const JobHooks &hooks) {
  using Clock = std::chrono::steady_clock;
  context_.memory = &memory;
  for (int64_t i = first; i < last; ++i) {
    Clock::time_point start;
    if (hooks.nanoseconds)
      start = Clock::now();
    context_.command = i;
    execute(commands_[i], context_);
    if (hooks.nanoseconds)
      hooks.nanoseconds[i] =
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                               start)
              .count();
    if (hooks.after)
      if (absl::Status status = hooks.after(i); !status.ok())
        return status;
  }
  return absl::OkStatus();
}

} // namespace npu::rt
