#include "passes/quantization/calibration/observer.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace npu::calibration {
namespace {

using testing::HasSubstr;

std::string message(const absl::Status &s) { return std::string(s.message()); }

TEST(Observer, StreamsOverSamples) {
  Observer o;
  std::vector<float> a = {-1, 0, 2, 0}, b = {5, 0, 1, -3};
  ASSERT_TRUE(o.observe("t", a.data(), 4, 2).ok());
  ASSERT_TRUE(o.observe("u", a.data(), 4).ok());
  ASSERT_TRUE(o.observe("t", b.data(), 4, 2).ok());
  CalibrationStats s = o.finish();
  ASSERT_EQ(s.tensors.size(), 2u);
  const TensorStats &t = *s.find("t");
  EXPECT_EQ(t.min, -3);
  EXPECT_EQ(t.max, 5);
  EXPECT_EQ(t.count, 8u);
  EXPECT_EQ(t.zeros, 3u);
  EXPECT_THAT(t.channelMean, testing::ElementsAre(1.75f, -0.75f));
  EXPECT_TRUE(s.find("u")->channelMean.empty());
  EXPECT_EQ(s.find("v"), nullptr);
}

TEST(Observer, OrderDoesNotChangeExtremesAndTotals) {
  Observer o, p;
  std::vector<float> a = {0.1f, 9}, b = {-4, 0.2f};
  ASSERT_TRUE(o.observe("t", a.data(), 2).ok());
  ASSERT_TRUE(o.observe("t", b.data(), 2).ok());
  ASSERT_TRUE(p.observe("t", b.data(), 2).ok());
  ASSERT_TRUE(p.observe("t", a.data(), 2).ok());
  EXPECT_EQ(o.finish().tensors[0].min, p.finish().tensors[0].min);
  EXPECT_EQ(o.finish().tensors[0].max, p.finish().tensors[0].max);
  EXPECT_EQ(o.finish().tensors[0].histogram.total(), 4u);
}

TEST(Observer, NamesTheTensorWithNaN) {
  Observer o;
  std::vector<float> x = {1, 2, NAN};
  EXPECT_THAT(message(o.observe("conv3/Relu6", x.data(), 3)),
              testing::AllOf(HasSubstr("\"conv3/Relu6\""),
                             HasSubstr("element 2 is NaN")));
  x[2] = -INFINITY;
  EXPECT_THAT(message(o.observe("c", x.data(), 3)), HasSubstr("infinite"));
}

TEST(Observer, RefusesWrongChannels) {
  Observer o;
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(message(o.observe("t", x.data(), 6, 4)),
              HasSubstr("multiple of 4"));
  ASSERT_TRUE(o.observe("t", x.data(), 6, 2).ok());
  EXPECT_THAT(message(o.observe("t", x.data(), 6, 3)),
              HasSubstr("has 3 channels, but 2 before"));
}

TEST(Observer, EmptyTensorsAreIgnored) {
  Observer o;
  EXPECT_TRUE(o.observe("t", nullptr, 0).ok());
  EXPECT_TRUE(o.finish().tensors.empty());
}

} // namespace
} // namespace npu::calibration
