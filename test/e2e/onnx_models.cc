#include "test/e2e/onnx_models.h"

#include <cstdlib>
#include <fstream>
#include <random>

namespace npu {

onnx::ModelProto sandwich(const std::string &op, int layers) {
  onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(17);
  auto *g = m.mutable_graph();
  g->set_name("g");
  for (auto *info : {g->add_input(), g->add_output()}) {
    auto *t = info->mutable_type()->mutable_tensor_type();
    t->set_elem_type(onnx::TensorProto::FLOAT);
    for (int d : {1, 3, 8, 8})
      t->mutable_shape()->add_dim()->set_dim_value(d);
  }
  g->mutable_input(0)->set_name("x");
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.3f);
  std::string last = "x";
  auto node = [&](const std::string &type, const std::string &name) {
    auto *n = g->add_node();
    n->set_op_type(type);
    n->set_name(name);
    n->add_input(last);
    n->add_output(last = name + "_out");
    return n;
  };
  auto conv = [&](const std::string &name) {
    auto *w = g->add_initializer();
    w->set_name(name + "_w");
    w->set_data_type(onnx::TensorProto::FLOAT);
    for (int d : {3, 3, 1, 1})
      w->add_dims(d);
    for (int i = 0; i < 9; ++i)
      w->add_float_data(normal(random));
    node("Conv", name)->add_input(name + "_w");
  };
  conv("conv0");
  for (int i = 0; i < layers; ++i) {
    node(op, "odd" + std::to_string(i));
    conv("conv" + std::to_string(i + 1));
  }
  g->mutable_output(0)->set_name(last);
  return m;
}

std::string write(const onnx::ModelProto &model) {
  std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/m.onnx";
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path;
}

} // namespace npu
