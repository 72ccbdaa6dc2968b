//===- CleanLayouts.cc - npu-clean-layouts --------------------------------===//

#include "passes/legalization/Passes.h"

#include "passes/legalization/Constants.h"
#include "passes/legalization/LayoutPatterns.h"
#include "passes/legalization/LegalizePatterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUCLEANLAYOUTSPASS
#include "passes/legalization/Passes.h.inc"

namespace {

/// Elements that transposes and gathers move.
int64_t movedElements(func::FuncOp function) {
  int64_t elements = 0;
  function.walk([&](Operation *op) {
    if (isa<TransposeOp, GatherOp>(op))
      elements += tensorType(op->getResult(0)).getNumElements();
  });
  return elements;
}

struct NpuCleanLayouts : impl::NpuCleanLayoutsPassBase<NpuCleanLayouts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // Moving a transpose can meet another one or not: judge by the result.
    OwningOpRef<func::FuncOp> unchanged = function.clone();
    int64_t before = movedElements(function);
    RewritePatternSet patterns(&getContext());
    addSinkPatterns(patterns);
    if (failed(rewrite(function, std::move(patterns))))
      return signalPassFailure();
    if (movedElements(function) <= before)
      return;
    function.getBody().takeBody(unchanged->getBody());
    if (failed(rewrite(function, RewritePatternSet(&getContext()))))
      signalPassFailure();
  }

private:
  LogicalResult rewrite(func::FuncOp function, RewritePatternSet patterns) {
    addMovementPatterns(patterns);
    addSplitPattern(patterns);
    return applyPatternsGreedily(function, std::move(patterns));
  }
};

} // namespace
} // namespace npu
