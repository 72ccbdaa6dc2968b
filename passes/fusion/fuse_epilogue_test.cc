//===- fuse_epilogue_test.cc - Fused is as unfused ------------------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/fusion/Passes.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace npu {
namespace {

RunResult runWith(const std::string &body, bool fuse) {
  std::string module =
      "!a = !quant.uniform<i8:f32, 0.05:3>\n"
      "!b = !quant.uniform<i8:f32, 0.7:-9>\n"
      "!c = !quant.uniform<i8:f32, 0.11:5>\n"
      "!w = !quant.uniform<i8<-127:127>:f32:0, {0.01,0.02,0.03,0.04,0.05,0.06,"
      "0.07,0.08}>\n"
      "!d = !quant.uniform<i8<-127:127>:f32, 0.02>\n"
      "module attributes {npu.target = $target} {\n" +
      body + "}\n";
  return runModule(module, "#npu.target<\"host\">", [&](PassManager &pm) {
    if (fuse)
      pm.addNestedPass<func::FuncOp>(createNpuFuseEpiloguePass());
  });
}

/// The same bytes from `commands` commands.
void check(const std::string &body, int commands) {
  RunResult plain = runWith(body, false), fused = runWith(body, true);
  ASSERT_FALSE(::testing::Test::HasFailure());
  for (const auto &output : plain.outputs)
    EXPECT_NE(output, std::vector<uint8_t>(output.size(), output[0]));
  EXPECT_EQ(fused.outputs, plain.outputs);
  EXPECT_EQ(fused.commands, commands);
  EXPECT_GT(plain.commands, commands);
}

const char *kWindow = "{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, "
                      "1>, dilations = array<i64: 1, 1>}";

TEST(FuseEpilogue, ConvActivationResidualClip) {
  for (const char *act : {"relu %0", "hard_swish %0", "sigmoid %0", "gelu %0",
                          "leaky_relu %0 {alpha = 0.1 : f32}",
                          "clip %0 {min = -3.0 : f32, max = 6.0 : f32}"})
    for (const char *type : {"!b", "!c"})
      check(std::string("func.func @main(%x: tensor<1x9x8x8x!a>, %r: "
                        "tensor<1x9x8x8x!a>) -> tensor<1x9x8x8x!a> {\n"
                        "%w = npu.constant $hex(576,1) : tensor<8x3x3x8xi8> -> "
                        "tensor<8x3x3x8x!w>\n"
                        "%0 = npu.conv2d(%x, %w) ") +
                kWindow +
                " : (tensor<1x9x8x8x!a>, tensor<8x3x3x8x!w>) -> "
                "tensor<1x9x8x8x!b>\n%1 = npu." +
                act + " : (tensor<1x9x8x8x!b>) -> tensor<1x9x8x8x" + type +
                ">\n%2 = npu.add %1, %r : (tensor<1x9x8x8x" + type +
                ">, tensor<1x9x8x8x!a>) -> tensor<1x9x8x8x!a>\n"
                "%3 = npu.relu %2 : (tensor<1x9x8x8x!a>) -> "
                "tensor<1x9x8x8x!a>\nreturn %3 : tensor<1x9x8x8x!a>\n}\n",
            1);
}

TEST(FuseEpilogue, TwoConvolutionsIntoOneSum) {
  check(std::string("func.func @main(%x: tensor<1x9x8x8x!a>) -> "
                    "tensor<1x9x8x8x!c> {\n"
                    "%w = npu.constant $hex(576,1) : tensor<8x3x3x8xi8> -> "
                    "tensor<8x3x3x8x!w>\n"
                    "%v = npu.constant $hex(72,2) : tensor<3x3x8xi8> -> "
                    "tensor<3x3x8x!d>\n%0 = npu.conv2d(%x, %w) ") +
            kWindow +
            " : (tensor<1x9x8x8x!a>, tensor<8x3x3x8x!w>) -> "
            "tensor<1x9x8x8x!b>\n%1 = npu.depthwise_conv2d(%x, %v) " +
            kWindow +
            " : (tensor<1x9x8x8x!a>, tensor<3x3x8x!d>) -> "
            "tensor<1x9x8x8x!c>\n"
            "%2 = npu.add %0, %1 : (tensor<1x9x8x8x!b>, tensor<1x9x8x8x!c>) -> "
            "tensor<1x9x8x8x!c>\n%3 = npu.relu %2 : (tensor<1x9x8x8x!c>) -> "
            "tensor<1x9x8x8x!c>\nreturn %3 : tensor<1x9x8x8x!c>\n}\n",
        2);
}

TEST(FuseEpilogue, BareSumsAndRescale) {
  check("func.func @main(%x: tensor<3x8x!a>) -> tensor<3x8x!b> {\n"
        "%w = npu.constant $hex(64,1) : tensor<8x8xi8> -> tensor<8x8x!d>\n"
        "%b = npu.constant dense<[1,2,3,4,5,6,7,-800]> : tensor<8xi32> -> "
        "tensor<8xi32>\n"
        "%c = npu.constant dense<[100,200,-300,4,5,6,7,8]> : tensor<8xi32> -> "
        "tensor<8xi32>\n"
        "%0 = npu.fully_connected(%x, %w, bias %b) : (tensor<3x8x!a>, "
        "tensor<8x8x!d>, tensor<8xi32>) -> tensor<3x8xi32>\n"
        "%1 = npu.add %0, %c : (tensor<3x8xi32>, tensor<8xi32>) -> "
        "tensor<3x8xi32>\n"
        "%2 = npu.rescale(%1, bias %c) {scales = array<f32: 0.001>} : "
        "(tensor<3x8xi32>, tensor<8xi32>) -> tensor<3x8x!c>\n"
        "%3 = npu.swish %2 : (tensor<3x8x!c>) -> tensor<3x8x!b>\n"
        "return %3 : tensor<3x8x!b>\n}\n",
        1);
}

TEST(FuseEpilogue, Binaries) {
  for (const char *op : {"add", "sub", "mul", "min", "max", "prelu"})
    for (const char *act : {"relu", "tanh", "hard_swish"})
      check(std::string("func.func @main(%x: tensor<5x8x!a>, %y: "
                        "tensor<1x8x!c>) -> tensor<5x8x!b> {\n%0 = npu.") +
                op +
                " %x, %y : (tensor<5x8x!a>, tensor<1x8x!c>) -> "
                "tensor<5x8x!a>\n%1 = npu." +
                act +
                " %0 : (tensor<5x8x!a>) -> tensor<5x8x!b>\n"
                "return %1 : tensor<5x8x!b>\n}\n",
            1);
}

} // namespace
} // namespace npu
