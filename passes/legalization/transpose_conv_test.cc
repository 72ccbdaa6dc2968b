//===- transpose_conv_test.cc - Phases against the definition -------------===//

#include "lowering/npu_to_cmdq/test_run.h"
#include "passes/fusion/Passes.h"
#include "passes/legalization/Passes.h"
#include "passes/tiling/Passes.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;

namespace npu {
namespace {

struct Shape {
  int64_t n, in[2], ic, oc, k[2], s[2], d[2], pads[4], outPads[2], groups;
  int64_t out(int i) const {
    return s[i] * (in[i] - 1) + outPads[i] + d[i] * (k[i] - 1) + 1 - pads[i] -
           pads[i + 2];
  }
};

std::string text(std::initializer_list<int64_t> values, const char *between) {
  std::string out;
  for (int64_t v : values)
    out += (out.empty() ? "" : between) + std::to_string(v);
  return out;
}
std::string list(std::initializer_list<int64_t> values) {
  return "array<i64: " + text(values, ", ") + ">";
}
std::string dims(std::initializer_list<int64_t> values) {
  return text(values, "x") + "x";
}

std::string attributes(const Shape &s) {
  return "strides = " + list({s.s[0], s.s[1]}) +
         ", pads = " + list({s.pads[0], s.pads[1], s.pads[2], s.pads[3]}) +
         ", dilations = " + list({s.d[0], s.d[1]}) +
         ", output_pads = " + list({s.outPads[0], s.outPads[1]}) +
         ", groups = " + std::to_string(s.groups) + " : i64";
}

std::string types(const Shape &s) {
  std::string scales;
  for (int64_t i = 0; i < s.oc; ++i)
    scales += (i ? "," : "") + std::to_string(0.01 + 0.003 * double(i % 7));
  return "!a = !quant.uniform<i8:f32, 0.05:3>\n"
         "!b = !quant.uniform<i8:f32, 0.7:-9>\n"
         "!w = !quant.uniform<i8<-127:127>:f32:0, {" +
         scales + "}>\nmodule attributes {npu.target = $target} {\n";
}

std::string weights(const Shape &s, std::string *type) {
  std::string shape = dims({s.oc, s.k[0], s.k[1], s.ic / s.groups});
  *type = "tensor<" + shape + "!w>";
  return "%w = npu.constant $hex(" +
         std::to_string(s.oc * s.k[0] * s.k[1] * s.ic / s.groups) +
         ",5) : tensor<" + shape + "i8> -> " + *type + "\n";
}

/// The bare sums, and the filter to check them with.
std::string sumsModule(const Shape &s) {
  std::string in = "tensor<" + dims({s.n, s.in[0], s.in[1], s.ic}) + "!a>", w;
  std::string out = "tensor<" + dims({s.n, s.out(0), s.out(1), s.oc}) + "i32>";
  std::string constant = weights(s, &w);
  return types(s) + "func.func @main(%x: " + in + ") -> (" + out + ", " + w +
         ") {\n" + constant + "%0 = npu.transpose_conv2d(%x, %w) {" +
         attributes(s) + "} : (" + in + ", " + w + ") -> " + out +
         "\nreturn %0, %w : " + out + ", " + w + "\n}\n}\n";
}

/// A bias, an activation, a residual and a clip, as four operators.
std::string epilogueModule(const Shape &s) {
  std::string in = "tensor<" + dims({s.n, s.in[0], s.in[1], s.ic}) + "!a>", w;
  std::string shape = dims({s.n, s.out(0), s.out(1), s.oc});
  std::string a = "tensor<" + shape + "!a>", b = "tensor<" + shape + "!b>";
  std::string constant = weights(s, &w);
  std::string n = std::to_string(s.oc);
  return types(s) + "func.func @main(%x: " + in + ", %r: " + a + ") -> " + a +
         " {\n" + constant + "%b = npu.constant $hex(" +
         std::to_string(4 * s.oc) + ",6) : tensor<" + n + "xi32> -> tensor<" +
         n + "xi32>\n%0 = npu.transpose_conv2d(%x, %w, bias %b) {" +
         attributes(s) + "} : (" + in + ", " + w + ", tensor<" + n +
         "xi32>) -> " + b + "\n%1 = npu.swish %0 : (" + b + ") -> " + b +
         "\n%2 = npu.add %r, %1 : (" + a + ", " + b + ") -> " + a +
         "\n%3 = npu.relu %2 : (" + a + ") -> " + a + "\nreturn %3 : " + a +
         "\n}\n}\n";
}

RunResult runWith(const std::string &module, const std::string &target,
                  bool fuse) {
  return runModule(module, target, [&](PassManager &pm) {
    if (fuse)
      pm.addNestedPass<func::FuncOp>(createNpuFuseEpiloguePass());
    pm.addNestedPass<func::FuncOp>(createNpuLegalizePass());
    pm.addNestedPass<func::FuncOp>(createNpuLegalizeDepthwisePass());
    pm.addNestedPass<func::FuncOp>(createNpuTilePass());
  });
}

/// out[o] += in[i] * w[k] for o = s * i + d * k - pad.
std::vector<int32_t> reference(const Shape &s, const int8_t *x,
                               const int8_t *w) {
  int64_t oh = s.out(0), ow = s.out(1), icg = s.ic / s.groups,
          ocg = s.oc / s.groups;
  std::vector<int32_t> out(s.n * oh * ow * s.oc);
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t i = 0; i < s.in[0] * s.in[1]; ++i)
      for (int64_t k = 0; k < s.k[0] * s.k[1]; ++k) {
        int64_t y = s.s[0] * (i / s.in[1]) + s.d[0] * (k / s.k[1]) - s.pads[0];
        int64_t z = s.s[1] * (i % s.in[1]) + s.d[1] * (k % s.k[1]) - s.pads[1];
        if (y < 0 || y >= oh || z < 0 || z >= ow)
          continue;
        const int8_t *from = x + (n * s.in[0] * s.in[1] + i) * s.ic;
        for (int64_t o = 0; o < s.oc; ++o)
          for (int64_t c = 0; c < icg; ++c)
            out[((n * oh + y) * ow + z) * s.oc + o] +=
                (from[o / ocg * icg + c] - 3) *
                w[(o * s.k[0] * s.k[1] + k) * icg + c];
      }
  return out;
}

void check(const Shape &s) {
  for (const char *name : {"host", "pc", "micro"}) {
    std::string target = std::string("#npu.target<\"") + name + "\">";
    RunResult sums = runWith(sumsModule(s), target, false);
    ASSERT_FALSE(::testing::Test::HasFailure()) << sumsModule(s);
    std::vector<int32_t> got(sums.outputs[0].size() / 4);
    std::memcpy(got.data(), sums.outputs[0].data(), sums.outputs[0].size());
    EXPECT_EQ(got,
              reference(s, reinterpret_cast<int8_t *>(sums.inputs[0].data()),
                        reinterpret_cast<int8_t *>(sums.outputs[1].data())))
        << name;
    RunResult plain = runWith(epilogueModule(s), target, false);
    EXPECT_EQ(runWith(epilogueModule(s), target, true).outputs, plain.outputs)
        << name;
  }
}

TEST(TransposeConv, KernelIsStride) {
  check({1, {5, 7}, 6, 4, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {0, 0}, 1});
}
TEST(TransposeConv, Overlapping) {
  check({2, {4, 5}, 5, 3, {4, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0, 0}, 1});
}
TEST(TransposeConv, OutputPads) {
  check({1, {4, 3}, 4, 8, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1});
}
TEST(TransposeConv, OddStridesAndPads) {
  check({1, {5, 6}, 3, 5, {5, 4}, {3, 2}, {1, 1}, {2, 0, 1, 3}, {2, 0}, 1});
}
TEST(TransposeConv, StrideBeyondKernel) {
  check({1, {4, 5}, 4, 4, {2, 1}, {3, 3}, {1, 1}, {0, 0, 0, 0}, {2, 1}, 1});
}
TEST(TransposeConv, Dilated) {
  check({1, {5, 4}, 4, 4, {3, 3}, {2, 1}, {3, 2}, {2, 1, 0, 2}, {1, 0}, 1});
}
TEST(TransposeConv, DilationSharesStride) {
  check({1, {5, 4}, 4, 4, {3, 2}, {2, 2}, {2, 4}, {1, 2, 1, 1}, {1, 0}, 1});
}
TEST(TransposeConv, Groups) {
  check({1, {4, 4}, 6, 9, {3, 3}, {2, 2}, {1, 1}, {1, 1, 0, 0}, {0, 0}, 3});
}
TEST(TransposeConv, DepthwiseStrideOne) {
  check({1, {6, 5}, 8, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {0, 0}, 8});
}
TEST(TransposeConv, NoPadsStrideOne) {
  check({1, {3, 2}, 4, 4, {3, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}, {0, 0}, 1});
}

} // namespace
} // namespace npu
