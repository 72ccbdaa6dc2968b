#include "tools/npu/config.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace npu;
using testing::ElementsAre;
using testing::HasSubstr;

static std::string errorOf(const std::string &text) {
  auto config = parseConfig(text, "npu.json", testing::TempDir());
  return config.ok() ? "no error" : std::string(config.status().message());
}

TEST(Config, ReadsWhatABoardUserHas) {
  std::string folder = testing::TempDir() + "/config_test";
  std::filesystem::create_directories(folder + "/pictures");
  std::ofstream(folder + "/classes.txt") << "stop\nyield \n\n";
  std::ofstream(folder + "/npu.json") << R"({
    "input": {"name": "image", "shape": [1, 3, 96, 96], "format": "BGR",
              "layout": "NCHW", "mean": [1, 2, 3], "std": 2, "resize": [96, 96]},
    "output": {"labels": "classes.txt"},
    "quantize": {"mode": "mixed", "calibration_dataset": "pictures",
                 "calibration_steps": 8, "method": "entropy",
                 "overrides": [{"layer": "/conv.*/", "mode": "fp32"}]},
    "target": {"hardware": "micro", "npu_cores": 1}})";
  auto config = readConfig(folder + "/npu.json");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->inputs.size(), 1u);
  EXPECT_TRUE(config->inputs[0].isPicture);
  EXPECT_EQ(config->inputs[0].preprocess.name, "image");
  EXPECT_EQ(config->inputs[0].preprocess.format, rt::PixelFormat::kBgr);
  EXPECT_THAT(config->inputs[0].shape, ElementsAre(1, 3, 96, 96));
  EXPECT_THAT(config->labels, ElementsAre("stop", "yield"));
  EXPECT_EQ(config->quantize.dataset, folder + "/pictures");
  EXPECT_EQ(config->quantize.steps, 8);
  EXPECT_EQ(config->quantize.overrides[0].layer, "/conv.*/");
  EXPECT_EQ(config->hardware, "micro");
}

TEST(Config, InputWithoutPictureKeysIsAnArray) {
  auto config = parseConfig(R"({"input": [{"name": "a"}, {"name": "b",
    "mean": 1}]})",
                            "x", "");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->inputs[0].isPicture);
  EXPECT_TRUE(config->inputs[1].isPicture);
}

TEST(Config, ErrorsNameTheJsonPath) {
  EXPECT_THAT(errorOf(R"({"quantise": {}})"),
              HasSubstr("npu.json: $.quantise: unknown key"));
  EXPECT_THAT(errorOf(R"({"input": {"shape": [1, "3"]}})"),
              HasSubstr("$.input.shape[1]: expected integers"));
  EXPECT_THAT(errorOf(R"({"input": {"shape": [1, 0]}})"),
              HasSubstr("dimension 0"));
  EXPECT_THAT(errorOf(R"({"input": [{"std": 0}]})"),
              HasSubstr("$.input[0].std"));
  EXPECT_THAT(errorOf(R"({"quantize": {"mode": "int4"}})"),
              HasSubstr("$.quantize.mode: \"int4\" is none of int8"));
  EXPECT_THAT(errorOf(R"({"quantize": {"calibration_dataset": "nowhere"}})"),
              HasSubstr("$.quantize.calibration_dataset"));
  EXPECT_THAT(errorOf(R"({"quantize": {"calibration_steps": 0}})"),
              HasSubstr("$.quantize.calibration_steps"));
  EXPECT_THAT(errorOf(R"({"quantize": {"min_cosine": 1.5}})"),
              HasSubstr("$.quantize.min_cosine: 1.5 is outside [0, 1)"));
  EXPECT_THAT(errorOf(R"({"quantize": {"percentile": 12}})"),
              HasSubstr("$.quantize.percentile"));
  EXPECT_THAT(errorOf(R"({"quantize": {"overrides": [{"layer": "a"}]}})"),
              HasSubstr("$.quantize.overrides[0]: missing key \"mode\""));
  EXPECT_THAT(errorOf(R"({"output": {"labels": "none.txt"}})"),
              HasSubstr("$.output.labels"));
  EXPECT_THAT(errorOf(R"({"target": {"npu_cores": 0}})"),
              HasSubstr("$.target.npu_cores"));
  EXPECT_THAT(errorOf(R"({"target": {"hardware": "my.json"}})"),
              HasSubstr("$.target.hardware"));
  EXPECT_THAT(errorOf("[]"), HasSubstr("$: expected an object"));
  EXPECT_THAT(errorOf("{"), HasSubstr("not valid JSON"));
}
