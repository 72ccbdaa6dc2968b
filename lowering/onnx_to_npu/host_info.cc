// What there is to say about a node on the host: cost and remedy.
#include <set>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/host.h"

namespace npu {

static void capture(const onnx::GraphProto &graph, std::set<std::string> known,
                    std::vector<std::string> *out) {
  for (const auto &input : graph.input())
    known.insert(input.name());
  for (const auto &tensor : graph.initializer())
    known.insert(tensor.name());
  for (const auto &node : graph.node()) {
    for (const std::string &name : node.input())
      if (!name.empty() && !known.count(name))
        out->push_back(name);
    for (const auto &a : node.attribute())
      if (a.has_g())
        capture(a.g(), known, out);
    known.insert(node.output().begin(), node.output().end());
  }
  for (const auto &output : graph.output())
    if (!known.count(output.name()))
      out->push_back(output.name());
}

std::vector<std::string> capturedNames(const onnx::NodeProto &node) {
  std::vector<std::string> names, unique;
  for (const auto &a : node.attribute())
    if (a.has_g())
      capture(a.g(), {}, &names);
  std::set<std::string> seen(node.input().begin(), node.input().end());
  for (const std::string &name : names)
    if (seen.insert(name).second)
      unique.push_back(name);
  return unique;
}

int64_t macsOf(const onnx::NodeProto &node,
               const std::function<Dims(const std::string &)> &shapeOf) {
  const std::string &op = node.op_type();
  auto dims = [&](int n) {
    return n < node.input_size() ? shapeOf(node.input(n)) : Dims();
  };
  Dims a = dims(0), w = dims(1);
  int64_t out = 1;
  if (node.output_size())
    out = elementCount(shapeOf(node.output(0)));
  if (a.empty() || w.empty() || out < 0)
    return 0;
  if (op == "Conv" || op == "ConvInteger")
    return out * elementCount(w) / w[0];
  if (op == "ConvTranspose")
    return elementCount(a) * elementCount(w) / w[0];
  if (op == "MatMul" || op == "MatMulInteger")
    return out * a.back();
  if (op == "Gemm") {
    for (const auto &attribute : node.attribute())
      if (attribute.name() == "transA" && attribute.i())
        return out * a[0];
    return out * a.back();
  }
  if ((op == "LSTM" || op == "GRU" || op == "RNN") && a.size() == 3)
    return a[0] * a[1] * (elementCount(w) + elementCount(dims(2)));
  return 0;
}

std::string fixFor(const std::string &op, const absl::Status &why) {
  static const auto *fixes = new std::map<std::string, std::string>{
      {"LSTM",
       "unroll it in the exporter (MatMul, Sigmoid, Tanh, Mul, Add), or "
       "use a convolutional model"},
      {"GRU", "unroll it in the exporter (MatMul, Sigmoid, Tanh, Mul, Add), or "
              "use a convolutional model"},
      {"RNN", "unroll it in the exporter (MatMul, Tanh, Add)"},
      {"Loop", "export with a constant trip count and unrolled"},
      {"Scan", "export unrolled"},
      {"If", "export with a constant condition: fix the shapes and options it "
             "tests"},
      {"NonMaxSuppression", "cut the model ahead of it and select boxes in the "
                            "application"},
      {"TopK", "cut the model ahead of it and select in the application"},
      {"STFT", "write it as a Conv with the window's Fourier basis as weights"},
      {"DFT", "write it as a MatMul with the Fourier basis as weights"},
      {"GridSample", "use Resize where the grid is regular"},
      {"Einsum", "write it as Transpose, Reshape and MatMul"},
      {"Resize", "use mode linear or nearest on two dimensions"},
      {"RandomNormal", "make it an input of the model"},
      {"RandomUniform", "make it an input of the model"},
      {"RandomNormalLike", "make it an input of the model"},
      {"RandomUniformLike", "make it an input of the model"},
      {"Gather", "make the indices a constant of one dimension"},
      {"ScatterND", "write it as Concat of slices where the indices are "
                    "constant"}};
  auto it = fixes->find(op);
  if (it != fixes->end())
    return it->second;
  return absl::IsUnimplemented(why)
             ? "replace it in the exporter by operators that the NPU has, or "
               "leave it on the host"
             : "check the node in the exporter: " + std::string(why.message());
}

} // namespace npu
