#include "dialects/npu/resize_taps.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

TEST(ResizeTaps, NearestAsymmetricFloorDoubles) {
  auto taps =
      nearestTaps(2, 4, 2.0f, CoordinateRule::kAsymmetric, NearestRule::kFloor);
  int expected[] = {0, 0, 1, 1};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(taps[i].i0, expected[i]);
}

TEST(ResizeTaps, NearestRoundings) {
  // Source coordinates 0, 0.5, 1, 1.5 of 2 elements.
  auto index = [](NearestRule rule, int x) {
    return nearestTaps(2, 4, 2.0f, CoordinateRule::kAsymmetric, rule)[x].i0;
  };
  EXPECT_EQ(index(NearestRule::kRoundPreferFloor, 1), 0);
  EXPECT_EQ(index(NearestRule::kRoundPreferCeil, 1), 1);
  EXPECT_EQ(index(NearestRule::kCeil, 1), 1);
  EXPECT_EQ(index(NearestRule::kCeil, 3), 1); // stays inside
}

TEST(ResizeTaps, LinearHalfPixelClampsAtTheEdge) {
  auto taps = linearTaps(2, 4, 2.0f, CoordinateRule::kHalfPixel);
  EXPECT_EQ(taps[0].i0, 0); // -0.25 -> 0
  EXPECT_FLOAT_EQ(taps[0].w0, 1.0f);
  EXPECT_FLOAT_EQ(taps[1].w0, 0.75f);
  EXPECT_FLOAT_EQ(taps[1].w1, 0.25f);
  EXPECT_EQ(taps[3].i0, 1); // 1.25 -> 1: both taps are the last element
  EXPECT_EQ(taps[3].i1, 1);
  EXPECT_FLOAT_EQ(taps[3].w0 + taps[3].w1, 1.0f);
}

TEST(ResizeTaps, AlignCornersHitsBothEnds) {
  auto taps = linearTaps(3, 5, 5.0f / 3, CoordinateRule::kAlignCorners);
  EXPECT_FLOAT_EQ(taps[0].w0, 1.0f);
  EXPECT_EQ(taps[4].i0, 2);
  EXPECT_EQ(taps[2].i0, 1);
  EXPECT_FLOAT_EQ(taps[1].w0, 0.5f);
  auto one = linearTaps(3, 1, 1.0f / 3, CoordinateRule::kAlignCorners);
  EXPECT_EQ(one[0].i0, 0);
}

TEST(ResizeTaps, PytorchHalfPixelOfOneElementIsTheFirst) {
  auto taps = linearTaps(5, 1, 0.2f, CoordinateRule::kPytorchHalfPixel);
  EXPECT_EQ(taps[0].i0, 0);
  EXPECT_FLOAT_EQ(taps[0].w0, 1.0f);
}

TEST(ResizeTaps, HalfPixelSymmetricIsCentred) {
  auto taps = linearTaps(4, 6, 1.6f, CoordinateRule::kHalfPixelSymmetric);
  // Positions mirror around the centre: t and in - 1 - t.
  for (int i = 0; i < 3; ++i) {
    auto at = [&](int x) {
      return taps[x].i0 * taps[x].w0 + taps[x].i1 * taps[x].w1;
    };
    EXPECT_NEAR(at(i) + at(5 - i), 3.0, 1e-5) << i;
  }
}

} // namespace
} // namespace npu
