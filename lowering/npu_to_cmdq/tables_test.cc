#include "lowering/npu_to_cmdq/Tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace npu {
namespace {

TEST(Quantize, RoundsTiesToEvenAndSaturates) {
  QuantParams params{0.5f, 3};
  EXPECT_EQ(quantize(0.25f, params), 3); // 0.5 -> 0
  EXPECT_EQ(quantize(0.75f, params), 5); // 1.5 -> 2
  EXPECT_EQ(quantize(1000.0f, params), 127);
  EXPECT_EQ(quantize(-std::numeric_limits<float>::infinity(), params), -128);
  EXPECT_EQ(quantize(std::nanf(""), params), 3);
}

TEST(LookupTable, HardSwish) {
  QuantParams in{0.1f, -10}, out{0.05f, -60};
  auto table = lookupTable(rt::Function::kHardSwish, 0, 0, in, out);
  for (int q = -128; q < 128; ++q) {
    double x = 0.1f * static_cast<float>(q + 10);
    double y = x * std::min(1.0, std::max(0.0, x / 6 + 0.5));
    double expected = std::nearbyint(y / 0.05f) - 60;
    expected = std::min(127.0, std::max(-128.0, expected));
    EXPECT_NEAR(table[q + 128], expected, 1) << q;
  }
}

TEST(LookupTable, IdentityIsRequantisation) {
  QuantParams params{0.25f, 7};
  auto table = lookupTable(rt::Function::kIdentity, 0, 0, params, params);
  for (int q = -128; q < 128; ++q)
    EXPECT_EQ(table[q + 128], q);
}

TEST(LookupTable, OfTenBits) {
  QuantParams in{0.02f, -40}, out{1.0f / 256, -128};
  in.qmin = -512, in.qmax = 511;
  auto table = lookupTable(rt::Function::kSigmoid, 0, 0, in, out);
  ASSERT_EQ(table.size(), size_t(rt::kWideLut));
  for (int q = -512; q < 512; ++q) {
    double y = 1 / (1 + std::exp(-double(0.02f) * (q + 40)));
    double expected = std::min(127.0, std::nearbyint(y * 256) - 128);
    EXPECT_NEAR(table[q + 512], expected, 1) << q;
  }
}

TEST(Evaluate, Softplus) {
  EXPECT_NEAR(evaluate(rt::Function::kSoftplus, 1.5, 0, 0),
              std::log(1 + std::exp(1.5)), 1e-12);
  EXPECT_EQ(evaluate(rt::Function::kSoftplus, 1e4, 0, 0), 1e4);
}

TEST(SoftmaxTable, StartsWithOneAndFalls) {
  auto table = softmaxTable(0.1f);
  EXPECT_EQ(table[0], 1.0f);
  EXPECT_NEAR(table[10], std::exp(-1.0), 1e-6);
}

} // namespace
} // namespace npu
