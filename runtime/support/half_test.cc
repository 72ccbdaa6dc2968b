#include "runtime/support/half.h"

#include <cmath>

#include "gtest/gtest.h"

namespace npu::rt {
namespace {

TEST(Half, AllValuesComeBack) {
  for (uint32_t h = 0; h < 1 << 16; ++h) {
    float value = halfToFloat(uint16_t(h)), brain = bfloatToFloat(uint16_t(h));
    if (value == value) {
      EXPECT_EQ(halfFromFloat(value), h);
    }
    if (brain == brain) {
      EXPECT_EQ(bfloatFromFloat(brain), h);
    }
  }
  EXPECT_EQ(halfToFloat(0x3c00), 1);
  EXPECT_EQ(halfToFloat(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(bfloatToFloat(0x3f80), 1);
}

// Between neighbours a and b: below the middle a, above it b, in it the even.
TEST(Half, RoundsToNearestEven) {
  for (uint32_t h = 0; h < 0x7bff; ++h) {
    float a = halfToFloat(uint16_t(h)), b = halfToFloat(uint16_t(h + 1));
    float middle = a + (b - a) / 2;
    EXPECT_EQ(halfFromFloat(std::nextafter(middle, a)), h);
    EXPECT_EQ(halfFromFloat(std::nextafter(middle, b)), h + 1);
    EXPECT_EQ(halfFromFloat(middle), h + (h & 1));
    EXPECT_EQ(halfFromFloat(-middle), (h + (h & 1)) | 0x8000);
  }
  for (uint32_t h = 0; h < 0x7f7f; h += 7) {
    float a = bfloatToFloat(uint16_t(h)), b = bfloatToFloat(uint16_t(h + 1));
    float middle = a + (b - a) / 2;
    EXPECT_EQ(bfloatFromFloat(std::nextafter(middle, b)), h + 1);
    EXPECT_EQ(bfloatFromFloat(middle), h + (h & 1));
  }
}

TEST(Half, WhatDoesNotFit) {
  EXPECT_EQ(halfFromFloat(65519.996f), 0x7bff);
  EXPECT_EQ(halfFromFloat(65520), 0x7c00);
  EXPECT_EQ(halfFromFloat(-INFINITY), 0xfc00);
  EXPECT_TRUE(std::isnan(halfToFloat(halfFromFloat(NAN))));
  EXPECT_TRUE(std::isnan(bfloatToFloat(bfloatFromFloat(NAN))));
  EXPECT_EQ(bfloatFromFloat(3.4e38f), 0x7f80);
}

} // namespace
} // namespace npu::rt
