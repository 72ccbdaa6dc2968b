//===- layouts_test.cc - Layouts change, bytes don't ----------------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/legalization/Passes.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace npu {
namespace {

/// The same bytes with and without npu-clean-layouts, in fewer commands.
void check(const std::string &body) {
  std::string module = "!q = !quant.uniform<i8:f32, 0.05:3>\n"
                       "module attributes {npu.target = $target} {\n" +
                       body + "}\n";
  auto run = [&](bool clean) {
    return runModule(module, "#npu.target<\"host\">", [&](PassManager &pm) {
      if (clean)
        pm.addNestedPass<func::FuncOp>(createNpuCleanLayoutsPass());
    });
  };
  RunResult plain = run(false), cleaned = run(true);
  ASSERT_FALSE(::testing::Test::HasFailure()) << module;
  EXPECT_EQ(cleaned.outputs, plain.outputs) << module;
  EXPECT_LE(cleaned.commands, plain.commands);
}

/// A chain of reshapes ('r') and transposes ('t') from a shape.
std::string chain(std::vector<int64_t> shape,
                  std::vector<std::pair<char, std::vector<int64_t>>> steps) {
  auto list = [](const std::vector<int64_t> &values, const char *between) {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
      text += (i ? between : "") + std::to_string(values[i]);
    return text;
  };
  auto type = [&](const std::vector<int64_t> &dims) {
    return "tensor<" + list(dims, "x") + "x!q>";
  };
  std::string text, first = type(shape);
  int n = 0;
  for (auto &[kind, values] : steps) {
    std::vector<int64_t> to = values;
    if (kind == 't')
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = shape[values[i]];
    text += "%" + std::to_string(n + 1) + " = npu." +
            (kind == 't' ? "transpose" : "reshape") + " %" + std::to_string(n) +
            " {" + (kind == 't' ? "perm" : "shape") +
            " = array<i64: " + list(values, ", ") + ">} : (" + type(shape) +
            ") -> " + type(to) + "\n";
    shape = to;
    ++n;
  }
  return "func.func @main(%in: " + first + ") -> " + type(shape) +
         " {\n%0 = npu.hard_swish %in : (" + first + ") -> " + first + "\n" +
         text + "return %" + std::to_string(n) + " : " + type(shape) + "\n}\n";
}

TEST(Layouts, ChannelShuffle) {
  check(chain({1, 5, 4, 12}, {{'t', {0, 3, 1, 2}},
                              {'r', {1, 2, 6, 5, 4}},
                              {'t', {0, 2, 1, 3, 4}},
                              {'r', {1, 12, 5, 4}},
                              {'t', {0, 2, 3, 1}}}));
  check(chain({2, 5, 12},
              {{'r', {2, 5, 3, 4}}, {'t', {0, 1, 3, 2}}, {'r', {2, 5, 12}}}));
}

TEST(Layouts, DepthToSpace) {
  for (auto [split, perm] :
       {std::make_pair(std::vector<int64_t>{1, 3, 2, 2, 4, 5},
                       std::vector<int64_t>{0, 1, 4, 2, 5, 3}),
        std::make_pair(std::vector<int64_t>{1, 2, 2, 3, 4, 5},
                       std::vector<int64_t>{0, 3, 4, 1, 5, 2})}) {
    check(chain({1, 4, 5, 12}, {{'t', {0, 3, 1, 2}},
                                {'r', split},
                                {'t', perm},
                                {'r', {1, 3, 8, 10}}}));
    check(chain({1, 4, 5, 12}, {{'t', {0, 3, 1, 2}},
                                {'r', split},
                                {'t', perm},
                                {'r', {1, 3, 8, 10}},
                                {'t', {0, 2, 3, 1}}}));
  }
}

TEST(Layouts, OneChannel) {
  check(chain({1, 4, 5, 9}, {{'t', {0, 3, 1, 2}},
                             {'r', {1, 1, 3, 3, 4, 5}},
                             {'t', {0, 1, 4, 2, 5, 3}},
                             {'r', {1, 1, 12, 15}}}));
}

TEST(Layouts, SpaceToDepth) {
  check(chain({1, 8, 10, 3}, {{'r', {1, 4, 2, 5, 2, 3}},
                              {'t', {0, 1, 3, 2, 4, 5}},
                              {'r', {1, 4, 5, 12}}}));
}

TEST(Layouts, OtherChains) {
  check(chain({1, 1, 7, 6},
              {{'t', {0, 3, 1, 2}}, {'r', {1, 6, 7}}, {'t', {0, 2, 1}}}));
  check(chain({4, 6, 5},
              {{'t', {2, 0, 1}}, {'r', {5, 2, 12}}, {'t', {1, 2, 0}}}));
  check(chain({2, 3, 4, 5}, {{'t', {3, 1, 0, 2}}, {'r', {15, 8}}}));
  check(chain(
      {6, 10},
      {{'r', {4, 15}}, {'t', {1, 0}}, {'r', {3, 5, 4}}, {'t', {2, 1, 0}}}));
  check(chain({1, 6, 1, 4}, {{'t', {2, 1, 0, 3}}, {'t', {0, 2, 3, 1}}}));
}

TEST(Layouts, ThroughOperators) {
  check(R"(
func.func @main(%x: tensor<1x5x4x6x!q>, %y: tensor<1x5x4x6x!q>, %s: tensor<1x6x1x1x!q>) -> (tensor<1x6x7x4x!q>, tensor<1x9x5x4x!q>, tensor<1x5xi64>, tensor<1x6x4x!q>) {
  %a = npu.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x5x4x6x!q>) -> tensor<1x6x5x4x!q>
  %b = npu.transpose %y {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x5x4x6x!q>) -> tensor<1x6x5x4x!q>
  %c = npu.constant $hex(24,3) : tensor<6x1x4xi8> -> tensor<6x1x4x!q>
  %0 = npu.add %a, %b : (tensor<1x6x5x4x!q>, tensor<1x6x5x4x!q>) -> tensor<1x6x5x4x!q>
  %1 = npu.mul %0, %c : (tensor<1x6x5x4x!q>, tensor<6x1x4x!q>) -> tensor<1x6x5x4x!q>
  %2 = npu.sub %s, %1 : (tensor<1x6x1x1x!q>, tensor<1x6x5x4x!q>) -> tensor<1x6x5x4x!q>
  %3 = npu.pad %2 {low = array<i64: 0, 0, 2, 0>, high = array<i64: 0, 0, 0, 0>, mode = #npu<pad_mode edge>} : (tensor<1x6x5x4x!q>) -> tensor<1x6x7x4x!q>
  %4 = npu.slice %2 {starts = array<i64: 0, 5, 0, 0>, sizes = array<i64: 1, 3, 5, 4>, strides = array<i64: 1, -2, 1, 1>} : (tensor<1x6x5x4x!q>) -> tensor<1x3x5x4x!q>
  %5 = npu.concat %a, %4 {axis = 1 : i64} : (tensor<1x6x5x4x!q>, tensor<1x3x5x4x!q>) -> tensor<1x9x5x4x!q>
  %6 = npu.softmax %5 {axis = 1 : i64} : (tensor<1x9x5x4x!q>) -> tensor<1x9x5x4x!q>
  %7 = npu.reduce_max %6 {axes = array<i64: 3>, keepdims = false} : (tensor<1x9x5x4x!q>) -> tensor<1x9x5x!q>
  %8 = npu.arg_max %7 {axis = 1 : i64, keepdims = false} : (tensor<1x9x5x!q>) -> tensor<1x5xi64>
  %9 = npu.reduce_mean %2 {axes = array<i64: 2>, keepdims = false} : (tensor<1x6x5x4x!q>) -> tensor<1x6x4x!q>
  return %3, %6, %8, %9 : tensor<1x6x7x4x!q>, tensor<1x9x5x4x!q>, tensor<1x5xi64>, tensor<1x6x4x!q>
}
)");
}

TEST(Layouts, ShuffleInHalves) {
  check(R"(
func.func @main(%x: tensor<1x5x4x6x!q>, %y: tensor<1x5x4x6x!q>) -> (tensor<1x5x4x6x!q>, tensor<1x5x4x6x!q>) {
  %c = npu.concat %x, %y {axis = 3 : i64} : (tensor<1x5x4x6x!q>, tensor<1x5x4x6x!q>) -> tensor<1x5x4x12x!q>
  %0 = npu.transpose %c {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x5x4x12x!q>) -> tensor<1x12x5x4x!q>
  %1 = npu.reshape %0 {shape = array<i64: 1, 2, 6, 5, 4>} : (tensor<1x12x5x4x!q>) -> tensor<1x2x6x5x4x!q>
  %2 = npu.transpose %1 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x6x5x4x!q>) -> tensor<1x6x2x5x4x!q>
  %3 = npu.reshape %2 {shape = array<i64: 1, 12, 5, 4>} : (tensor<1x6x2x5x4x!q>) -> tensor<1x12x5x4x!q>
  %4:2 = npu.split %3 {axis = 1 : i64, sizes = array<i64: 6, 6>} : (tensor<1x12x5x4x!q>) -> (tensor<1x6x5x4x!q>, tensor<1x6x5x4x!q>)
  %5 = npu.transpose %4#0 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x6x5x4x!q>) -> tensor<1x5x4x6x!q>
  %6 = npu.transpose %4#1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x6x5x4x!q>) -> tensor<1x5x4x6x!q>
  return %5, %6 : tensor<1x5x4x6x!q>, tensor<1x5x4x6x!q>
}
)");
}

TEST(Layouts, MatMul) {
  check(R"(
func.func @main(%x: tensor<1x2x5x4x!q>, %y: tensor<1x2x6x4x!q>) -> tensor<1x5x2x6x!q> {
  %0 = npu.transpose %y {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x6x4x!q>) -> tensor<1x2x4x6x!q>
  %1 = npu.matmul(%x, %0) : (tensor<1x2x5x4x!q>, tensor<1x2x4x6x!q>) -> tensor<1x2x5x6x!q>
  %2 = npu.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x5x6x!q>) -> tensor<1x5x2x6x!q>
  return %2 : tensor<1x5x2x6x!q>
}
)");
}

} // namespace
} // namespace npu
