// What every handler may rely on, checked once.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/importer.h"

namespace npu {

// Inputs that must be there, where there is more than one.
static int requiredInputs(const std::string &op) {
  static const std::map<std::string, int> *required =
      new std::map<std::string, int>{{"Constant", 0},
                                     {"RandomNormal", 0},
                                     {"Conv", 2},
                                     {"ConvTranspose", 2},
                                     {"Gemm", 2},
                                     {"MatMul", 2},
                                     {"Add", 2},
                                     {"Sub", 2},
                                     {"Mul", 2},
                                     {"Div", 2},
                                     {"Pow", 2},
                                     {"Mod", 2},
                                     {"PRelu", 2},
                                     {"And", 2},
                                     {"Or", 2},
                                     {"Xor", 2},
                                     {"Equal", 2},
                                     {"Greater", 2},
                                     {"Less", 2},
                                     {"GreaterOrEqual", 2},
                                     {"LessOrEqual", 2},
                                     {"Where", 3},
                                     {"Range", 3},
                                     {"Reshape", 2},
                                     {"Expand", 2},
                                     {"Tile", 2},
                                     {"Gather", 2},
                                     {"GatherND", 2},
                                     {"GatherElements", 2},
                                     {"ScatterND", 3},
                                     {"OneHot", 3},
                                     {"LayerNormalization", 2},
                                     {"InstanceNormalization", 3},
                                     {"BatchNormalization", 5}};
  auto it = required->find(op);
  return it == required->end() ? 1 : it->second;
}

// Every input is a tensor of data, none may be left out.
static bool isVariadic(const std::string &op) {
  return op == "Concat" || op == "Max" || op == "Min" || op == "Sum" ||
         op == "Mean";
}

// The second input is a list that may be empty.
static bool takesShape(const std::string &op) {
  return op == "Reshape" || op == "Expand" || op == "Tile";
}

absl::Status checkNode(Importer &importer, const Node &node) {
  const std::string &op = node.proto.op_type();
  int required = requiredInputs(op);
  int data = takesShape(op) ? 1 : required;
  if (isVariadic(op))
    data = required = std::max(1, node.inputs());
  for (int n = 0; n < required; ++n)
    if (!node.has(n))
      return absl::InvalidArgumentError(
          absl::StrCat("input ", n, " is missing"));
  if (node.proto.output_size() == 0 || node.proto.output(0).empty())
    return absl::InvalidArgumentError("it has no output");
  bool allConstant = true;
  for (int n = 0; n < node.inputs(); ++n)
    allConstant &= !node.has(n) || importer.constant(node, n) != nullptr;
  for (int n = 0; n < data && !allConstant; ++n)
    if (TensorPtr t = importer.constant(node, n); t && t->count() == 0)
      return absl::UnimplementedError(
          absl::StrCat("input ", n, " is an empty tensor"));
  return absl::OkStatus();
}

absl::Status finiteWeights(const Tensor &tensor) {
  for (size_t n = 0; n < tensor.f.size(); ++n)
    if (!std::isfinite(tensor.f[n]))
      return absl::InvalidArgumentError(
          absl::StrCat("weight ", n, " is ", tensor.f[n],
                       "; the training or export of this model went wrong"));
  return absl::OkStatus();
}

} // namespace npu
