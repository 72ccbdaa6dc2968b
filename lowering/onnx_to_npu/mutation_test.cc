// Damaged models must be refused, never crash the importer.
#include <filesystem>
#include <fstream>
#include <random>

#include "lowering/onnx_to_npu/import.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/onnx_pb.h"
#include "gtest/gtest.h"

namespace npu {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

onnx::NodeProto *addNode(onnx::GraphProto *graph, const char *op,
                         std::vector<std::string> inputs, const char *output) {
  auto *node = graph->add_node();
  node->set_op_type(op);
  node->set_name(std::string("node_") + output);
  for (const std::string &input : inputs)
    node->add_input(input);
  node->add_output(output);
  return node;
}

void addInts(onnx::NodeProto *node, const char *name,
             const std::vector<int64_t> &values) {
  auto *attr = node->add_attribute();
  attr->set_name(name);
  attr->set_type(onnx::AttributeProto::INTS);
  attr->mutable_ints()->Add(values.begin(), values.end());
}

void addInt(onnx::NodeProto *node, const char *name, int64_t value) {
  auto *attr = node->add_attribute();
  attr->set_name(name);
  attr->set_type(onnx::AttributeProto::INT);
  attr->set_i(value);
}

void addFloats(onnx::GraphProto *graph, const char *name,
               const std::vector<int64_t> &dims) {
  auto *tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  int64_t count = 1;
  for (int64_t d : dims) {
    tensor->add_dims(d);
    count *= d;
  }
  for (int64_t i = 0; i < count; ++i)
    tensor->add_float_data(0.5f + 0.01f * float(i));
}

void addIntegers(onnx::GraphProto *graph, const char *name,
                 const std::vector<int64_t> &values) {
  auto *tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->add_dims(int64_t(values.size()));
  tensor->set_raw_data(values.data(), values.size() * 8);
}

onnx::ModelProto smallNetwork() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto *graph = model.mutable_graph();
  auto *input = graph->add_input();
  input->set_name("x");
  auto *type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (int64_t d : {1, 4, 8, 8})
    type->mutable_shape()->add_dim()->set_dim_value(d);
  graph->add_output()->set_name("y");
  addFloats(graph, "w", {6, 4, 3, 3});
  addFloats(graph, "b", {6});
  addFloats(graph, "dw", {6, 1, 3, 3});
  addFloats(graph, "fc", {6, 5});
  addIntegers(graph, "shape", {1, -1});
  addIntegers(graph, "starts", {1});
  addIntegers(graph, "ends", {7});
  addIntegers(graph, "axes", {3});
  addIntegers(graph, "pads", {0, 0, 1, 1, 0, 0, 0, 1});
  addInts(addNode(graph, "Conv", {"x", "w", "b"}, "a"), "pads", {1, 1, 1, 1});
  for (const char *name : {"s", "bb", "mean", "var"})
    addFloats(graph, name, {6});
  addNode(graph, "BatchNormalization", {"a", "s", "bb", "mean", "var"}, "bn");
  addNode(graph, "Relu", {"bn"}, "r");
  auto *depthwise = addNode(graph, "Conv", {"r", "dw"}, "d");
  addInt(depthwise, "group", 6);
  addInts(depthwise, "strides", {2, 1});
  addNode(graph, "Slice", {"d", "starts", "ends", "axes"}, "sl");
  addNode(graph, "Pad", {"sl", "pads"}, "pd");
  addInts(addNode(graph, "MaxPool", {"pd"}, "mp"), "kernel_shape", {2, 2});
  auto *pool = addNode(graph, "AveragePool", {"pd"}, "ap");
  addInts(pool, "kernel_shape", {2, 2});
  addInt(pool, "ceil_mode", 1);
  addInt(addNode(graph, "Concat", {"mp", "ap"}, "cc"), "axis", 1);
  auto *split = addNode(graph, "Split", {"cc"}, "s0");
  split->add_output("s1");
  addInt(split, "axis", 1);
  addNode(graph, "Mul", {"s0", "s1"}, "m");
  addInts(addNode(graph, "Transpose", {"m"}, "t"), "perm", {0, 2, 3, 1});
  addInts(addNode(graph, "Transpose", {"t"}, "u"), "perm", {0, 3, 1, 2});
  addNode(graph, "GlobalAveragePool", {"u"}, "g");
  addNode(graph, "Reshape", {"g", "shape"}, "f");
  addNode(graph, "MatMul", {"f", "fc"}, "z");
  addInt(addNode(graph, "Softmax", {"z"}, "y"), "axis", -1);
  return model;
}

