//===- Commands.h - A planned program as commands ---------------*- C++ -*-===//
#ifndef PASSES_SCHEDULING_COMMANDS_H
#define PASSES_SCHEDULING_COMMANDS_H

#include "dialects/cmdq/Cmdq.h"

#include <vector>

namespace npu {

/// A planned program, encoded. `ops[i]` is what `commands[i]` was made of.
struct PlannedProgram {
  std::vector<rt::Command> commands;
  std::vector<cmdq::CommandOpInterface> ops;
  /// Indices of the first commands after each host segment.
  std::vector<int64_t> barriers;
};

/// Failure after a diagnostic if an operand is not a cmdq.buffer.
mlir::FailureOr<PlannedProgram> encodeProgram(cmdq::ProgramOp program);

} // namespace npu

#endif // PASSES_SCHEDULING_COMMANDS_H
