//===- placement_test.cc - Offsets for buffers with lifetimes -------------===//

#include "passes/memory/Placement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace npu {
namespace {

void expectValid(const std::vector<PlacedBuffer> &buffers, int64_t peak) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const PlacedBuffer &a = buffers[i];
    ASSERT_EQ(a.offset % kBufferAlignment, 0);
    ASSERT_GE(a.offset, 0);
    ASSERT_LE(a.offset + a.bytes, peak);
    for (size_t j = 0; j < i; ++j) {
      const PlacedBuffer &b = buffers[j];
      bool together = a.first <= b.last && b.first <= a.last;
      ASSERT_TRUE(!together || a.offset + a.bytes <= b.offset ||
                  b.offset + b.bytes <= a.offset)
          << i << " and " << j;
    }
  }
}

std::vector<PlacedBuffer> randomBuffers(int count, uint32_t seed, int life) {
  std::mt19937 random(seed);
  std::vector<PlacedBuffer> buffers;
  for (int i = 0; i < count; ++i) {
    int64_t first = i / 2 + random() % 3;
    buffers.push_back({64 * int64_t(1 + random() % 500), first,
                       first + int64_t(random() % life), 0});
  }
  return buffers;
}

TEST(Placement, NothingNeedsNothing) {
  std::vector<PlacedBuffer> buffers;
  EXPECT_EQ(placeBuffers(buffers), 0);
  EXPECT_EQ(largestLiveBytes(buffers).bytes, 0);
}

TEST(Placement, AChainReusesMemory) {
  std::vector<PlacedBuffer> buffers;
  for (int i = 0; i < 10; ++i)
    buffers.push_back({640, i, i + 1, 0});
  EXPECT_EQ(placeBuffers(buffers), 1280);
  expectValid(buffers, 1280);
}

TEST(Placement, SizesAreAligned) {
  std::vector<PlacedBuffer> buffers = {{1, 0, 0, 0}, {1, 0, 0, 0}};
  EXPECT_EQ(placeBuffers(buffers), 128);
  EXPECT_EQ(largestLiveBytes(buffers).bytes, 2);
}

TEST(Placement, LargestLiveBytes) {
  std::vector<PlacedBuffer> buffers = {
      {10, 0, 4, 0}, {20, 3, 6, 0}, {30, 5, 9, 0}};
  LiveBytes live = largestLiveBytes(buffers);
  EXPECT_EQ(live.bytes, 50);
  EXPECT_EQ(live.time, 5);
}

TEST(Placement, RandomBuffersComeCloseToTheBound) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    auto buffers = randomBuffers(300, seed, 12);
    int64_t bound = largestLiveBytes(buffers).bytes;
    int64_t peak = placeBuffers(buffers);
    expectValid(buffers, peak);
    EXPECT_GE(peak, bound);
    EXPECT_LE(peak, bound * 110 / 100) << seed;
  }
}

TEST(Placement, ThousandsOfBuffersAreFast) {
  auto buffers = randomBuffers(5000, 1, 40);
  auto start = std::chrono::steady_clock::now();
  int64_t peak = placeBuffers(buffers);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  expectValid(buffers, peak);
}

} // namespace
} // namespace npu
