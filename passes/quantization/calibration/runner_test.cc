#include "passes/quantization/calibration/runner.h"

#include <cmath>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace npu::calibration {
namespace {

using testing::HasSubstr;

class Numbers : public Dataset {
public:
  explicit Numbers(std::vector<float> values) : values(std::move(values)) {}
  size_t size() const override { return values.size(); }
  std::string name(size_t i) const override { return "n" + std::to_string(i); }
  std::string digest() const override { return "d1"; }
  absl::StatusOr<std::vector<InputTensor>> get(size_t i) override {
    if (values[i] == -1)
      return absl::InvalidArgumentError("not a picture");
    return std::vector<InputTensor>{{"x", {1, 2}, {values[i], 0}}};
  }
  std::vector<float> values;
};

/// y = 2 x.
class Doubler : public FloatRunner {
public:
  absl::Status run(const std::vector<InputTensor> &in,
                   const Tap &tap) override {
    absl::Status s = tap({in[0].name, in[0].data.data(), in[0].shape});
    if (!s.ok())
      return s;
    std::vector<float> y = {in[0].data[0] * 2, in[0].data[1] * 2};
    seen.push_back(in[0].data[0]);
    return tap({"y", y.data(), {1, 2}});
  }
  std::vector<float> seen;
};

TEST(RunCalibration, CollectsEveryTensor) {
  Numbers data({1, 5, 3});
  Doubler model;
  std::vector<size_t> steps;
  CalibrationOptions options;
  options.modelHash = "h";
  auto stats = runCalibration(model, data, options, [&](size_t done, size_t n) {
    EXPECT_EQ(n, 3u);
    steps.push_back(done);
    return true;
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->find("x")->max, 5);
  EXPECT_EQ(stats->find("y")->max, 10);
  EXPECT_THAT(stats->find("y")->channelMean, testing::ElementsAre(6, 0));
  EXPECT_EQ(stats->modelHash, "h");
  EXPECT_EQ(stats->datasetDigest, "d1");
  EXPECT_EQ(stats->samples, 3);
  EXPECT_THAT(steps, testing::ElementsAre(0, 1, 2, 3));
}

TEST(RunCalibration, SpreadsTheSamples) {
  Numbers data({0, 1, 2, 3, 4, 5, 6, 7});
  Doubler model;
  CalibrationOptions options;
  options.maxSamples = 4;
  ASSERT_TRUE(runCalibration(model, data, options).ok());
  EXPECT_THAT(model.seen, testing::ElementsAre(0, 2, 4, 6));
}

TEST(RunCalibration, EmptyDataSet) {
  Numbers data({});
  Doubler model;
  auto stats = runCalibration(model, data, {});
  EXPECT_THAT(std::string(stats.status().message()), HasSubstr("is empty"));
}

TEST(RunCalibration, ErrorsNameTheSample) {
  Doubler model;
  Numbers unreadable({1, -1});
  EXPECT_THAT(
      std::string(runCalibration(model, unreadable, {}).status().message()),
      HasSubstr("sample n1: not a picture"));
  Numbers poisoned({1, 2, NAN});
  EXPECT_THAT(
      std::string(runCalibration(model, poisoned, {}).status().message()),
      testing::AllOf(HasSubstr("sample n2"), HasSubstr("tensor \"x\"")));
}

TEST(RunCalibration, CanBeCancelled) {
  Numbers data({1, 2, 3});
  Doubler model;
  auto stats = runCalibration(model, data, {},
                              [](size_t done, size_t) { return done < 1; });
  EXPECT_EQ(stats.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(model.seen.size(), 1u);
}

} // namespace
} // namespace npu::calibration
