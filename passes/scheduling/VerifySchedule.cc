//===- VerifySchedule.cc - cmdq-verify-schedule ---------------------------===//

#include "passes/scheduling/Passes.h"

#include "dialects/npu/NPU.h"
#include "passes/scheduling/Commands.h"
#include "runtime/queue/hazards.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_CMDQVERIFYSCHEDULEPASS
#include "passes/scheduling/Passes.h.inc"

namespace {

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() *
         rt::sizeOf(*cmdq::toDType(type.getElementType()));
}

/// Sizes of the spaces as the program declares them.
struct Spaces {
  int64_t constants = 0, dram = 0, sram = 0;
  DenseMap<int64_t, int64_t> io;

  explicit Spaces(cmdq::ProgramOp program)
      : dram(program.getDramBytes().value_or(0)),
        sram(program.getSramBytes().value_or(0)) {
    for (Operation &op : program.getBody().front()) {
      if (auto constant = dyn_cast<cmdq::ConstantOp>(op)) {
        int64_t end =
            constant.getOffset().value_or(0) + bytesOf(constant.getType());
        constants = std::max(constants, end);
      } else if (auto bound = dyn_cast<cmdq::IoOp>(op)) {
        io[bound.getIndex()] = bytesOf(bound.getType());
      }
    }
  }

  int64_t sizeOf(cmdq::BufferOp buffer) const {
    switch (cmdq::spaceOf(buffer.getType())) {
    case cmdq::SpaceKind::Const:
      return constants;
    case cmdq::SpaceKind::Dram:
      return dram;
    case cmdq::SpaceKind::Sram:
      return sram;
    case cmdq::SpaceKind::Io:
      return io.lookup(buffer.getIo());
    }
    return 0;
  }
};

int64_t endOf(cmdq::BufferOp buffer) {
  MemRefType type = buffer.getType();
  SmallVector<int64_t> strides;
  int64_t offset, last = 0;
  (void)type.getStridesAndOffset(strides, offset);
  for (auto [dim, stride] : llvm::zip(type.getShape(), strides))
    last += (dim - 1) * stride;
  return static_cast<int64_t>(buffer.getOffset()) +
         (last + 1) * rt::sizeOf(*cmdq::toDType(type.getElementType()));
}

LogicalResult verifyBounds(cmdq::ProgramOp program) {
  Spaces spaces(program);
  for (auto buffer : program.getBody().front().getOps<cmdq::BufferOp>()) {
    int64_t size = spaces.sizeOf(buffer), end = endOf(buffer);
    int64_t begin = static_cast<int64_t>(buffer.getOffset());
    if (begin < 0 || end > size)
      return buffer.emitOpError("bytes ")
             << begin << " to " << end << " leave the space '"
             << cmdq::stringifySpaceKind(cmdq::spaceOf(buffer.getType()))
             << "' of " << size << " bytes";
  }
  return success();
}

std::string layerOf(cmdq::CommandOpInterface op) {
  if (auto layer = op.getLayer())
    return " (layer '" + layer->str() + "')";
  std::string name = nodeName(op->getLoc());
  return name.empty() ? "" : " (layer '" + name + "')";
}

struct CmdqVerifySchedule
    : impl::CmdqVerifySchedulePassBase<CmdqVerifySchedule> {
  using CmdqVerifySchedulePassBase::CmdqVerifySchedulePassBase;

  LogicalResult verify(cmdq::ProgramOp program) {
    if (failed(verifyBounds(program)))
      return failure();
    auto planned = encodeProgram(program);
    if (failed(planned))
      return failure();
    auto error = rt::findScheduleError(
        planned->commands.data(),
        static_cast<int64_t>(planned->commands.size()),
        static_cast<int>(program.getCores()), planned->barriers);
    if (!error)
      return success();
    cmdq::CommandOpInterface op = planned->ops[error->second];
    InFlightDiagnostic diagnostic = op->emitError()
                                    << error->message << layerOf(op);
    if (error->first >= 0)
      diagnostic.attachNote(planned->ops[error->first]->getLoc())
          << "the other command is here" << layerOf(planned->ops[error->first]);
    return diagnostic;
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<cmdq::ProgramOp>())
      if (failed(verify(program)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace npu
