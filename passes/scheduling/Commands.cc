//===- Commands.cc - A planned program as commands ------------------------===//

#include "passes/scheduling/Commands.h"

#include "dialects/cmdq/Encode.h"

using namespace mlir;

namespace npu {

FailureOr<PlannedProgram> encodeProgram(cmdq::ProgramOp program) {
  PlannedProgram planned;
  auto addressOf = [](Value root) {
    return cmdq::addressOf(root.getDefiningOp<cmdq::BufferOp>());
  };
  for (Operation &op : program.getBody().front()) {
    if (isa<cmdq::HostCallOp>(op))
      planned.barriers.push_back(static_cast<int64_t>(planned.ops.size()));
    auto command = dyn_cast<cmdq::CommandOpInterface>(op);
    if (!command)
      continue;
    for (Value operand : op.getOperands()) {
      auto buffer = operand.getDefiningOp<cmdq::BufferOp>();
      if (!buffer)
        return op.emitOpError("has an operand without an address; run "
                              "cmdq-plan-memory first");
      if (cmdq::spaceOf(operand) == cmdq::SpaceKind::Sram &&
          buffer.getCore() != command.getCore())
        return op.emitOpError("on core ")
               << command.getCore() << " cannot reach the SRAM of core "
               << buffer.getCore();
    }
    planned.commands.push_back(cmdq::encodeCommand(command, addressOf));
    planned.ops.push_back(command);
  }
  return planned;
}

} // namespace npu
