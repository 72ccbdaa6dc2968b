#include "runtime/preprocess/preprocess.h"

#include <fstream>

#include "runtime/support/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace npu::rt;
using testing::ElementsAre;
using testing::HasSubstr;

static Image gradient(int width, int height) {
  Image image{width, height, 3, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        image.pixels.push_back(uint8_t(10 * c + x + y));
  return image;
}

TEST(Preprocess, NormalisesPerChannelAndLaysOut) {
  Preprocess spec;
  spec.mean = {0, 10, 20};
  spec.std = {1, 2, 4};
  std::vector<float> out(12);
  ASSERT_TRUE(
      preprocessImage(gradient(2, 2), spec, {1, 3, 2, 2}, out.data()).ok());
  EXPECT_THAT(out, ElementsAre(0, 1, 1, 2, 0, .5, .5, 1, 0, .25, .25, .5));
  spec.layout = TensorLayout::kNhwc;
  ASSERT_TRUE(
      preprocessImage(gradient(2, 2), spec, {1, 2, 2, 3}, out.data()).ok());
  EXPECT_THAT(out, ElementsAre(0, 0, 0, 1, .5, .25, 1, .5, .25, 2, 1, .5));
}

TEST(Preprocess, BgrSwapsChannelsButNotMeans) {
  Preprocess spec;
  spec.format = PixelFormat::kBgr;
  spec.mean = {1, 0, 0};
  std::vector<float> out(3);
  ASSERT_TRUE(
      preprocessImage(gradient(1, 1), spec, {1, 3, 1, 1}, out.data()).ok());
  EXPECT_THAT(out, ElementsAre(19, 10, 0));
}

TEST(Preprocess, CoverCropsTheMiddle) {
  Preprocess spec;
  spec.fit = Fit::kCover;
  std::vector<float> out(12);
  ASSERT_TRUE(
      preprocessImage(gradient(4, 2), spec, {1, 3, 2, 2}, out.data()).ok());
  EXPECT_EQ(out[0], 1); // columns 1 and 2 of 4
  EXPECT_EQ(out[1], 2);
}

TEST(Preprocess, LetterboxFills) {
  Preprocess spec;
  spec.fit = Fit::kLetterbox;
  spec.fill = 77;
  std::vector<float> out(48);
  ASSERT_TRUE(
      preprocessImage(gradient(4, 2), spec, {1, 3, 4, 4}, out.data()).ok());
  EXPECT_EQ(out[0], 77);
  EXPECT_EQ(out[4], 0);
  EXPECT_EQ(out[12], 77);
}

TEST(Preprocess, ShrinkingAverages) {
  Preprocess spec;
  Image image{4, 1, 3, {}};
  for (int x = 0; x < 4; ++x)
    image.pixels.insert(image.pixels.end(), 3, x % 2 ? 200 : 100);
  std::vector<float> out(6);
  ASSERT_TRUE(preprocessImage(image, spec, {1, 3, 1, 2}, out.data()).ok());
  for (float v : out)
    EXPECT_NEAR(v, 150, 15); // a point sample would give 100 or 200
}

TEST(Preprocess, ShapeErrorsNameBothSides) {
  Preprocess spec;
  spec.name = "x";
  float out[64];
  auto message = [&](std::vector<int64_t> shape) {
    return std::string(
        preprocessImage(gradient(2, 2), spec, shape, out).message());
  };
  EXPECT_THAT(message({1, 2, 2, 3}), HasSubstr("need 3 channels, found 2"));
  EXPECT_THAT(message({2, 3, 2, 2}), HasSubstr("[2,3,2,2]"));
  EXPECT_THAT(message({12}), HasSubstr("expected [1,C,H,W]"));
  spec.resize = {4, 4};
  EXPECT_THAT(message({1, 3, 2, 2}), HasSubstr("set input.crop"));
}

TEST(Preprocess, JsonRoundTrip) {
  Preprocess spec;
  spec.name = "image";
  spec.format = PixelFormat::kBgr;
  spec.layout = TensorLayout::kNhwc;
  spec.mean = {1.5, 2, 3};
  spec.std = {0.1};
  spec.fit = Fit::kCover;
  spec.resize = {256};
  spec.crop = {224, 224};
  auto back = preprocessFromJson(toJson(spec).dump());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(toJson(*back), toJson(spec));
}

TEST(Preprocess, JsonErrors) {
  auto message = [](const char *text) {
    return std::string(preprocessFromJson(text).status().message());
  };
  EXPECT_THAT(message(R"({"format": "RBG"})"),
              HasSubstr("$.format: \"RBG\" is none of RGB, BGR, GRAY"));
  EXPECT_THAT(message(R"({"std": [1, 0, 1]})"), HasSubstr("non-zero"));
  EXPECT_THAT(message(R"({"mean": [1, 2]})"), HasSubstr("1 or 3"));
  EXPECT_THAT(message(R"({"resize": [0, 1]})"), HasSubstr("$.resize"));
  EXPECT_THAT(message(R"({"scale": 1})"), HasSubstr("unknown key"));
}

TEST(DecodeImage, ReadsPnmAndRefusesTheRest) {
  std::string folder = testing::TempDir();
  auto write = [&](const char *name, const std::string &bytes) {
    std::string path = folder + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  auto image = decodeImage(write("a.ppm", "P6 2 1 255\n\1\2\3\4\5\6"), 3);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_THAT(image->pixels, ElementsAre(1, 2, 3, 4, 5, 6));
  for (const std::string &path :
       {write("empty.jpg", ""), write("text.png", "hello"),
        write("cut.jpg", "\xff\xd8\xff\xe0"), folder + "/absent.jpg"}) {
    auto bad = decodeImage(path, 3);
    ASSERT_FALSE(bad.ok()) << path;
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr(path));
  }
}
