// Single-operator models: imported, lowered, executed, and compared with ONNX
// Runtime on the same input.
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "lowering/npu_to_cmdq/test_run.h"
#include "lowering/onnx_to_npu/import.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/onnx_pb.h"
#include "test/reference/onnxruntime.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace npu {
namespace {

using Dims = std::vector<int64_t>;

/// A model of one node, built in the order of the node's inputs.
class OpModel {
public:
  OpModel(const char *op, int64_t opset) {
    model.set_ir_version(8);
    auto *import = model.add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    graph = model.mutable_graph();
    graph->set_name("g");
    node = graph->add_node();
    node->set_op_type(op);
    node->set_name("node");
    outputs(1);
  }
  OpModel(const OpModel &) = delete; // it points into itself

  /// A bound input.
  OpModel &in(Dims dims, int element = onnx::TensorProto::FLOAT) {
    auto *input = graph->add_input();
    input->set_name(next());
    auto *type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(element);
    auto *shape = type->mutable_shape();
    for (int64_t d : dims)
      shape->add_dim()->set_dim_value(d);
    return *this;
  }
  /// A constant of random values in [low, high].
  OpModel &w(Dims dims, float low = -1, float high = 1) {
    auto *t = graph->add_initializer();
    t->set_name(next());
    t->set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (int64_t d : dims) {
      t->add_dims(d);
      count *= d;
    }
    std::uniform_real_distribution<float> value(low, high);
    for (int64_t i = 0; i < count; ++i)
      t->add_float_data(value(random));
    return *this;
  }
  OpModel &floats(std::vector<float> values, bool scalar = false) {
    auto *t = graph->add_initializer();
    t->set_name(next());
    t->set_data_type(onnx::TensorProto::FLOAT);
    if (!scalar)
      t->add_dims(int64_t(values.size()));
    for (float v : values)
      t->add_float_data(v);
    return *this;
  }
  OpModel &scalar(float value) { return floats({value}, true); }
  OpModel &list(const Dims &values) {
    auto *t = graph->add_initializer();
    t->set_name(next());
    t->set_data_type(onnx::TensorProto::INT64);
    t->add_dims(int64_t(values.size()));
    for (int64_t v : values)
      t->add_int64_data(v);
    return *this;
  }
  /// A constant of random integers in [low, high].
  OpModel &q(int type, Dims dims, int low, int high) {
    auto *t = graph->add_initializer();
    t->set_name(next());
    t->set_data_type(type);
    int64_t count = 1;
    for (int64_t d : dims) {
      t->add_dims(d);
      count *= d;
    }
    std::uniform_int_distribution<int> value(low, high);
    for (int64_t i = 0; i < count; ++i)
      t->add_int32_data(value(random));
    return *this;
  }
  /// A scale and a zero point.
  OpModel &quant(float scale, int type, int zero) {
    return floats({scale}, true).zero(type, zero);
  }
  OpModel &zero(int type, int value) { return q(type, {}, value, value); }
  OpModel &none() {
    node->add_input("");
    return *this;
  }
  OpModel &i(const char *name, int64_t value) {
    attribute(name, onnx::AttributeProto::INT)->set_i(value);
    return *this;
  }
  OpModel &f(const char *name, float value) {
    attribute(name, onnx::AttributeProto::FLOAT)->set_f(value);
    return *this;
  }
  OpModel &s(const char *name, const char *value) {
    attribute(name, onnx::AttributeProto::STRING)->set_s(value);
    return *this;
  }
  OpModel &ints(const char *name, const Dims &values) {
    attribute(name, onnx::AttributeProto::INTS)
        ->mutable_ints()
        ->Add(values.begin(), values.end());
    return *this;
  }
  OpModel &floatList(const char *name, const std::vector<float> &values) {
    attribute(name, onnx::AttributeProto::FLOATS)
        ->mutable_floats()
        ->Add(values.begin(), values.end());
    return *this;
  }
  OpModel &outputs(int count, int type = onnx::TensorProto::FLOAT) {
    graph->clear_output();
    node->clear_output();
    for (int n = 0; n < count; ++n) {
      std::string name = "out" + std::to_string(n);
      node->add_output(name);
      auto *output = graph->add_output();
      output->set_name(name);
      output->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    }
    return *this;
  }
  OpModel &domain(const char *name) {
    node->set_domain(name);
    auto *import = model.add_opset_import();
    import->set_domain(name);
    import->set_version(1);
    return *this;
  }

