#include <cstdlib>

#include <gtest/gtest.h>

#include "onnx/onnx_pb.h"
#include "runtime/api/npu.h"
#include "runtime/api/session.h"
#include "runtime/blob/testing.h"

namespace npu::rt {
namespace {

HostOptions options() {
  HostOptions o;
  const char *given = std::getenv("NPU_ONNXRUNTIME");
  o.library = given ? given : "third_party/onnxruntime/lib/libonnxruntime.so.1";
  return o;
}

#define NEED_LIBRARY()                                                         \
  if (auto version = hostRuntimeVersion(options().library); !version.ok())     \
  GTEST_SKIP() << version.status()

/// y = -x on [2,4].
std::string negation(int64_t rows = 2) {
  onnx::ModelProto m;
  m.set_ir_version(7);
  m.add_opset_import()->set_version(13);
  auto *g = m.mutable_graph();
  g->set_name("g");
  auto tensor = [&](onnx::ValueInfoProto *v, const char *name) {
    v->set_name(name);
    auto *t = v->mutable_type()->mutable_tensor_type();
    t->set_elem_type(onnx::TensorProto::FLOAT);
    t->mutable_shape()->add_dim()->set_dim_value(rows);
    t->mutable_shape()->add_dim()->set_dim_value(4);
  };
  tensor(g->add_input(), "x");
  tensor(g->add_output(), "y");
  auto *n = g->add_node();
  n->set_op_type("Neg");
  n->add_input("x");
  n->add_output("y");
  return m.SerializeAsString();
}

absl::StatusOr<std::unique_ptr<Session>>
open(const BlobContents &contents, const HostOptions &host = options()) {
  auto blob = Blob::parse(writeBlob(contents), "a.npub");
  if (!blob.ok())
    return blob.status();
  return Session::create(*openDevice({}), *blob, host);
}

TEST(HostSegments, RunBetweenCommands) {
  NEED_LIBRARY();
  auto s = open(testing::hostProgram(negation()));
  ASSERT_TRUE(s.ok()) << s.status();
  std::vector<float> x = {-1, 2, -3, 4, 0, 0, 0, 8};
  ASSERT_TRUE((*s)->setInput("x", DType::kF32, {1, 8}, x.data()).ok());
  (*s)->setProfiling(true);
  for (int i = 0; i < 2; ++i) {
    absl::Status status = (*s)->run();
    ASSERT_TRUE(status.ok()) << status;
    auto *y = reinterpret_cast<float *>((*s)->output(0).data);
    EXPECT_EQ(std::vector<float>(y, y + 8),
              (std::vector<float>{1, 0, -1, -2, 2, 2, 2, -6}));
  }
  auto profile = (*s)->profile();
  ASSERT_EQ(profile.size(), 3u);
  EXPECT_EQ(profile[2].layer, "host: odd");
  EXPECT_EQ(profile[2].engine, "host");
  EXPECT_GT(profile[2].nanoseconds, 0);
}

TEST(HostSegments, ACommandMayFollowOnlyTheSegment) {
  // Without the barrier the addition would race with the absolute value.
  NEED_LIBRARY();
  BlobContents c = testing::hostProgram(negation());
  c.commands[1].engine = Engine::kDmaIn;
  c.commands[1].opcode = Opcode::kDma;
  c.commands[1].operands[2].rank = 0;
  std::memset(&c.commands[1].params, 0, sizeof(c.commands[1].params));
  EXPECT_TRUE(open(c).ok()) << open(c).status();
}

TEST(HostSegments, AModelMustFitItsTensors) {
  NEED_LIBRARY();
  auto s = open(testing::hostProgram(negation(3)));
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.status().message().find(
                "host segment 0: 'x' of its model has ONNX type 1 [3,4]"),
            absl::string_view::npos)
      << s.status();
}

TEST(HostSegments, WithoutTheLibraryASessionSaysSo) {
  HostOptions missing;
  missing.library = "/nowhere/libonnxruntime.so.1";
  auto s = open(testing::hostProgram(negation()), missing);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(s.status().message().find("ONNX Runtime"), absl::string_view::npos);
}

} // namespace
} // namespace npu::rt
