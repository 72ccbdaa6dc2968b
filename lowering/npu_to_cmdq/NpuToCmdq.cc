//===- NpuToCmdq.cc - The pass --------------------------------------------===//

#include "lowering/npu_to_cmdq/Passes.h"

#include "lowering/npu_to_cmdq/Lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUTOCMDQPASS
#include "lowering/npu_to_cmdq/Passes.h.inc"

namespace {
struct NpuToCmdq : impl::NpuToCmdqPassBase<NpuToCmdq> {
  using NpuToCmdqPassBase::NpuToCmdqPassBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    if (functions.size() != 1) {
      getOperation().emitError()
          << "npu-to-cmdq needs exactly one function, the main one, but there "
             "are "
          << functions.size();
      return signalPassFailure();
    }
    Lowering::Options options;
    options.tapViews = tapViews;
    if (failed(Lowering(functions.front(), options).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace npu
