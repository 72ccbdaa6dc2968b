//===- simulator.h - When each command of a program runs --------*- C++ -*-===//
//
// The timing of a schedule: queues run in order and respect waits; a command
// takes what the cost model says, longer if commands that run meanwhile compete
// for a memory. Deterministic.
//
//===----------------------------------------------------------------------===//
#ifndef TARGET_SIMULATOR_H
#define TARGET_SIMULATOR_H

#include "absl/status/statusor.h"
#include "target/cost_model.h"

#include <vector>

namespace npu::target {

struct Timeline {
  struct Span {
    double start = 0, end = 0; ///< cycles
  };
  std::vector<Span> commands; ///< by index
  double cycles = 0;          ///< end of the last command
  int64_t macs = 0;
  /// Cycles that the matrix engines would need at their peak.
  double ideal_cycles = 0;
  /// Cycles in which an engine runs a command, all cores together.
  double busy[rt::kEnginesPerCore] = {0, 0, 0, 0};
  /// Commands for which the target has no kernel: they count as 0 cycles.
  std::vector<int64_t> unsupported;

  /// Share of the peak that is used for multiply-accumulates.
  double macEfficiency() const {
    return cycles > 0 ? ideal_cycles / cycles : 0;
  }
};

/// Simulates `commands`. `barriers` are the indices, ascending, of commands
/// that start only when all before them are complete. InvalidArgument for a
/// core that is not below `cores` and for waits that never end.
absl::StatusOr<Timeline> simulate(const Target &target,
                                  const rt::Command *commands, int64_t count,
                                  int cores,
                                  const std::vector<int64_t> &barriers = {});

} // namespace npu::target

#endif // TARGET_SIMULATOR_H