class MutationTest : public ::testing::Test {
protected:
  absl::Status import(const std::string &bytes) {
    std::string path = ::testing::TempDir() + "/mutant.onnx";
    std::ofstream(path, std::ios::binary) << bytes;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::ScopedDiagnosticHandler quiet(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    return importOnnx(path, {}, context).status();
  }
  std::mt19937 random{1};
};

// Removes, repeats or changes one field somewhere in the message.
void mutate(Message *message, std::mt19937 &random) {
  const auto *reflection = message->GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(*message, &fields);
  if (fields.empty())
    return;
  const FieldDescriptor *field = fields[random() % fields.size()];
  bool list = field->is_repeated();
  int size = list ? reflection->FieldSize(*message, field) : 1;
  int at = size ? int(random() % unsigned(size)) : 0;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
      random() % 8 != 0)
    return mutate(list ? reflection->MutableRepeatedMessage(message, field, at)
                       : reflection->MutableMessage(message, field),
                  random);
  if (list && random() % 3 == 0)
    return reflection->RemoveLast(message, field);
  if (list && random() % 3 == 0 && size > 1)
    return reflection->SwapElements(message, field, at, size - 1);
  const int64_t integers[] = {0,  1,    -1,        2,         3,        5,
                              64, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
  int64_t value = integers[random() % 11];
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT64:
    return list ? reflection->SetRepeatedInt64(message, field, at, value)
                : reflection->SetInt64(message, field, value);
  case FieldDescriptor::CPPTYPE_INT32:
    return list ? reflection->SetRepeatedInt32(message, field, at, int(value))
                : reflection->SetInt32(message, field, int(value));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return list ? reflection->SetRepeatedFloat(message, field, at, 1e38f)
                : reflection->SetFloat(message, field, -1e38f);
  case FieldDescriptor::CPPTYPE_STRING: {
    const char *texts[] = {"",       "x",       "w",       "y",
                           "Conv",   "Softmax", "Reshape", "pads",
                           "Concat", "Split",   "Gather",  "Resize"};
    std::string text = texts[random() % 12];
    return list ? reflection->SetRepeatedString(message, field, at, text)
                : reflection->SetString(message, field, text);
  }
  default:
    return reflection->ClearField(message, field);
  }
}

TEST_F(MutationTest, TheModelItself) {
  absl::Status status = import(smallNetwork().SerializeAsString());
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(MutationTest, ChangedFields) {
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    onnx::ModelProto model = smallNetwork();
    for (unsigned n = random() % 3 + 1; n > 0; --n)
      mutate(&model, random);
    refused += !import(model.SerializePartialAsString()).ok();
  }
  EXPECT_GT(refused, 500);
}

TEST_F(MutationTest, FlippedBytes) {
  std::string good = smallNetwork().SerializeAsString();
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = good;
    for (unsigned n = random() % 3 + 1; n > 0; --n)
      bytes[random() % bytes.size()] ^= char(random() % 255 + 1);
    (void)import(bytes);
  }
}

TEST_F(MutationTest, CutShort) {
  std::string good = smallNetwork().SerializeAsString();
  for (size_t size = 0; size < good.size(); size += 17)
    EXPECT_FALSE(import(good.substr(0, size)).ok()) << size;
}

} // namespace
} // namespace npu
