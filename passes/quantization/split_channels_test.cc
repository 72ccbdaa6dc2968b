//===- split_channels_test.cc - Splitting changes no result ---------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/quantization/ChannelGroups.h"
#include "passes/quantization/Passes.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

using namespace mlir;

namespace npu {
namespace {

std::vector<ChannelSignal> signals(std::initializer_list<double> extents) {
  std::vector<ChannelSignal> list;
  for (double extent : extents)
    list.push_back({{0, extent}, 0});
  return list;
}

TEST(ChannelGroups, FewestGroupsThatGain) {
  auto list = signals({64, 64, 8, 8, 1, 1});
  // On average log2 of 64/64, 64/8 and 64/1.
  EXPECT_NEAR(bitsLost(list), (0 + 3 + 6) / 3.0, 1e-9);
  Partition three = partitionChannels(list, 4, 0.5);
  EXPECT_EQ(three.starts, (std::vector<size_t>{0, 2, 4}));
  EXPECT_NEAR(three.loss, 0, 1e-9);
  Partition two = partitionChannels(list, 2, 0.5);
  EXPECT_EQ(two.starts.size(), 2u);
  EXPECT_NEAR(two.loss, 1, 1e-9);
  EXPECT_EQ(partitionChannels(list, 4, 3.5).starts.size(), 1u);
}

TEST(ChannelGroups, ZerosAndTheInaudibleLoseNothing) {
  EXPECT_EQ(bitsLost(signals({64, 0, 0})), 0);
  EXPECT_EQ(bitsLost(signals({0, 0})), 0);
  EXPECT_EQ(bitsLost({}), 0);
  std::vector<ChannelSignal> list = signals({64, 1});
  list[1].audible = 32.0 / 255;
  EXPECT_NEAR(bitsLost(list), 0.5, 1e-9);
  EXPECT_EQ(partitionChannels({}, 4, 0.5).starts.size(), 1u);
}

std::string ranges(std::initializer_list<double> extents) {
  std::string list, range;
  double largest = 0;
  for (double e : extents) {
    list += (list.empty() ? "" : ", ") + std::to_string(-e / 4) + ", " +
            std::to_string(e);
    largest = std::max(largest, e);
  }
  return "npu.range = array<f64: " + std::to_string(-largest / 4) + ", " +
         std::to_string(largest) + ">, npu.channel_range = array<f64: " + list +
         ">";
}

/// conv -> swish -> depthwise -> `tail` (%2 to %3) -> conv, channels 0 and 2
/// small.
void check(const std::string &tail, const std::string &window) {
  std::string t = "tensor<1x6x6x4xf32>";
  std::string known = ranges({0.25, 16, 0.125, 8});
  std::string type = " : (" + t + ") -> " + t + "\n";
  std::string conv = ", strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, "
                     "0>, dilations = array<i64: 1, 1>} : (";
  std::string same = ", strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, "
                     "1>, dilations = array<i64: 1, 1>} : (";
  std::string module =
      "module attributes {npu.target = $target} {\nfunc.func @main(%x: " + t +
      ") -> tensor<" + window + "x4xf32> {\n" +
      "%w = npu.constant dense<[[[[0.5, -0.25, 0.1, 1.0]]], [[[0.1, 0.2, 0.3, "
      "0.4]]], [[[0.1, 0.7, -0.1, 0.1]]], [[[0.6, 0.3, 0.0, 0.1]]]]> : "
      "tensor<4x1x1x4xf32> -> tensor<4x1x1x4xf32>\n"
      "%b = npu.constant dense<[0.5, 0.25, 0.1, 0.2]> : tensor<4xf32> -> "
      "tensor<4xf32>\n"
      "%g = npu.constant dense<[1.5, -0.25, 0.3, 0.7]> : tensor<4xf32> -> "
      "tensor<4xf32>\n"
      "%d = npu.constant dense<[[[0.5, 0.25, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], "
      "[0.1, 0.2, 0.3, 0.4]], [[1.0, 0.0, 1.0, 0.0], [0.3, 0.1, 0.2, 0.7], "
      "[0.5, 0.5, 0.5, 0.5]], [[0.0, 1.0, 0.0, 1.0], [0.9, 0.8, 0.7, 0.6], "
      "[0.2, 0.1, 0.4, 0.3]]]> : tensor<3x3x4xf32> -> tensor<3x3x4xf32>\n"
      "%0 = npu.conv2d(%x, %w, bias %b) {" +
      known + conv + t + ", tensor<4x1x1x4xf32>, tensor<4xf32>) -> " + t +
      "\n%1 = npu.swish %0 {" + known + "}" + type +
      "%2 = npu.depthwise_conv2d(%1, %d, bias %b) {" + known + same + t +
      ", tensor<3x3x4xf32>, tensor<4xf32>) -> " + t + "\n" + tail +
      "%4 = npu.conv2d(%3, %w, bias %b) {" + conv.substr(2) + "tensor<" +
      window + "x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>) -> tensor<" +
      window + "x4xf32>\nreturn %4 : tensor<" + window + "x4xf32>\n}\n}\n";
  auto run = [&](bool split) {
    RunResult result =
        runModule(module, "#npu.target<\"host\">", [&](PassManager &pm) {
          if (split)
            pm.addNestedPass<func::FuncOp>(createNpuSplitChannelsPass());
        });
    std::vector<float> values(result.outputs.at(0).size() / 4);
    std::memcpy(values.data(), result.outputs[0].data(), values.size() * 4);
    return values;
  };
  std::vector<float> plain = run(false), parts = run(true);
  ASSERT_FALSE(::testing::Test::HasFailure()) << module;
  ASSERT_EQ(plain.size(), parts.size());
  float largest = 0;
  for (float v : plain)
    largest = std::max(largest, std::fabs(v));
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_NEAR(plain[i], parts[i], 1e-5 * largest) << module;
}

TEST(SplitChannels, TheFunctionStaysTheSame) {
  std::string t = "tensor<1x6x6x4xf32>", v = "tensor<1x1x1x4xf32>";
  std::string type = " : (" + t + ") -> " + t + "\n";
  check("%3 = npu.hard_swish %2" + type, "1x6x6");
  check("%3 = npu.mul %2, %g : (" + t + ", tensor<4xf32>) -> " + t + "\n",
        "1x6x6");
  // Squeeze and excitation: the gate's channels change their order, too.
  check("%r = npu.swish %2" + type +
            "%p = npu.reduce_mean %r {axes = array<i64: 1, 2>} : (" + t +
            ") -> " + v +
            "\n%q = npu.conv2d(%p, %w) {strides = array<i64: 1, 1>, pads = "
            "array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (" +
            v + ", tensor<4x1x1x4xf32>) -> " + v +
            "\n%h = npu.hard_sigmoid %q {alpha = 0.2 : f32, beta = 0.5 : "
            "f32} : (" +
            v + ") -> " + v + "\n%3 = npu.mul %r, %h : (" + t + ", " + v +
            ") -> " + t + "\n",
        "1x6x6");
  check("%3 = npu.reduce_max %2 {axes = array<i64: 1, 2>} : (" + t + ") -> " +
            v + "\n",
        "1x1x1");
}

} // namespace
} // namespace npu
