//===- Legalize.cc - npu-legalize -----------------------------------------===//

#include "passes/legalization/Passes.h"

#include "dialects/npu/NPU.h"
#include "passes/legalization/LegalizePatterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPULEGALIZEPASS
#include "passes/legalization/Passes.h.inc"

namespace {

struct NpuLegalize : impl::NpuLegalizePassBase<NpuLegalize> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addTransposeConvPatterns(patterns);
    addWindowPatterns(patterns);
    addRankPatterns(patterns);
    addTypePatterns(patterns);
    addSplitPattern(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    bool left = false;
    getOperation().walk([&](Operation *op) { left |= failed(check(op)); });
    if (left)
      signalPassFailure();
  }

private:
  /// What has no rewrite, before the lowering stumbles over it.
  static LogicalResult check(Operation *op) {
    auto fail = [&](StringRef what) {
      return op->emitError() << "node '" << nodeName(op->getLoc()) << "' ("
                             << op->getName() << "): " << what;
    };
    if (isa<TransposeConv2DOp>(op))
      return fail("some outputs meet no tap, and a filter that is no constant "
                  "has no zeros for them; make the filter constant");
    if (auto pool = dyn_cast<AvgPool2DOp>(op))
      for (int i = 0; i < 4; ++i)
        if (pool.getPads()[i] >
            pool.getDilations()[i % 2] * (pool.getKernel()[i % 2] - 1))
          return fail("pads as wide as the kernel make averages of nothing; "
                      "use count_include_pad or smaller pads");
    return success();
  }
};

} // namespace
} // namespace npu
