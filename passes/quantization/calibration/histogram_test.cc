#include "passes/quantization/calibration/histogram.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace npu::calibration {
namespace {

std::vector<float> normal(size_t n, float mean, float sigma, int seed = 1) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> d(mean, sigma);
  std::vector<float> x(n);
  for (float &v : x)
    v = d(rng);
  return x;
}

void add(Histogram &h, const std::vector<float> &x) {
  Scan s = scan(x.data(), x.size());
  h.add(x.data(), x.size(), s.min, s.max);
}

uint64_t sum(const Histogram &h) {
  return std::accumulate(h.counts().begin(), h.counts().end(), uint64_t(0));
}

TEST(Scan, AllLengthsAgreeWithAPlainLoop) {
  std::vector<float> x = normal(200, 0.5f, 2);
  for (size_t i = 0; i < x.size(); i += 7)
    x[i] = i % 2 ? 0.0f : -0.0f;
  for (size_t n = 1; n <= x.size(); ++n) {
    Scan s = scan(x.data(), n);
    EXPECT_EQ(s.min, *std::min_element(x.begin(), x.begin() + n));
    EXPECT_EQ(s.max, *std::max_element(x.begin(), x.begin() + n));
    EXPECT_EQ(s.zeros, uint64_t(std::count(x.begin(), x.begin() + n, 0.0f)));
    EXPECT_TRUE(s.finite);
  }
}

TEST(Scan, FindsNonFiniteValuesAtAnyPlace) {
  for (float bad : {NAN, INFINITY, -INFINITY})
    for (size_t at : {0, 1, 31, 32, 95, 96, 99}) {
      std::vector<float> x(100, 1.0f);
      x[at] = bad;
      EXPECT_FALSE(scan(x.data(), x.size()).finite) << bad << " at " << at;
    }
}

TEST(Scan, ExtremeFiniteValuesAreFinite) {
  float big = std::numeric_limits<float>::max();
  std::vector<float> x(64, big);
  x[3] = -big;
  x[40] = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(scan(x.data(), x.size()).finite);
}

TEST(Histogram, CountsEveryValueInItsBin) {
  Histogram h;
  std::vector<float> x = normal(10000, 1, 3);
  add(h, x);
  EXPECT_EQ(sum(h), x.size());
  for (size_t i = 0; i < h.counts().size(); ++i) {
    double lo = h.low() + i * h.width(), slack = h.width() * 1e-3;
    uint64_t inner = 0, outer = 0;
    for (float v : x) {
      inner += v >= lo + slack && v < lo + h.width() - slack;
      outer += v >= lo - slack && v < lo + h.width() + slack;
    }
    EXPECT_GE(h.counts()[i], inner);
    EXPECT_LE(h.counts()[i], outer);
  }
}

TEST(Histogram, GrowsBothWaysWithoutLosingCounts) {
  Histogram h;
  for (float scale : {0.01f, 1.0f, 300.0f, 2.0f, 1e6f}) {
    add(h, normal(999, -scale, scale, int(scale)));
    EXPECT_LE(h.low(), -scale);
    EXPECT_GE(h.high(), scale);
  }
  EXPECT_EQ(h.total(), 5u * 999);
  EXPECT_EQ(sum(h), h.total());
}

TEST(Histogram, GrowthMergesPairsExactly) {
  Histogram grown;
  std::vector<float> x = normal(5000, 2, 1);
  add(grown, x);
  double low = grown.low(), width = grown.width();
  add(grown, {float(grown.high() * 1.5)});
  ASSERT_EQ(grown.low(), low);
  ASSERT_EQ(grown.width(), 2 * width);
  Histogram again;
  add(again, x);
  for (int i = 0; i < Histogram::kBins / 4; ++i)
    EXPECT_EQ(grown.counts()[i],
              again.counts()[2 * i] + again.counts()[2 * i + 1]);
}

TEST(Histogram, KeepsResolutionAfterOneGrowth) {
  Histogram h;
  add(h, {0.0f, 1.0f});
  add(h, {0.0f, 2.0f});
  EXPECT_GT(2.0 / h.width(), 1000) << "bins over the range";
}

TEST(Histogram, ReluRangeStartsAtZero) {
  Histogram h;
  add(h, {0.0f, 0.0f, 5.0f});
  EXPECT_EQ(h.low(), 0);
  EXPECT_EQ(h.counts()[0], 2u);
}

TEST(Histogram, ConstantsHaveNoBinsUntilAnotherValueComes) {
  Histogram h;
  add(h, {3.0f, 3.0f});
  add(h, {3.0f});
  EXPECT_EQ(h.width(), 0);
  EXPECT_TRUE(h.counts().empty());
  EXPECT_EQ(h.total(), 3u);
  add(h, {-1.0f, 5.0f});
  EXPECT_EQ(sum(h), 5u);
}

TEST(Histogram, TwoDifferentConstants) {
  Histogram h;
  add(h, std::vector<float>(10, 0.0f));
  add(h, std::vector<float>(20, 4.0f));
  EXPECT_EQ(sum(h), 30u);
  EXPECT_EQ(h.counts()[0], 10u);
}

TEST(Histogram, TinyAndHugeValues) {
  Histogram h;
  add(h, {1e-38f, 1e-45f, 0.0f});
  add(h, {3e38f, -3e38f});
  EXPECT_EQ(sum(h), 5u);
}

TEST(ChannelSums, AnyChannelCount) {
  for (size_t channels : {1, 2, 3, 5, 8, 24, 63, 64, 100}) {
    size_t rows = 317;
    std::vector<float> x = normal(rows * channels, 1, 1);
    std::vector<double> sums(channels, 0.5), expected(channels, 0.5);
    for (size_t i = 0; i < x.size(); ++i)
      expected[i % channels] += x[i];
    addChannelSums(x.data(), x.size(), channels, sums.data());
    for (size_t c = 0; c < channels; ++c)
      EXPECT_NEAR(sums[c], expected[c], 1e-3) << channels;
  }
}

} // namespace
} // namespace npu::calibration
