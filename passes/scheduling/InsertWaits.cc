//===- InsertWaits.cc - cmdq-insert-waits ---------------------------------===//

#include "passes/scheduling/Passes.h"

#include "passes/scheduling/Commands.h"
#include "passes/scheduling/Waits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_CMDQINSERTWAITSPASS
#include "passes/scheduling/Passes.h.inc"

namespace {

void removeWaits(cmdq::ProgramOp program) {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    if (isa<cmdq::NopOp>(op))
      op.erase();
    else if (auto command = dyn_cast<cmdq::CommandOpInterface>(op))
      command.setWaitList({});
  }
}

/// A nop with `waits` before `op`, on its queue.
void insertNop(cmdq::CommandOpInterface op, ArrayRef<rt::Wait> waits) {
  OpBuilder b(op);
  StringAttr layer;
  if (auto name = op.getLayer())
    layer = b.getStringAttr(*name);
  cmdq::NopOp::create(b, op->getLoc(), op.getEngine(), op.getCore(), layer,
                      StringAttr(), cmdq::fromWaits(op->getContext(), waits));
}

struct CmdqInsertWaits : impl::CmdqInsertWaitsPassBase<CmdqInsertWaits> {
  using CmdqInsertWaitsPassBase::CmdqInsertWaitsPassBase;

  LogicalResult insert(cmdq::ProgramOp program) {
    removeWaits(program);
    auto planned = encodeProgram(program);
    if (failed(planned))
      return failure();
    WaitList schedule =
        deriveWaits(planned->commands.data(),
                    static_cast<int64_t>(planned->commands.size()),
                    static_cast<int>(program.getCores()), planned->barriers);
    for (auto [op, waits] : llvm::zip(planned->ops, schedule)) {
      ArrayRef<rt::Wait> rest(waits);
      for (; rest.size() > rt::kMaxWaits; rest = rest.drop_front(rt::kMaxWaits))
        insertNop(op, rest.take_front(rt::kMaxWaits));
      op.setWaitList(rest);
    }
    return success();
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<cmdq::ProgramOp>())
      if (failed(insert(program)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace npu
