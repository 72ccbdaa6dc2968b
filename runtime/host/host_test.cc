#include "runtime/host/host_model.h"

#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "onnx/onnx_pb.h"
#include "runtime/host/ort_api.h"

#if __has_include("third_party/onnxruntime/include/onnxruntime_c_api.h")
#include "third_party/onnxruntime/include/onnxruntime_c_api.h"

// The places that we state are those of the header.
#define SLOT(name, field)                                                      \
  static_assert(npu::rt::ort::name == offsetof(OrtApi, field) / sizeof(void *))
SLOT(kGetErrorMessage, GetErrorMessage);
SLOT(kCreateEnv, CreateEnv);
SLOT(kCreateSessionFromArray, CreateSessionFromArray);
SLOT(kRun, Run);
SLOT(kCreateSessionOptions, CreateSessionOptions);
SLOT(kSetIntraOpNumThreads, SetIntraOpNumThreads);
SLOT(kSetInterOpNumThreads, SetInterOpNumThreads);
SLOT(kSessionGetInputCount, SessionGetInputCount);
SLOT(kSessionGetOutputCount, SessionGetOutputCount);
SLOT(kSessionGetInputTypeInfo, SessionGetInputTypeInfo);
SLOT(kSessionGetOutputTypeInfo, SessionGetOutputTypeInfo);
SLOT(kSessionGetInputName, SessionGetInputName);
SLOT(kSessionGetOutputName, SessionGetOutputName);
SLOT(kCreateTensorWithData, CreateTensorWithDataAsOrtValue);
SLOT(kIsTensor, IsTensor);
SLOT(kGetTensorMutableData, GetTensorMutableData);
SLOT(kCastTypeInfoToTensorInfo, CastTypeInfoToTensorInfo);
SLOT(kGetTensorElementType, GetTensorElementType);
SLOT(kGetDimensionsCount, GetDimensionsCount);
SLOT(kGetDimensions, GetDimensions);
SLOT(kGetTensorTypeAndShape, GetTensorTypeAndShape);
SLOT(kCreateCpuMemoryInfo, CreateCpuMemoryInfo);
SLOT(kAllocatorFree, AllocatorFree);
SLOT(kGetAllocatorWithDefaultOptions, GetAllocatorWithDefaultOptions);
SLOT(kReleaseStatus, ReleaseStatus);
SLOT(kReleaseMemoryInfo, ReleaseMemoryInfo);
SLOT(kReleaseSession, ReleaseSession);
SLOT(kReleaseValue, ReleaseValue);
SLOT(kReleaseTypeInfo, ReleaseTypeInfo);
SLOT(kReleaseShapeInfo, ReleaseTensorTypeAndShapeInfo);
SLOT(kReleaseSessionOptions, ReleaseSessionOptions);
#endif

namespace npu::rt {
namespace {

constexpr char kLibrary[] = "third_party/onnxruntime/lib/libonnxruntime.so.1";

HostOptions options() {
  HostOptions o;
  const char *given = std::getenv("NPU_ONNXRUNTIME");
  o.library = given ? given : kLibrary;
  return o;
}

#define NEED_LIBRARY()                                                         \
  if (auto version = hostRuntimeVersion(options().library); !version.ok())     \
  GTEST_SKIP() << version.status()

std::string model(const std::string &op, bool fixed = true) {
  onnx::ModelProto m;
  m.set_ir_version(7);
  m.add_opset_import()->set_version(13);
  auto *g = m.mutable_graph();
  g->set_name("g");
  auto tensor = [&](onnx::ValueInfoProto *v, const char *name, bool known) {
    v->set_name(name);
    auto *t = v->mutable_type()->mutable_tensor_type();
    t->set_elem_type(onnx::TensorProto::FLOAT);
    if (known)
      t->mutable_shape()->add_dim()->set_dim_value(4);
  };
  tensor(g->add_input(), "x", true);
  tensor(g->add_output(), "y", fixed);
  auto *n = g->add_node();
  n->set_op_type(op);
  n->add_input("x");
  n->add_output("y");
  return m.SerializeAsString();
}

TEST(HostModel, RunsOnTheCallersMemory) {
  NEED_LIBRARY();
  auto m = HostModel::load(model("Neg"), "segment 0", options());
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ((*m)->inputs()[0].name, "x");
  EXPECT_EQ((*m)->outputs()[0].shape, std::vector<int64_t>{4});
  float x[4] = {1, -2, 3, 0}, y[4] = {};
  auto bytes = [](float *p) { return reinterpret_cast<uint8_t *>(p); };
  ASSERT_TRUE((*m)->run({bytes(x)}, {bytes(y)}).ok());
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], -3);
  EXPECT_FALSE((*m)->run({bytes(x)}, {}).ok());
}

TEST(HostModel, EvaluateFindsShapes) {
  NEED_LIBRARY();
  auto m = HostModel::load(model("Neg", false), "segment 0", options());
  ASSERT_TRUE(m.ok()) << m.status();
  auto results = (*m)->evaluate({{1, {4}, std::string(16, '\0')}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].shape, std::vector<int64_t>{4});
  EXPECT_EQ((*results)[0].bytes.size(), 16u);
}

TEST(HostModel, ErrorsNameTheModelInOneLine) {
  NEED_LIBRARY();
  for (const std::string &bytes : {std::string("rubbish"), model("NoSuchOp")}) {
    auto m = HostModel::load(bytes, "segment 7", options());
    ASSERT_FALSE(m.ok());
    std::string text(m.status().message());
    EXPECT_EQ(text.find("segment 7: ONNX Runtime: "), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(HostModel, AMissingLibrarySaysWhatToDo) {
  HostOptions missing;
  missing.library = "/nowhere/libonnxruntime.so.1";
  auto m = HostModel::load(model("Neg"), "segment 0", missing);
  ASSERT_FALSE(m.ok());
  EXPECT_EQ(m.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(m.status().message().find("NPU_ONNXRUNTIME"),
            absl::string_view::npos);
}

TEST(HostModel, TypesGoThereAndBack) {
  for (int t = 0; t < kNumDTypes; ++t)
    EXPECT_EQ(fromOnnxType(toOnnxType(static_cast<DType>(t))),
              static_cast<DType>(t));
  EXPECT_EQ(fromOnnxType(8), std::nullopt); // string
}

} // namespace
} // namespace npu::rt
