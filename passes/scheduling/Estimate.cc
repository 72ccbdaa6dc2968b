//===- Estimate.cc - cmdq-estimate ----------------------------------------===//

#include "passes/scheduling/Passes.h"

#include "dialects/npu/NPU.h"
#include "passes/scheduling/Commands.h"
#include "target/simulator.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_CMDQESTIMATEPASS
#include "passes/scheduling/Passes.h.inc"

namespace {

DictionaryAttr toAttribute(Builder b, const target::Target &target,
                           const target::Timeline &timeline,
                           int64_t hostCalls) {
  auto whole = [&](double value) {
    return b.getI64IntegerAttr(std::llround(value));
  };
  SmallVector<NamedAttribute> busy;
  for (int engine = 0; engine < rt::kEnginesPerCore; ++engine)
    busy.push_back(b.getNamedAttr(
        cmdq::stringifyEngineKind(static_cast<cmdq::EngineKind>(engine)),
        whole(timeline.busy[engine])));
  return b.getDictionaryAttr(
      {b.getNamedAttr("cycles", whole(timeline.cycles)),
       b.getNamedAttr("latency_ms",
                      b.getF64FloatAttr(target.cyclesToMs(timeline.cycles))),
       b.getNamedAttr("macs", b.getI64IntegerAttr(timeline.macs)),
       b.getNamedAttr("mac_efficiency",
                      b.getF64FloatAttr(timeline.macEfficiency())),
       b.getNamedAttr("host_calls", b.getI64IntegerAttr(hostCalls)),
       b.getNamedAttr("busy", b.getDictionaryAttr(busy))});
}

struct CmdqEstimate : impl::CmdqEstimatePassBase<CmdqEstimate> {
  using CmdqEstimatePassBase::CmdqEstimatePassBase;

  LogicalResult estimate(cmdq::ProgramOp program) {
    auto planned = encodeProgram(program);
    if (failed(planned))
      return failure();
    target::Target target = targetOf(program);
    auto timeline = target::simulate(
        target, planned->commands.data(),
        static_cast<int64_t>(planned->commands.size()),
        static_cast<int>(program.getCores()), planned->barriers);
    if (!timeline.ok())
      return program.emitError() << std::string(timeline.status().message());
    warn(target, *planned, *timeline);
    program->setAttr(
        "npu.estimate",
        toAttribute(Builder(&getContext()), target, *timeline,
                    static_cast<int64_t>(planned->barriers.size())));
    return success();
  }

  /// Once for every kind of command that the target cannot run.
  void warn(const target::Target &target, const PlannedProgram &planned,
            const target::Timeline &timeline) {
    llvm::SmallDenseSet<std::pair<int, int>> seen;
    for (int64_t index : timeline.unsupported) {
      const rt::Command &command = planned.commands[index];
      rt::DType type = command.operands[1].rank ? command.operands[1].dtype
                                                : command.operands[0].dtype;
      if (!seen.insert(
                   {static_cast<int>(command.opcode), static_cast<int>(type)})
               .second)
        continue;
      cmdq::CommandOpInterface op = planned.ops[index];
      auto layer = op.getLayer();
      op->emitWarning() << "layer '"
                        << (layer ? layer->str() : nodeName(op->getLoc()))
                        << "': target '" << target.name << "' has no kernel '"
                        << target::kernelName(command.opcode) << "' for "
                        << cmdq::fromDType(op->getContext(), type)
                        << "; the estimate counts 0 cycles for it";
    }
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<cmdq::ProgramOp>())
      if (failed(estimate(program)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace npu
