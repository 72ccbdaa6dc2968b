// A pass outside of this repository's tools, as a plugin: reports the weights
// that take most of the memory.
#include "dialects/npu/NPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

struct LargeConstants
    : PassWrapper<LargeConstants, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LargeConstants)

  LargeConstants() = default;
  LargeConstants(const LargeConstants &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "example-large-constants"; }
  StringRef getDescription() const override {
    return "Remarks on constants of many elements";
  }

  void runOnOperation() override {
    getOperation().walk([&](npu::ConstantOp constant) {
      auto type = cast<RankedTensorType>(constant.getType());
      if (type.getNumElements() < least)
        return;
      InFlightDiagnostic remark = constant.emitRemark("constant of ")
                                  << type.getNumElements() << " elements";
      if (std::string name = npu::nodeName(constant.getLoc()); !name.empty())
        remark << " at node '" << name << "'";
    });
  }

  Option<int64_t> least{*this, "least", llvm::cl::init(1 << 16),
                        llvm::cl::desc("Fewest elements to remark on")};
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "large-constants", "1",
          [] { PassRegistration<LargeConstants>(); }};
}