  void save(const std::string &path) const {
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  }
  void compare(double tolerance = 1e-5) const;

private:
  std::string next() {
    node->add_input("t" + std::to_string(node->input_size()));
    return node->input(node->input_size() - 1);
  }
  onnx::AttributeProto *attribute(const char *name,
                                  onnx::AttributeProto::AttributeType type) {
    auto *a = node->add_attribute();
    a->set_name(name);
    a->set_type(type);
    return a;
  }
  onnx::ModelProto model;
  onnx::GraphProto *graph;
  onnx::NodeProto *node;
  std::mt19937 random{3};
};

// As text for runModule, with the target that it takes.
std::string importText(const std::string &path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = importOnnx(path, {}, context);
  if (!module.ok()) {
    ADD_FAILURE() << module.status();
    return "";
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  (*module)->print(out);
  const std::string key = "module attributes {";
  size_t at = text.find(key);
  return at == std::string::npos
             ? text
             : text.replace(at, key.size(), key + "npu.target = $target, ");
}

void expectNear(const std::vector<uint8_t> &bytes,
                const reference::Tensor &expected, double tolerance) {
  ASSERT_EQ(bytes.size(), expected.bytes.size()) << "sizes differ";
  if (expected.type != onnx::TensorProto::FLOAT) {
    EXPECT_EQ(bytes, expected.bytes);
    return;
  }
  std::vector<float> want = expected.floats();
  for (size_t i = 0; i < want.size(); ++i) {
    float got;
    std::memcpy(&got, &bytes[4 * i], 4);
    if (got == want[i] || (std::isnan(got) && std::isnan(want[i])))
      continue;
    ASSERT_NEAR(got, want[i], tolerance * (1 + std::fabs(want[i])))
        << "at " << i << " of " << want.size();
  }
}

void OpModel::compare(double tolerance) const {
  SCOPED_TRACE(node->ShortDebugString());
  std::string path = ::testing::TempDir() + "/op.onnx";
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  auto runtime = reference::Model::load(path);
  ASSERT_TRUE(runtime.ok()) << runtime.status();
  std::string text = importText(path);
  if (::testing::Test::HasFailure())
    return;
  RunResult result =
      runModule(text, "#npu.target<\"host\">", [](mlir::PassManager &) {});
  if (::testing::Test::HasFailure()) {
    ADD_FAILURE() << text;
    return;
  }
  std::vector<reference::Tensor> inputs;
  for (size_t n = 0; n < result.inputs.size(); ++n) {
    const auto &info = (*runtime)->inputs()[n];
    inputs.push_back({info.name, info.type, info.shape, result.inputs[n]});
  }
  auto expected = (*runtime)->run(inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(result.outputs.size(), expected->size());
  for (size_t n = 0; n < expected->size(); ++n)
    expectNear(result.outputs[n], (*expected)[n], tolerance);
}

class ImportTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "/probe.onnx";
    OpModel("Relu", 13).in({1}).save(path);
    auto probe = reference::Model::load(path);
    if (!probe.ok())
      GTEST_SKIP() << "no ONNX Runtime; run tools/dev/setup.sh test ("
                   << probe.status().message() << ")";
  }
};

#include "test/e2e/import_cases.inc"
#include "test/e2e/import_composed_cases.inc"
#include "test/e2e/import_quantized_cases.inc"

} // namespace
} // namespace npu
