//===- SetTarget.cc - npu-set-target --------------------------------------===//
#include "target/Passes.h"

#include "dialects/npu/NPU.h"
#include "target/target.h"

#include "mlir/IR/BuiltinOps.h"

namespace npu::target {

#define GEN_PASS_DEF_SETTARGETPASS
#include "target/Passes.h.inc"

namespace {
struct SetTarget : impl::SetTargetPassBase<SetTarget> {
  using SetTargetPassBase::SetTargetPassBase;

  void runOnOperation() override {
    absl::StatusOr<Target> loaded = load(target);
    if (!loaded.ok()) {
      getOperation().emitError() << std::string(loaded.status().message());
      return signalPassFailure();
    }
    getOperation()->setAttr("npu.target",
                            TargetAttr::get(&getContext(), *loaded));
  }
};
} // namespace

} // namespace npu::target
