//===- test_run.h - Modules on the software NPU's kernels -------*- C++ -*-===//
//
// For tests: parses a module, runs passes on it, lowers it and executes the
// commands: in program order, every buffer at an address of its own; or, if
// passes have planned and scheduled the program, as those say.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_NPU_TO_CMDQ_TEST_RUN_H
#define LOWERING_NPU_TO_CMDQ_TEST_RUN_H

#include "mlir/Pass/PassManager.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace npu {

struct RunResult {
  std::vector<std::vector<uint8_t>> inputs, outputs;
  int commands = 0;
};

/// How a program is scheduled and executed.
struct RunOptions {
  /// Adds what comes after npu-to-cmdq.
  std::function<void(mlir::PassManager &)> schedule;
  /// Not 0: commands run in a random order that queues and waits allow.
  uint32_t order = 0;
};

/// `source` with `$target` replaced, and `$hex(bytes,seed)` by random storage
/// of a constant. `addPasses` adds what comes before npu-to-cmdq. The inputs
/// are the same in every run: small floats, or any bytes. Failures are gtest
/// failures.
RunResult runModule(const std::string &source, const std::string &target,
                    const std::function<void(mlir::PassManager &)> &addPasses,
                    const RunOptions &options = {});

} // namespace npu

#endif // LOWERING_NPU_TO_CMDQ_TEST_RUN_H
