//===- depthwise_test.cc - Every way gives the same integers --------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/legalization/Passes.h"
#include "passes/tiling/Passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mlir;

namespace npu {
namespace {

struct Shape {
  int64_t n, h, w, c, m, kh, kw, sh, sw, dh, dw;
  int64_t pads[4];
  int64_t icg = 1; ///< more than 1: a grouped conv2d, m outputs a group
};

std::string list(std::initializer_list<int64_t> values) {
  std::string text = "array<i64: ";
  for (int64_t v : values)
    text += std::to_string(v) + ", ";
  return text.substr(0, text.size() - 2) + ">";
}

std::string dims(std::initializer_list<int64_t> values) {
  std::string text;
  for (int64_t v : values)
    text += std::to_string(v) + "x";
  return text;
}

/// Per-axis scales that differ from channel to channel.
std::string scales(int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string(0.01 + 0.003 * double(i % 7));
  return text + "}";
}

int64_t windowed(int64_t in, int64_t low, int64_t high, int64_t k, int64_t d,
                 int64_t s) {
  return (in + low + high - d * (k - 1) - 1) / s + 1;
}

/// A convolution with everything in its epilogue, residual included.
std::string moduleOf(const Shape &s) {
  bool grouped = s.icg > 1;
  int64_t groups = s.c / s.icg, oc = groups * s.m;
  int64_t oh = windowed(s.h, s.pads[0], s.pads[2], s.kh, s.dh, s.sh);
  int64_t ow = windowed(s.w, s.pads[1], s.pads[3], s.kw, s.dw, s.sw);
  std::string filter =
      grouped ? dims({oc, s.kh, s.kw, s.icg}) : dims({s.kh, s.kw, oc});
  std::string in = "tensor<" + dims({s.n, s.h, s.w, s.c}) + "!a>";
  std::string out = "tensor<" + dims({s.n, oh, ow, oc}) + "!b>";
  std::string count = std::to_string(oc * s.kh * s.kw * s.icg);
  std::string op = grouped ? "npu.conv2d" : "npu.depthwise_conv2d";
  return "!a = !quant.uniform<i8:f32, 0.05:3>\n"
         "!b = !quant.uniform<i8:f32, 0.07:-9>\n"
         "!c = !quant.uniform<i8:f32, 0.11:5>\n"
         "!w = !quant.uniform<i8<-127:127>:f32:" +
         std::string(grouped ? "0" : "2") + ", " + scales(oc) +
         ">\nmodule attributes {npu.target = $target} {\n"
         "func.func @main(%x: " +
         in + ", %r: " + out + ") -> " + out + " {\n" +
         "%w = npu.constant $hex(" + count + ",5) : tensor<" + filter +
         "i8> -> tensor<" + filter + "!w>\n" + "%b = npu.constant $hex(" +
         std::to_string(4 * oc) + ",6) : tensor<" + std::to_string(oc) +
         "xi32> -> tensor<" + std::to_string(oc) + "xi32>\n" + "%0 = " + op +
         "(%x, %w, bias %b residual %r) {strides = " + list({s.sh, s.sw}) +
         ", pads = " + list({s.pads[0], s.pads[1], s.pads[2], s.pads[3]}) +
         ", dilations = " + list({s.dh, s.dw}) +
         (grouped ? ", groups = " + std::to_string(groups) + " : i64" : "") +
         ", activation = #npu.act<hard_swish>, pre_activation_type = !c, "
         "residual_type = !a, residual_activation = #npu.act<clip, -3.0, 6.0>"
         "} : (" +
         in + ", tensor<" + filter + "!w>, tensor<" + std::to_string(oc) +
         "xi32>, " + out + ") -> " + out + "\nreturn %0 : " + out + "\n}\n}\n";
}

RunResult runWith(const Shape &s, const std::string &force,
                  const std::string &target) {
  return runModule(moduleOf(s), target, [&](PassManager &pm) {
    NpuLegalizeDepthwisePassOptions options;
    options.force = force;
    pm.addNestedPass<func::FuncOp>(createNpuLegalizeDepthwisePass(options));
    pm.addNestedPass<func::FuncOp>(createNpuTilePass());
  });
}

/// The ways that `s` can go, on a target that has all kernels.
std::vector<std::string> waysOf(const Shape &s) {
  if (s.icg > 1)
    return {"native", "dense"};
  if (s.m > 1)
    return {"native", "dense", "vector_mac", "expand"};
  return {"native", "dense", "vector_mac"};
}

void check(const Shape &s) {
  const std::string host = "#npu.target<\"host\">";
  RunResult first = runWith(s, "native", host);
  ASSERT_FALSE(::testing::Test::HasFailure()) << moduleOf(s);
  const auto &bytes = first.outputs.at(0);
  EXPECT_NE(bytes, std::vector<uint8_t>(bytes.size(), bytes[0]));
  for (const std::string &way : waysOf(s))
    EXPECT_EQ(runWith(s, way, host).outputs, first.outputs) << way;
  // Every target finds a way of its own.
  for (const char *target : {"edge", "pc", "micro"})
    EXPECT_EQ(
        runWith(s, "", std::string("#npu.target<\"") + target + "\">").outputs,
        first.outputs)
        << target;
}

TEST(Depthwise, Plain) {
  check({1, 9, 11, 16, 1, 3, 3, 1, 1, 1, 1, {1, 1, 1, 1}});
}
TEST(Depthwise, StrideOddSizes) {
  check({1, 13, 7, 24, 1, 3, 5, 2, 2, 1, 1, {0, 1, 2, 2}});
}
TEST(Depthwise, StridesDiffer) {
  check({1, 10, 9, 7, 1, 5, 2, 2, 1, 1, 1, {2, 0, 1, 1}});
}
TEST(Depthwise, Dilated) {
  check({1, 15, 12, 8, 1, 3, 3, 1, 2, 2, 3, {2, 3, 2, 3}});
}
TEST(Depthwise, NoPadsBatch2) {
  check({2, 6, 8, 5, 1, 2, 3, 1, 1, 1, 1, {0, 0, 0, 0}});
}
TEST(Depthwise, MultiplierBatch2) {
  check({2, 8, 7, 6, 3, 3, 3, 2, 1, 1, 1, {1, 1, 1, 0}});
}
TEST(Depthwise, OneChannel) {
  check({1, 12, 10, 1, 8, 4, 3, 2, 2, 1, 1, {1, 1, 2, 1}});
}
TEST(Depthwise, Grouped) {
  check({1, 9, 8, 12, 5, 3, 3, 1, 1, 1, 1, {1, 1, 1, 1}, 3});
}
TEST(Depthwise, GroupedStrideDilation) {
  check({2, 11, 9, 16, 4, 3, 1, 2, 1, 2, 1, {2, 0, 2, 0}, 4});
}

} // namespace
} // namespace npu
