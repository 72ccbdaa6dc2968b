//===- LegalizeDepthwise.cc - npu-legalize-depthwise ----------------------===//

#include "passes/legalization/Passes.h"

#include "passes/legalization/Constants.h"
#include "passes/legalization/DepthwiseRewrites.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPULEGALIZEDEPTHWISEPASS
#include "passes/legalization/Passes.h.inc"

namespace {

constexpr DepthwiseWay kWays[kNumDepthwiseWays] = {
    DepthwiseWay::kNative, DepthwiseWay::kDense, DepthwiseWay::kVectorMac,
    DepthwiseWay::kExpand};

std::string describe(const DepthwisePlan &plan) {
  if (!plan.possible)
    return std::string(nameOf(plan.way)) + " impossible (" + plan.why + ")";
  std::string text = nameOf(plan.way);
  if (plan.way == DepthwiseWay::kDense)
    text += " in blocks of " + std::to_string(plan.block) + " group(s)" +
            (plan.split ? ", a command each" : "");
  return text + " " + std::to_string(static_cast<int64_t>(plan.cycles)) +
         " cycles";
}

struct NpuLegalizeDepthwise
    : impl::NpuLegalizeDepthwisePassBase<NpuLegalizeDepthwise> {
  using NpuLegalizeDepthwisePassBase::NpuLegalizeDepthwisePassBase;

  void runOnOperation() override {
    bool known = llvm::any_of(
        kWays, [&](DepthwiseWay way) { return force == nameOf(way); });
    if (!force.empty() && !known) {
      getOperation()->emitError()
          << "npu-legalize-depthwise: unknown way '" << force
          << "' to force; use native, dense, vector_mac or expand";
      return signalPassFailure();
    }
    std::vector<GroupedConv> convs;
    getOperation().walk([&](Operation *op) {
      if (auto conv = GroupedConv::of(op))
        convs.push_back(*conv);
    });
    if (convs.empty())
      return;
    target::Target target = targetOf(getOperation());
    for (const GroupedConv &conv : convs)
      if (failed(legalize(target, conv)))
        return signalPassFailure();
    eraseDead(getOperation());
  }

private:
  LogicalResult legalize(const target::Target &target,
                         const GroupedConv &conv) {
    std::optional<FilterData> data = FilterData::of(conv);
    SmallVector<DepthwisePlan> plans;
    for (DepthwiseWay way : kWays) {
      DepthwisePlan plan = planDepthwise(target, conv, way);
      if (plan.possible && !data && needsFilter(conv, plan)) {
        plan.possible = false;
        plan.why = "the filter is no constant";
      }
      plans.push_back(plan);
    }
    const DepthwisePlan *best = choose(plans);
    std::string name = nodeName(conv.op->getLoc()), all;
    for (const DepthwisePlan &plan : plans)
      if (&plan != best)
        all += (all.empty() ? "" : "; ") + describe(plan);
    if (!best)
      return conv.op->emitError()
             << "node '" << name << "': target '" << target.name
             << "' cannot run this grouped convolution: " << all
             << "; make the filter constant or take another target";
    remark::passed(conv.op->getLoc(), remark::RemarkOpts::name("depthwise")
                                          .category("npu-legalize-depthwise"))
        << (name + ": " + describe(*best) + "; instead of " + all);
    replace(conv, *best, data ? &*data : nullptr);
    return success();
  }

  const DepthwisePlan *choose(ArrayRef<DepthwisePlan> plans) const {
    const DepthwisePlan *best = nullptr;
    for (const DepthwisePlan &plan : plans) {
      if (!plan.possible || (!force.empty() && force != nameOf(plan.way)))
        continue;
      if (!best || plan.cycles < best->cycles)
        best = &plan;
    }
    return best;
  }

  void replace(const GroupedConv &conv, const DepthwisePlan &plan,
               const FilterData *data) {
    if (plan.way == DepthwiseWay::kNative && !needsFilter(conv, plan))
      return; // as it is
    OpBuilder b(conv.op);
    Value value = rewriteDepthwise(b, conv, plan, data);
    for (NamedAttribute attr : conv.op->getDiscardableAttrs())
      value.getDefiningOp()->setDiscardableAttr(attr.getName(),
                                                attr.getValue());
    conv.op->getResult(0).replaceAllUsesWith(value);
    conv.op->erase();
  }
};

} // namespace
} // namespace npu
