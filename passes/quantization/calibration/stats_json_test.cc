#include <cstdlib>
#include <fstream>

#include "nlohmann/json.hpp"
#include "passes/quantization/calibration/observer.h"
#include "passes/quantization/calibration/ranges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace npu::calibration {
namespace {

using testing::HasSubstr;
using json = nlohmann::ordered_json;

CalibrationStats sample() {
  Observer o;
  std::vector<float> x = {0, 0.1f, 0.25f, 1.5f, 2, 3.3f};
  std::vector<float> constant(3, 0.7f);
  EXPECT_TRUE(o.observe("a/b:0", x.data(), 6, 3).ok());
  EXPECT_TRUE(o.observe("constant", constant.data(), 3).ok());
  CalibrationStats s = o.finish();
  s.modelHash = "abc";
  s.datasetDigest = "def";
  s.samples = 1;
  return s;
}

/// The error of reading sample() after `edit`.
template <typename Edit> std::string errorOf(Edit edit) {
  json root = json::parse(sample().toJson());
  edit(root);
  auto stats = CalibrationStats::fromJson(root.dump());
  return stats.ok() ? "ok" : std::string(stats.status().message());
}

TEST(StatsJson, RoundTripIsIdentical) {
  CalibrationStats s = sample();
  auto again = CalibrationStats::fromJson(s.toJson());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->toJson(), s.toJson());
  EXPECT_EQ(again->modelHash, "abc");
  EXPECT_EQ(again->samples, 1);
  EXPECT_EQ(again->tensors[0].max, 3.3f);
  EXPECT_EQ(again->tensors[0].histogram.counts(),
            s.tensors[0].histogram.counts());
  EXPECT_EQ(again->tensors[1].histogram.width(), 0);
  EXPECT_EQ(again->tensors[1].histogram.total(), 3u);
}

TEST(StatsJson, AllMethodsGiveTheSameRangesAfterReading) {
  CalibrationStats s = sample();
  auto again = CalibrationStats::fromJson(s.toJson());
  for (Method m :
       {Method::kMinMax, Method::kPercentile, Method::kEntropy, Method::kMse}) {
    Range a = chooseRange(s.tensors[0], {m});
    Range b = chooseRange(again->tensors[0], {m});
    EXPECT_EQ(a.min, b.min);
    EXPECT_EQ(a.max, b.max);
  }
}

TEST(StatsJson, NotJson) {
  EXPECT_FALSE(CalibrationStats::fromJson("").ok());
  EXPECT_FALSE(CalibrationStats::fromJson("[1, 2").ok());
  std::string text = sample().toJson();
  for (size_t cut = 0; cut + 2 < text.size(); cut += 97)
    EXPECT_FALSE(CalibrationStats::fromJson(text.substr(0, cut)).ok()) << cut;
}

TEST(StatsJson, WrongRoot) {
  for (const char *text : {"[]", "null", "3", "\"x\"", "{}"})
    EXPECT_FALSE(CalibrationStats::fromJson(text).ok()) << text;
}

TEST(StatsJson, FormatAndVersion) {
  EXPECT_THAT(errorOf([](json &j) { j["format"] = "other"; }),
              HasSubstr("$.format"));
  EXPECT_THAT(errorOf([](json &j) { j["version"] = 3; }),
              HasSubstr("$.version: version 3 is not supported"));
}

TEST(StatsJson, PathsOfErrors) {
  EXPECT_THAT(errorOf([](json &j) { j["tensors"][1]["min"] = "low"; }),
              HasSubstr("$.tensors[1].min: expected a number"));
  EXPECT_THAT(errorOf([](json &j) { j["tensors"][0].erase("zeros"); }),
              HasSubstr("$.tensors[0]: missing key \"zeros\""));
  EXPECT_THAT(errorOf([](json &j) { j["tensors"][0]["extra"] = 1; }),
              HasSubstr("$.tensors[0].extra: unknown key"));
  EXPECT_THAT(errorOf([](json &j) { j["tensors"] = 4; }),
              HasSubstr("$.tensors"));
  EXPECT_THAT(errorOf([](json &j) { j["tensors"][0]["histogram"] = 4; }),
              HasSubstr("$.tensors[0].histogram: expected an object"));
  EXPECT_THAT(
      errorOf([](json &j) { j["tensors"][0]["histogram"]["counts"][2] = -1; }),
      HasSubstr("$.tensors[0].histogram.counts[2]"));
}

TEST(StatsJson, ImpossibleValues) {
  auto tensor = [](auto edit) {
    return errorOf([&](json &j) { edit(j["tensors"][0]); });
  };
  EXPECT_THAT(tensor([](json &t) { t["min"] = 99; }), HasSubstr("above max"));
  EXPECT_THAT(tensor([](json &t) { t["max"] = 1e39; }), HasSubstr("float32"));
  EXPECT_THAT(tensor([](json &t) { t["zeros"] = 7; }), HasSubstr("zeros"));
  EXPECT_THAT(tensor([](json &t) { t["count"] = -1; }), HasSubstr("negative"));
  EXPECT_THAT(tensor([](json &t) { t["count"] = 7; }), HasSubstr("sum to 6"));
  EXPECT_THAT(tensor([](json &t) { t["histogram"]["width"] = -1; }),
              HasSubstr("width"));
  EXPECT_THAT(tensor([](json &t) { t["histogram"]["width"] = 0; }),
              HasSubstr("must be empty"));
  EXPECT_THAT(tensor([](json &t) { t["histogram"]["first"] = 2040; }),
              HasSubstr("2048"));
  EXPECT_THAT(tensor([](json &t) { t["name"] = "constant"; }),
              HasSubstr("listed twice"));
}

TEST(StatsJson, Files) {
  std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/stats.json";
  ASSERT_TRUE(sample().save(path).ok());
  auto again = CalibrationStats::load(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->toJson(), sample().toJson());
  EXPECT_THAT(
      std::string(CalibrationStats::load(path + "x").status().message()),
      HasSubstr(path + "x"));
  std::ofstream(path) << "{\"format\": \"npu-calibration\"}";
  EXPECT_THAT(std::string(CalibrationStats::load(path).status().message()),
              testing::AllOf(HasSubstr(path), HasSubstr("version")));
  EXPECT_FALSE(sample().save("/nonexistent/folder/s.json").ok());
}

} // namespace
} // namespace npu::calibration
