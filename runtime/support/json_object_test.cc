#include "runtime/support/json_object.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace npu::rt;
using testing::ElementsAre;
using testing::HasSubstr;

static std::string message(JsonObject &object) {
  return std::string(object.finish().message());
}

TEST(JsonObject, ReadsEveryType) {
  Json json = *parseJson(R"({"b": true, "i": 3, "d": 1.5, "s": "x",
    "v": [1, 2.5], "one": 7, "names": ["a", "b"]})",
                         "test");
  JsonObject object(json, "$");
  bool b = false;
  int64_t i = 0;
  double d = 0;
  std::string s;
  std::vector<double> v;
  std::vector<int64_t> one;
  std::vector<std::string> names;
  object.require("b", &b);
  object.require("i", &i);
  object.require("d", &d);
  object.require("s", &s);
  object.require("v", &v);
  object.require("one", &one);
  object.require("names", &names);
  ASSERT_TRUE(object.finish().ok()) << message(object);
  EXPECT_TRUE(b);
  EXPECT_EQ(i, 3);
  EXPECT_EQ(d, 1.5);
  EXPECT_EQ(s, "x");
  EXPECT_THAT(v, ElementsAre(1, 2.5));
  EXPECT_THAT(one, ElementsAre(7));
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

TEST(JsonObject, AbsentKeyLeavesTheDefault) {
  Json json = Json::object();
  JsonObject object(json, "$");
  int64_t i = 42;
  object.get("i", &i);
  EXPECT_TRUE(object.finish().ok());
  EXPECT_EQ(i, 42);
}

TEST(JsonObject, UnknownKeyNamesPathAndAlternatives) {
  Json json = *parseJson(R"({"maen": 1})", "test");
  JsonObject object(json, "$.input");
  double mean;
  object.get("mean", &mean);
  EXPECT_THAT(message(object), HasSubstr("$.input.maen: unknown key"));
  EXPECT_THAT(message(object), HasSubstr("mean"));
}

TEST(JsonObject, WrongTypeNamesElement) {
  Json json = *parseJson(R"({"mean": [1, 2, "x"]})", "test");
  JsonObject object(json, "$.input");
  std::vector<double> mean;
  object.get("mean", &mean);
  EXPECT_THAT(message(object),
              HasSubstr("$.input.mean[2]: expected numbers, found \"x\""));
}

TEST(JsonObject, MissingRequiredKey) {
  Json json = Json::object();
  JsonObject object(json, "$");
  std::string name;
  object.require("name", &name);
  EXPECT_THAT(message(object), HasSubstr("$: missing key \"name\""));
}

TEST(JsonObject, NotAnObject) {
  Json json = *parseJson("[1]", "test");
  JsonObject object(json, "$");
  EXPECT_THAT(message(object), HasSubstr("$: expected an object, found [1]"));
}

TEST(ParseJson, SyntaxErrorNamesSourceAndLine) {
  auto json = parseJson("{\n \"a\": }", "cfg.json");
  ASSERT_FALSE(json.ok());
  EXPECT_THAT(std::string(json.status().message()), HasSubstr("cfg.json"));
  EXPECT_THAT(std::string(json.status().message()), HasSubstr("line 2"));
}
