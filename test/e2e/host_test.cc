// Models with nodes that the NPU does not run: built for a target, run with
// host segments, and compared with ONNX Runtime on the whole model.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "runtime/api/session.h"
#include "test/e2e/onnx_models.h"
#include "test/reference/onnxruntime.h"
#include "tools/npu/compiler.h"

namespace npu {
namespace {

std::string library() {
  const char *given = std::getenv("NPU_ONNXRUNTIME");
  std::string path =
      given ? given : "third_party/onnxruntime/lib/libonnxruntime.so.1";
  setenv("NPU_ONNXRUNTIME", path.c_str(), 1);
  return path;
}

#define NEED_LIBRARY()                                                         \
  if (auto version = rt::hostRuntimeVersion(library()); !version.ok())         \
  GTEST_SKIP() << version.status()

struct Built {
  Coverage coverage;
  std::shared_ptr<const rt::Blob> blob;
};

absl::StatusOr<Built> build(const std::string &path, ImportRequest request,
                            const std::string &target) {
  Compiler compiler("");
  Built built;
  for (auto stage : {std::function<absl::Status()>(
                         [&] { return compiler.import(path, request); }),
                     {[&] { return compiler.optimise(); }},
                     {[&] {
                       built.coverage = compiler.coverage();
                       return compiler.compile(target, 0);
                     }}})
    if (absl::Status s = stage(); !s.ok())
      return s;
  auto bytes = compiler.emit({});
  if (!bytes.ok())
    return bytes.status();
  auto blob = rt::Blob::parse(*bytes, "the blob");
  if (!blob.ok())
    return blob.status();
  built.blob = *blob;
  return built;
}

/// Random inputs through both; returns the largest error over the largest
/// magnitude of any output.
double compare(const std::string &path, const Built &built) {
  auto session = rt::Session::create(*rt::openDevice({}), built.blob);
  auto reference = reference::Model::load(path);
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(reference.ok()) << reference.status();
  if (!session.ok() || !reference.ok())
    return INFINITY;
  std::mt19937 random(7);
  std::vector<reference::Tensor> inputs;
  for (size_t i = 0; i < built.blob->inputs().size(); ++i) {
    const rt::TensorInfo &info = built.blob->inputs()[i];
    reference::Tensor t;
    t.name = info.name;
    t.type = rt::toOnnxType(info.dtype);
    for (const auto &declared : (*reference)->inputs())
      if (declared.name == info.name)
        t.shape = declared.shape.empty() ? std::vector<int64_t>() : info.shape;
    t.bytes.resize(info.bytes());
    for (int64_t k = 0; k < info.elements(); ++k) {
      if (info.dtype == rt::DType::kF32) {
        float v = std::uniform_real_distribution<float>(-1, 1)(random);
        std::memcpy(&t.bytes[k * 4], &v, 4);
      } else {
        t.bytes[k * rt::sizeOf(info.dtype)] = random() % 100;
      }
    }
    if (info.name == "sr") { // a sampling rate
      int64_t rate = 16000;
      std::memcpy(t.bytes.data(), &rate, sizeof(rate));
    }
    std::memcpy((*session)->input(i).data, t.bytes.data(), t.bytes.size());
    inputs.push_back(std::move(t));
  }
  auto expected = (*reference)->run(inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  absl::Status status = (*session)->run();
  EXPECT_TRUE(status.ok()) << status;
  if (!expected.ok() || !status.ok())
    return INFINITY;
  double worst = 0;
  for (size_t o = 0; o < expected->size(); ++o) {
    std::vector<float> want = (*expected)[o].floats();
    const rt::TensorInfo &info = built.blob->outputs()[o];
    EXPECT_EQ(int64_t(want.size()), info.elements());
    EXPECT_EQ(info.dtype, rt::DType::kF32);
    auto *got = reinterpret_cast<const float *>((*session)->output(o).data);
    double error = 0, size = 1e-6;
    for (size_t i = 0; i < want.size(); ++i) {
      error = std::max<double>(error, std::fabs(want[i] - got[i]));
      size = std::max<double>(size, std::fabs(want[i]));
    }
    worst = std::max(worst, error / size);
  }
  return worst;
}

TEST(Host, AnOddOperatorInTheMiddle) {
  NEED_LIBRARY();
  std::string path = write(sandwich("Asinh"));
  for (const char *target : {"edge", "pc", "host"}) {
    auto built = build(path, {}, target);
    ASSERT_TRUE(built.ok()) << built.status();
    EXPECT_EQ(built->coverage.hostNodes, 1);
    EXPECT_EQ(built->coverage.npuSubgraphs, 2);
    EXPECT_EQ(built->coverage.host[0].op, "Asinh");
    EXPECT_LT(compare(path, *built), 1e-5) << target;
  }
}

TEST(Host, SeveralSegments) {
  NEED_LIBRARY();
  std::string path = write(sandwich("Atanh", 3));
  auto built = build(path, {}, "edge");
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->blob->hostCalls().size(), 3u);
}

TEST(Host, PlacementRules) {
  NEED_LIBRARY();
  std::string path = write(sandwich("Relu"));
  std::string rules = std::string(std::getenv("TEST_TMPDIR")) + "/rules.json";
  auto with = [&](const char *text) {
    std::ofstream(rules) << text;
    ImportRequest request;
    request.placement = rules;
    return build(path, request, "edge");
  };
  auto built = with(R"({"rules": [{"node": "/conv[01]/", "place": "host"}]})");
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->coverage.hostNodes, 2);
  EXPECT_EQ(built->coverage.hostMacs, 2 * 9 * 64);
  EXPECT_LT(compare(path, *built), 1e-5);
  auto message = [&](const char *text) {
    return std::string(with(text).status().message());
  };
  EXPECT_NE(message(R"({"rules": [{"node": "conv9", "place": "host"}]})")
                .find("no node fits the placement rule for node conv9"),
            std::string::npos);
  EXPECT_NE(message(R"({"rules": [{"op": "Conv", "place": "gpu"}]})")
                .find("\"gpu\" is neither"),
            std::string::npos);
  EXPECT_NE(message(R"({"rules": [{"node": "/(/", "place": "npu"}]})")
                .find("rules[0].node"),
            std::string::npos);
  path = write(sandwich("Asinh"));
  EXPECT_NE(message(R"({"rules": [{"op": "Asinh", "place": "npu"}]})")
                .find("a placement rule keeps it on the NPU"),
            std::string::npos);
}

TEST(Host, ShapesThatDependOnValuesAreRefused) {
  NEED_LIBRARY();
  auto built = build(write(sandwich("NonZero")), {}, "edge");
  ASSERT_FALSE(built.ok());
  EXPECT_NE(built.status().message().find("depends on its input's values"),
            absl::string_view::npos)
      << built.status();
}

class Golden : public ::testing::TestWithParam<const char *> {};
TEST_P(Golden, AgreesWithOnnxRuntime) {
  NEED_LIBRARY();
  const char *folder = std::getenv("NPU_MODELS");
  std::string path =
      std::string(folder ? folder : "") + "/golden/" + GetParam() + ".onnx";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there; set NPU_MODELS";
  auto built = build(path, {}, "edge");
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_LT(compare(path, *built), 2e-3);
}
INSTANTIATE_TEST_SUITE_P(Models, Golden,
                         ::testing::Values("gtcrn_simple", "magika_v3_3",
                                           "ten_vad"));

} // namespace
} // namespace npu
