//===- equalize_test.cc - Equalisation changes no result ------------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/quantization/Passes.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

using namespace mlir;

namespace npu {
namespace {

/// Four channels that fill all, a quarter, an eighth and none of [-8, 8].
std::string known(bool positive) {
  std::string text = "npu.range = array<f64: -8.0, 8.0>, "
                     "npu.channel_range = array<f64: ";
  for (const char *v : {"8.0", "2.0", "1.0", "0.0"})
    text += std::string(*v == '8' ? "" : ", ") +
            (positive ? "0.0" : std::string("-") + v) + ", " + v;
  return text + ">";
}

std::vector<float> floats(const RunResult &result) {
  std::vector<float> values(result.outputs.at(0).size() / 4);
  std::memcpy(values.data(), result.outputs[0].data(), values.size() * 4);
  return values;
}

/// conv (channels of different sizes) -> `between` (%0 to %1) -> conv.
void check(const std::string &between, const std::string &mid,
           const std::string &consumer) {
  std::string t = "tensor<1x6x6x4xf32>";
  std::string module =
      "module attributes {npu.target = $target} {\n"
      "func.func @main(%x: " +
      t + ") -> tensor<" + mid +
      "x4xf32> {\n"
      "%w = npu.constant dense<[[[[0.5, -0.25, 0.1, 1.0]]], [[[0.1, 0.2, 0.1, "
      "0.1]]], [[[0.1, 0.1, -0.1, 0.1]]], [[[0.1, 0.3, 0.0, 0.1]]]]> : "
      "tensor<4x1x1x4xf32> -> tensor<4x1x1x4xf32>\n"
      "%b = npu.constant dense<[0.5, 0.25, 0.1, 0.2]> : tensor<4xf32> -> "
      "tensor<4xf32>\n"
      "%d = npu.constant dense<[[[0.5, 0.25, 2.0, 1.0]]]> : tensor<1x1x4xf32> "
      "-> tensor<1x1x4xf32>\n"
      "%0 = npu.conv2d(%x, %w, bias %b) {" +
      known(false) +
      ", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations "
      "= array<i64: 1, 1>} : (" +
      t + ", tensor<4x1x1x4xf32>, tensor<4xf32>) -> " + t + "\n" + between +
      consumer + "return %2 : tensor<" + mid + "x4xf32>\n}\n}\n";
  auto run = [&](bool equalise) {
    return runModule(module, "#npu.target<\"host\">", [&](PassManager &pm) {
      if (equalise)
        pm.addNestedPass<func::FuncOp>(createNpuEqualizePass());
    });
  };
  std::vector<float> plain = floats(run(false)), equal = floats(run(true));
  ASSERT_FALSE(::testing::Test::HasFailure()) << module;
  ASSERT_EQ(plain.size(), equal.size());
  float largest = 0;
  for (float v : plain)
    largest = std::max(largest, std::fabs(v));
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_NEAR(plain[i], equal[i], 1e-5 * largest) << module;
}

std::string depthwise(const std::string &mid) {
  std::string t = "tensor<" + mid + "x4xf32>";
  return "%2 = npu.depthwise_conv2d(%1, %d) {strides = array<i64: 1, 1>, pads "
         "= array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (" +
         t + ", tensor<1x1x4xf32>) -> " + t + "\n";
}

std::string dense(const std::string &mid) {
  std::string t = "tensor<" + mid + "x4xf32>";
  return "%2 = npu.conv2d(%1, %w) {strides = array<i64: 1, 1>, pads = "
         "array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (" +
         t + ", tensor<4x1x1x4xf32>) -> " + t + "\n";
}

TEST(Equalize, ThroughFunctionsAndPools) {
  std::string t = "tensor<1x6x6x4xf32>";
  std::string type = " : (" + t + ") -> " + t + "\n";
  for (auto consumer : {depthwise, dense}) {
    check("%1 = npu.relu %0 {" + known(true) + "}" + type, "1x6x6",
          consumer("1x6x6"));
    check("%1 = npu.leaky_relu %0 {alpha = 0.1 : f32, " + known(false) + "}" +
              type,
          "1x6x6", consumer("1x6x6"));
    check("%r = npu.relu %0 {" + known(true) + "}" + type +
              "%1 = npu.reduce_mean %r {axes = array<i64: 1, 2>, " +
              known(true) + "} : (" + t + ") -> tensor<1x1x1x4xf32>\n",
          "1x1x1", consumer("1x1x1"));
    check("%s = npu.hard_sigmoid %x {alpha = 0.2 : f32, beta = 0.5 : f32}" +
              type + "%m = npu.mul %s, %0 {" + known(false) + "} : (" + t +
              ", " + t + ") -> " + t + "\n%1 = npu.add %m, %0 {" +
              known(false) + "} : (" + t + ", " + t + ") -> " + t + "\n",
          "1x6x6", consumer("1x6x6"));
  }
}

} // namespace
} // namespace npu
