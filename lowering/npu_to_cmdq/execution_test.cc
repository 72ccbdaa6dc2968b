//===- execution_test.cc - Same module, many targets, one answer ----------===//
//
// Tiles and lowers a module for several targets, executes the commands on the
// software NPU's kernels (every buffer at an address of its own, in program
// order) and compares the outputs with those of the untiled `host` program.
//
//===----------------------------------------------------------------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/tiling/Passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mlir;

namespace npu {
namespace {

constexpr const char *kTiny =
    R"(#npu.target<{base="edge", name="tiny", memory={sram_bytes=8192}}>)";

RunResult run(const std::string &source, const std::string &target, int cores) {
  return runModule(source, target, [&](PassManager &pm) {
    NpuTilePassOptions options;
    options.maxCores = cores;
    pm.addNestedPass<func::FuncOp>(createNpuTilePass(options));
  });
}

/// Bytes equal; or, for float networks, values nearly so.
void expectSame(const RunResult &a, const RunResult &b, bool floats,
                const std::string &target) {
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (!floats) {
      EXPECT_EQ(a.outputs[i], b.outputs[i]) << target << ", output " << i;
      continue;
    }
    for (size_t k = 0; k + 4 <= a.outputs[i].size(); k += 4) {
      float x, y;
      std::memcpy(&x, &a.outputs[i][k], 4);
      std::memcpy(&y, &b.outputs[i][k], 4);
      ASSERT_NEAR(x, y, 1e-5f * (1 + std::fabs(x)))
          << target << ", output " << i << " at " << k / 4;
    }
  }
}

void checkTargets(const std::string &source, bool floats = false) {
  RunResult host = run(source, "#npu.target<\"host\">", 0);
  if (::testing::Test::HasFailure())
    return;
  // Something must come out.
  for (const auto &output : host.outputs)
    EXPECT_NE(output, std::vector<uint8_t>(output.size(), output[0]));
  struct Case {
    std::string target;
    int cores;
  };
  for (const Case &c :
       {Case{"#npu.target<\"edge\">", 0}, Case{"#npu.target<\"micro\">", 0},
        Case{kTiny, 0}, Case{"#npu.target<\"pc\">", 4},
        Case{"#npu.target<\"pc\">", 0}}) {
    RunResult other = run(source, c.target, c.cores);
    expectSame(host, other, floats, c.target);
    if (c.target == kTiny)
      EXPECT_GT(other.commands, host.commands);
  }
}

#include "lowering/npu_to_cmdq/execution_networks.inc"

} // namespace
} // namespace npu
