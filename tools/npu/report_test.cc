#include "tools/npu/report.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace npu;
using testing::HasSubstr;

TEST(Cosine, KnownAngles) {
  float x[] = {1, 0}, y[] = {0, 2}, d[] = {3, 3}, zero[] = {0, 0};
  EXPECT_DOUBLE_EQ(cosine(x, x, 2), 1);
  EXPECT_DOUBLE_EQ(cosine(x, y, 2), 0);
  EXPECT_NEAR(cosine(x, d, 2), std::sqrt(0.5), 1e-12);
  EXPECT_EQ(cosine(zero, zero, 2), 1);
  EXPECT_EQ(cosine(zero, x, 2), 0);
  float nan[] = {NAN, 1};
  EXPECT_TRUE(std::isnan(cosine(nan, d, 2)));
}

static Report sample() {
  Report r;
  r.target = "edge";
  r.coverage.npuNodes = 3;
  r.coverage.hostNodes = 1;
  r.coverage.npuMacs = 300;
  r.coverage.hostMacs = 100;
  r.coverage.host = {{"n1", "Resize", "cubic has no kernel", "use linear"}};
  r.similarity = {{"logits", 0.995, 0.1, 32}};
  r.seconds = {{"import", 0.5}, {"compile", 1.5}};
  return r;
}

TEST(Report, JsonHasTheDocumentedKeys) {
  rt::Json json = toJson(sample());
  EXPECT_EQ(json["coverage"]["npu_nodes"], 3);
  EXPECT_EQ(json["coverage"]["host_nodes"], 1);
  EXPECT_EQ(json["coverage"]["npu_mac_fraction"], 0.75);
  EXPECT_EQ(json["coverage"]["host"][0]["fix"], "use linear");
  EXPECT_EQ(json["similarity"]["logits"]["cosine"], 0.995);
  EXPECT_EQ(json["seconds"]["compile"], 1.5);
  for (const char *key : {"sram_peak_bytes", "dram_arena_bytes",
                          "dram_arena_lower_bound_bytes", "weight_bytes"})
    EXPECT_TRUE(json["memory"].contains(key)) << key;
  for (const char *key : {"cycles", "latency_ms", "mac_efficiency"})
    EXPECT_TRUE(json["estimate"].contains(key)) << key;
}

TEST(Report, SummaryNamesHostNodesAndFixes) {
  std::string text = summary(sample());
  EXPECT_THAT(text, HasSubstr("3 of 4 nodes on the NPU, 75.0 %"));
  EXPECT_THAT(text, HasSubstr("n1 (Resize): cubic has no kernel; use linear"));
  EXPECT_THAT(text, HasSubstr("cosine 0.99500"));
}
