//===- execution_test.cc - Planned programs in any order ------------------===//
//
// Executes planned and scheduled programs in random orders that the waits allow
// and compares the outputs with those of the same program without a plan.
//
//===----------------------------------------------------------------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/memory/Passes.h"
#include "passes/scheduling/Passes.h"
#include "passes/tiling/Passes.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace npu {
namespace {

constexpr const char *kTiny =
    R"(#npu.target<{base="edge", name="tiny", memory={sram_bytes=8192}}>)";

void schedule(PassManager &pm) {
  pm.addPass(createCmdqPrefetchPass());
  pm.addPass(createCmdqPlanMemoryPass());
  pm.addPass(createCmdqInsertWaitsPass());
  pm.addPass(createCmdqVerifySchedulePass());
  pm.addPass(createCmdqEstimatePass());
}

void checkTargets(const std::string &source, bool /*floats*/ = false) {
  struct Case {
    std::string target;
    int cores;
  };
  for (const Case &c :
       {Case{"#npu.target<\"host\">", 0}, Case{"#npu.target<\"edge\">", 0},
        Case{kTiny, 0}, Case{"#npu.target<\"pc\">", 4}}) {
    auto tile = [&](PassManager &pm) {
      NpuTilePassOptions options;
      options.maxCores = c.cores;
      pm.addNestedPass<func::FuncOp>(createNpuTilePass(options));
    };
    RunResult plain = runModule(source, c.target, tile);
    for (uint32_t order : {0, 1, 2, 3}) {
      RunOptions options;
      options.schedule = schedule;
      options.order = order;
      RunResult planned = runModule(source, c.target, tile, options);
      ASSERT_EQ(plain.outputs, planned.outputs)
          << c.target << ", order " << order;
    }
  }
}

#include "lowering/npu_to_cmdq/execution_networks.inc"

} // namespace
} // namespace npu
