#include "passes/quantization/calibration/ranges.h"

#include <cmath>
#include <limits>
#include <random>

#include "passes/quantization/calibration/observer.h"
#include "gtest/gtest.h"

namespace npu::calibration {
namespace {

TensorStats observe(const std::vector<float> &x) {
  Observer o;
  EXPECT_TRUE(o.observe("x", x.data(), x.size()).ok());
  return o.finish().tensors[0];
}

std::vector<float> laplace(size_t n, float scale, bool relu = false) {
  std::mt19937 rng(7);
  std::exponential_distribution<float> d(1 / scale);
  std::bernoulli_distribution sign(0.5);
  std::vector<float> x(n);
  for (float &v : x)
    v = sign(rng) ? d(rng) : (relu ? 0 : -d(rng));
  return x;
}

std::vector<float> uniform(size_t n, float lo, float hi) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> d(lo, hi);
  std::vector<float> x(n);
  for (float &v : x)
    v = d(rng);
  return x;
}

/// The squared error by definition: round every value to the grid.
double plainError(const std::vector<float> &x, Range r) {
  double scale = (r.max - r.min) / 255, sum = 0;
  double zp = std::nearbyint(-r.min / scale);
  for (float v : x) {
    double q = std::nearbyint(v / scale) + zp;
    q = std::min(255.0, std::max(0.0, q));
    double d = v - (q - zp) * scale;
    sum += d * d;
  }
  return sum / double(x.size());
}

TEST(ParseMethod, KnowsItsFour) {
  for (Method m :
       {Method::kMinMax, Method::kPercentile, Method::kEntropy, Method::kMse})
    EXPECT_EQ(*parseMethod(methodName(m)), m);
  absl::Status bad = parseMethod("kl").status();
  EXPECT_NE(std::string(bad.message()).find("entropy"), std::string::npos);
}

TEST(ChooseRange, AlwaysHoldsZero) {
  TensorStats stats = observe(uniform(1000, 3, 5));
  for (Method m :
       {Method::kMinMax, Method::kPercentile, Method::kEntropy, Method::kMse}) {
    Range r = chooseRange(stats, {m});
    EXPECT_EQ(r.min, 0) << methodName(m);
    EXPECT_GT(r.max, 4.5) << methodName(m);
    EXPECT_LE(r.max, 5) << methodName(m);
  }
}

TEST(ChooseRange, ConstantTensors) {
  for (float c : {0.0f, 2.5f, -1.0f}) {
    TensorStats stats = observe(std::vector<float>(10, c));
    for (Method m : {Method::kMinMax, Method::kPercentile, Method::kEntropy,
                     Method::kMse}) {
      Range r = chooseRange(stats, {m});
      EXPECT_EQ(r.min, std::min(0.0f, c));
      EXPECT_EQ(r.max, std::max(0.0f, c));
    }
  }
}

TEST(ChooseRange, PercentileCutsBothTails) {
  TensorStats stats = observe(uniform(200000, -1, 1));
  Range r = chooseRange(stats, {Method::kPercentile, 90});
  EXPECT_NEAR(r.min, -0.9, 0.01);
  EXPECT_NEAR(r.max, 0.9, 0.01);
  Range all = chooseRange(stats, {Method::kPercentile, 100});
  EXPECT_EQ(all.max, stats.max);
  EXPECT_EQ(all.min, stats.min);
}

TEST(ChooseRange, MseIsTheBestOfABruteForceSearch) {
  std::vector<float> x = laplace(200000, 1);
  x.push_back(30); // an outlier far away
  x.push_back(-16);
  TensorStats stats = observe(x);
  Range chosen = chooseRange(stats, {Method::kMse});
  double best = std::numeric_limits<double>::infinity();
  for (int a = 1; a <= 16; ++a)
    for (int b = 1; b <= 16; ++b)
      best = std::min(
          best, plainError(x, {stats.min * a / 16.0, stats.max * b / 16.0}));
  EXPECT_LT(plainError(x, chosen), best * 1.05);
  EXPECT_LT(chosen.max, 24);
  EXPECT_LT(plainError(x, chosen), plainError(x, {stats.min, stats.max}) * 0.9);
}

TEST(ChooseRange, MseKeepsAUniformDistributionWhole) {
  TensorStats stats = observe(uniform(50000, -2, 2));
  Range r = chooseRange(stats, {Method::kMse});
  EXPECT_LT(r.min, -1.95);
  EXPECT_GT(r.max, 1.95);
}

TEST(MeanSquaredError, AgreesWithRoundingEveryValue) {
  for (bool relu : {false, true}) {
    std::vector<float> x = laplace(50000, 1, relu);
    TensorStats stats = observe(x);
    for (double f : {0.1, 0.3, 0.6, 1.0}) {
      Range r = {std::min(0.0f, stats.min) * f, stats.max * f};
      EXPECT_NEAR(meanSquaredError(stats, r) / plainError(x, r), 1, 0.05)
          << f << (relu ? " relu" : "");
    }
  }
}

/// The divergence by definition, on distributions written out in full.
double plainDivergence(const TensorStats &stats, Range r) {
  const Histogram &h = stats.histogram;
  int start = int(std::floor((r.min - h.low()) / h.width() + 0.5));
  int end = int(std::floor((r.max - h.low()) / h.width() + 0.5));
  std::vector<double> p(end - start), q(end - start);
  int zeroBin = int(std::floor(-h.low() / h.width()));
  double below = 0, above = 0;
  int first = -1, last = -1; // the window's bins inside the histogram
  for (int i = 0; i < Histogram::kBins; ++i) {
    double c = double(h.counts()[i]) - (i == zeroBin ? double(stats.zeros) : 0);
    if (i < start)
      below += c;
    else if (i >= end)
      above += c;
    else {
      p[i - start] = c;
      first = first < 0 ? i - start : first;
      last = i - start;
    }
  }
  std::vector<double> raw = p;
  p[first] += below;
  p[last] += above;
  int n = end - start, from = 0;
  for (int level = 1; level <= 256; ++level) {
    int to = int(std::floor(double(n) * level / 256));
    double mass = 0, filled = 0;
    for (int i = from; i < to; ++i) {
      mass += raw[i];
      filled += p[i] > 0;
    }
    for (int i = from; i < to; ++i)
      if (p[i] > 0)
        q[i] = mass > 0 ? mass / filled : 1e-4;
    from = to;
  }
  double sp = 0, sq = 0, kl = 0;
  for (int i = 0; i < n; ++i) {
    sp += p[i];
    sq += raw[i];
  }
  for (int i = 0; i < n; ++i)
    if (p[i] > 0)
      kl += p[i] / sp * std::log((p[i] / sp) / (q[i] / sq));
  return kl;
}

TEST(Divergence, AgreesWithTheDefinition) {
  for (bool relu : {false, true}) {
    TensorStats stats = observe(laplace(30000, 1, relu));
    for (double f : {0.35, 0.5, 0.77, 1.0}) {
      Range r = {std::min(0.0f, stats.min) * f, stats.max * f};
      EXPECT_NEAR(divergence(stats, r), plainDivergence(stats, r), 1e-9) << f;
    }
  }
}

TEST(Divergence, AgreesWhenTheRangeLeavesTheHistogram) {
  TensorStats stats =
      observe(uniform(20000, 3, 5)); // the histogram has no zero
  EXPECT_NEAR(divergence(stats, {0, 5}), plainDivergence(stats, {0, 5}), 1e-9);
  EXPECT_NEAR(divergence(stats, {0, 4}), plainDivergence(stats, {0, 4}), 1e-9);
}

TEST(ChooseRange, EntropyIsNearTheBruteForceMinimum) {
  std::vector<float> x = laplace(40000, 1);
  x.push_back(80);
  TensorStats stats = observe(x);
  Range chosen = chooseRange(stats, {Method::kEntropy});
  double best = std::numeric_limits<double>::infinity();
  for (int a = 1; a <= 24; ++a)
    for (int b = 1; b <= 24; ++b) {
      Range r = {stats.min * a / 24, stats.max * b / 24};
      if (r.max - r.min >= 256 * stats.histogram.width())
        best = std::min(best, plainDivergence(stats, r));
    }
  EXPECT_LE(divergence(stats, chosen), best * 1.02 + 1e-6);
  EXPECT_LT(chosen.max, 40) << "the outlier is cut off";
}

TEST(ChooseRange, EntropyIgnoresExactZeros) {
  std::vector<float> x = laplace(20000, 1, /*relu=*/true), padded = x;
  padded.resize(x.size() * 20, 0.0f);
  Range a = chooseRange(observe(x), {Method::kEntropy});
  Range b = chooseRange(observe(padded), {Method::kEntropy});
  EXPECT_DOUBLE_EQ(a.max, b.max);
}

} // namespace
} // namespace npu::calibration
