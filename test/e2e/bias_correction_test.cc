// Biases corrected by measuring: the channels of every filter get the means
// that they have in the float model, and the tuner uses it where it helps.
#include <cmath>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "test/e2e/onnx_models.h"
#include "tools/npu/bias_correction.h"
#include "tools/npu/tuner.h"

namespace npu {
namespace {

using Sample = std::vector<calibration::InputTensor>;

/// A compiler with a model, calibrated on random samples.
class BiasCorrection : public ::testing::Test {
protected:
  /// `first`: factor of the first channel of the samples.
  void open(const onnx::ModelProto &model, float first = 1) {
    ASSERT_TRUE(compiler_.import(write(model), {}).ok());
    ASSERT_TRUE(compiler_.optimise().ok());
    std::mt19937 random(2);
    std::normal_distribution<float> normal(0.5, 1);
    for (int i = 0; i < 8; ++i) {
      calibration::InputTensor x{"x", {1, 3, 8, 8}, {}};
      for (int n = 0; n < 192; ++n)
        x.data.push_back(normal(random) * (n < 64 ? first : 1));
      samples_.push_back({x});
    }
    calibrate();
  }

  void calibrate() {
    class Memory : public calibration::Dataset {
    public:
      explicit Memory(const std::vector<Sample> &samples) : samples(samples) {}
      size_t size() const override { return samples.size(); }
      std::string name(size_t i) const override { return std::to_string(i); }
      absl::StatusOr<Sample> get(size_t i) override { return samples[i]; }
      const std::vector<Sample> &samples;
    } dataset(samples_);
    auto bytes = compiler_.calibrationBlob();
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    reference_ = load(*bytes);
    auto stats = calibration::runCalibration(*reference_, dataset, {});
    ASSERT_TRUE(stats.ok()) << stats.status();
    request_.stats = std::string(std::getenv("TEST_TMPDIR")) + "/stats.json";
    ASSERT_TRUE(stats->save(request_.stats).ok());
  }

  std::unique_ptr<SessionRunner> load(const std::string &bytes) {
    auto blob = rt::Blob::parse(bytes, "the program");
    EXPECT_TRUE(blob.ok()) << blob.status();
    auto runner = SessionRunner::create(*blob, {});
    EXPECT_TRUE(runner.ok()) << runner.status();
    return *std::move(runner);
  }

  /// The mean of each channel of the filters of a level over all samples.
  std::vector<double> means(int64_t level, bool quantised) {
    auto bytes = compiler_.filterBlob(request_, level, quantised);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    auto runner = load(*bytes);
    std::vector<double> sum(3);
    for (const Sample &sample : samples_) {
      EXPECT_TRUE(runner->run(sample, nullptr).ok());
      std::vector<float> values = runner->output(0);
      for (size_t n = 0; n < values.size(); ++n)
        sum[n % 3] += values[n] / (64.0 * samples_.size());
    }
    return sum;
  }

  /// How far the channels' means are from the float model's.
  double meanError() {
    double worst = 0;
    for (int64_t level = 0; level < 4; ++level) {
      std::vector<double> a = means(level, true), b = means(level, false);
      for (int c = 0; c < 3; ++c)
        worst = std::max(worst, std::fabs(a[c] - b[c]));
    }
    return worst;
  }

  Compiler compiler_{""};
  std::vector<Sample> samples_;
  std::unique_ptr<SessionRunner> reference_;
  QuantizeRequest request_;
};

TEST_F(BiasCorrection, ChannelsGetTheirMeans) {
  open(sandwich("HardSwish", 3));
  double before = meanError();
  std::vector<std::pair<int64_t, int64_t>> steps;
  auto shifts = measureBiasShifts(
      compiler_, request_, samples_, 100,
      [&](int64_t n, int64_t total) { steps.push_back({n, total}); });
  ASSERT_TRUE(shifts.ok()) << shifts.status();
  ASSERT_EQ(shifts->size(), 4u);
  for (const auto &shift : *shifts)
    EXPECT_EQ(shift.size(), 3u);
  EXPECT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps.back(), std::make_pair(int64_t(4), int64_t(4)));
  request_.biasShifts = *shifts;
  // What is left is the rounding of biases to i32.
  EXPECT_LT(meanError(), before / 5);
}

TEST_F(BiasCorrection, NothingToCorrectWithoutFilters) {
  onnx::ModelProto model = sandwich("HardSwish");
  auto *graph = model.mutable_graph();
  graph->clear_initializer();
  for (int i : {0, 2}) {
    graph->mutable_node(i)->set_op_type("Sigmoid");
    graph->mutable_node(i)->mutable_input()->RemoveLast();
  }
  open(model);
  auto shifts = measureBiasShifts(compiler_, request_, samples_, 100);
  ASSERT_TRUE(shifts.ok()) << shifts.status();
  EXPECT_TRUE(shifts->empty());
}

TEST_F(BiasCorrection, ShiftsOfAnotherModelAreRefused) {
  open(sandwich("HardSwish", 3));
  request_.biasShifts.assign(3, {0, 0, 0});
  EXPECT_FALSE(compiler_.trialBlob(request_).ok());
  request_.biasShifts.assign(4, {0, 0});
  EXPECT_FALSE(compiler_.trialBlob(request_).ok());
  request_.biasShifts.assign(4, {0, 0, 0});
  EXPECT_TRUE(compiler_.trialBlob(request_).ok());
}

TEST_F(BiasCorrection, TheTunerTakesTheBestAndMayBeForbidden) {
  // One that INT8 does badly: the first input channel is 300 times the others,
  // its weights are as much smaller.
  onnx::ModelProto model = sandwich("HardSwish", 3);
  auto *weights = model.mutable_graph()->mutable_initializer(0);
  for (int i = 0; i < 9; i += 3)
    weights->set_float_data(i, weights->float_data(i) / 300);
  open(model, 300);
  auto tuner = Tuner::create(compiler_, *reference_, samples_);
  ASSERT_TRUE(tuner.ok());
  request_.method = "auto";
  for (bool may : {true, false}) {
    QuantizeRequest request = request_;
    request.biasCorrection = may;
    auto tried = (*tuner)->settle(&request);
    ASSERT_TRUE(tried.ok()) << tried.status();
    double best = -1;
    bool corrected = false;
    for (const Trial &trial : *tried) {
      best = std::max(best, trial.cosine);
      corrected |= trial.biasCorrected;
    }
    EXPECT_EQ(corrected, may) << best;
    auto settled = (*tuner)->measure(request);
    ASSERT_TRUE(settled.ok());
    EXPECT_EQ(*settled, best);
  }
}

} // namespace
} // namespace npu
