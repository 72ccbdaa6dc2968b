#include "target/target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace npu::target;
using npu::rt::DType;
using testing::HasSubstr;

namespace {

std::string errorOf(const std::string &text) {
  auto target = parseJson(text);
  return target.ok() ? "ok" : std::string(target.status().message());
}

TEST(Target, PresetsRoundTripThroughJson) {
  for (const std::string &name : presetNames()) {
    auto target = preset(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->name, name);
    auto back = parseJson(toJson(*target));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(*back == *target) << toJson(*back);
  }
}

TEST(Target, PresetsAreWhatTheyPromise) {
  Target edge = *preset("edge"), pc = *preset("pc"), micro = *preset("micro"),
         host = *preset("host");
  // 3.2 TOPS, two operations per MAC.
  EXPECT_NEAR(edge.peakMacs(DType::kI8) * 2 * edge.clock_mhz * 1e6 / 1e12, 3.2,
              0.01);
  EXPECT_EQ(edge.cores, 1);
  EXPECT_TRUE(edge.hasDepthwise(DType::kI8));
  EXPECT_GT(pc.cores, 8);
  EXPECT_FALSE(pc.hasDepthwise(DType::kI8));
  EXPECT_TRUE(pc.hasDepthwise(DType::kF32));
  EXPECT_FALSE(pc.hasDepthwise(DType::kF32, 2));
  EXPECT_EQ(micro.peakMacs(DType::kI8), 256);
  EXPECT_EQ(micro.memory.sram_bytes, 384 * 1024);
  EXPECT_EQ(micro.memory.const_bytes_per_cycle, 1);
  EXPECT_TRUE(host.unified());
  EXPECT_FALSE(edge.unified());
}

TEST(Target, UnknownPresetListsTheOthers) {
  EXPECT_THAT(std::string(preset("gpu").status().message()),
              HasSubstr("edge, pc, micro, host"));
}

TEST(Target, BaseFillsTheMissingFields) {
  auto target = parseJson(
      R"({"base": "edge", "name": "mine", "cores": 2, "memory": {"sram_bytes": 65536}})");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->name, "mine");
  EXPECT_EQ(target->cores, 2);
  EXPECT_EQ(target->memory.sram_bytes, 65536);
  EXPECT_EQ(target->memory.sram_banks, 16);
  EXPECT_EQ(target->clock_mhz, 782);
}

TEST(Target, EverythingIsRequiredWithoutABase) {
  EXPECT_THAT(errorOf(R"({"name": "x"})"), HasSubstr("/clock_mhz: missing"));
}

TEST(Target, StrictJson) {
  EXPECT_THAT(errorOf("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(errorOf("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "core": 1})"),
              HasSubstr("target /core: unknown key"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "memory": {"sram": 1}})"),
              HasSubstr("target /memory/sram: unknown key"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "cores": "two"})"),
              HasSubstr("/cores: expected an integer, got string \"two\""));
  EXPECT_THAT(errorOf(R"({"base": "edge", "cores": 1.5})"),
              HasSubstr("/cores: expected an integer"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "cores": 0})"),
              HasSubstr("/cores: must be in [1, 64], got 0"));
  EXPECT_THAT(
      errorOf(R"({"base": "edge", "matrix": {"macs_per_cycle": {"i8": -1}}})"),
      HasSubstr("/matrix/macs_per_cycle/i8: must be in"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "cores": 1, "cores": 2})"),
              HasSubstr("\"cores\" is given twice"));
  EXPECT_THAT(errorOf(R"({"base": "moon"})"),
              HasSubstr("/base: no target preset"));
  EXPECT_THAT(errorOf(R"({"base": 3})"), HasSubstr("/base: expected the name"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "kernels": {"i8": ["conv3d"]}})"),
              HasSubstr("/kernels/i8/0: no kernel \"conv3d\""));
}

TEST(Target, FieldsMustAgree) {
  EXPECT_THAT(errorOf(R"({"base": "edge", "memory": {"sram_bytes": 0}})"),
              HasSubstr("/memory/sram_banks: must be 0 exactly"));
  EXPECT_THAT(errorOf(R"({"base": "edge", "memory": {"dma_channels": 0}})"),
              HasSubstr("dma_channels"));
  EXPECT_THAT(
      errorOf(R"({"base": "pc", "kernels": {"i8": ["depthwise_conv2d"]}})"),
      HasSubstr("its engine's i8 rate is 0"));
}

TEST(Target, LoadsFiles) {
  std::string path = testing::TempDir() + "/t.json";
  std::ofstream(path) << R"({"base": "micro", "name": "m2"})";
  auto target = load(path);
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->name, "m2");
  std::ofstream(path) << R"({"base": "micro", "nme": "m2"})";
  EXPECT_THAT(std::string(load(path).status().message()), HasSubstr(path));
  EXPECT_THAT(std::string(load("no/such.json").status().message()),
              HasSubstr("no/such.json"));
  EXPECT_TRUE(load("host").ok());
}

} // namespace
