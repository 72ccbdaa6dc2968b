// ONNX types and shapes around nodes on the host.
#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/host.h"
#include "onnx/shape_inference/implementation.h"
#include "runtime/host/host_model.h"

namespace npu {

using onnx::TensorProto;

int DeclaredTypes::get(const std::string &name) const {
  auto it = types.find(name);
  return it == types.end() ? 0 : it->second;
}

static const onnx::AttributeProto *find(const onnx::NodeProto &node,
                                        const char *name) {
  for (const auto &a : node.attribute())
    if (a.name() == name)
      return &a;
  return nullptr;
}

void DeclaredTypes::follow(const onnx::NodeProto &node) {
  const std::string &op = node.op_type();
  auto input = [&](int n) {
    return n < node.input_size() ? get(node.input(n)) : 0;
  };
  int type = 0;
  const onnx::AttributeProto *to = find(node, "to"),
                             *value = find(node, "value");
  if (op == "Cast" && to)
    type = int(to->i());
  else if ((op == "Constant" || op == "ConstantOfShape") && value)
    type = value->t().data_type();
  else if (op == "QuantizeLinear")
    type = input(2) ? input(2) : int(TensorProto::UINT8);
  else if (op == "DequantizeLinear")
    type = input(1) ? input(1) : int(TensorProto::FLOAT);
  else
    for (int n = 0; n < node.input_size() && !type; ++n)
      type = input(n);
  for (const std::string &output : node.output())
    if (type && !output.empty())
      types[output] = type;
}

int edgeType(int type) {
  switch (type) {
  case TensorProto::FLOAT:
  case TensorProto::DOUBLE:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return TensorProto::FLOAT;
  case TensorProto::INT8:
  case TensorProto::UINT8:
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::INT32:
  case TensorProto::UINT32:
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::BOOL:
    return type;
  default:
    return 0;
  }
}

static bool isStatic(const onnx::TypeProto &type) {
  if (!type.has_tensor_type() || !type.tensor_type().elem_type() ||
      !type.tensor_type().has_shape())
    return false;
  for (const auto &dim : type.tensor_type().shape().dim())
    if (!dim.has_dim_value() || dim.dim_value() < 0)
      return false;
  return true;
}

/// ONNX's own inference. The installed library may be older than the opset;
/// what it does not know it leaves open.
static bool inferByOnnx(onnx::ModelProto &model) {
  onnx::ModelProto copy = model;
  try { // the library reports errors by exceptions
    onnx::shape_inference::InferShapes(copy);
  } catch (...) {
    return false;
  }
  std::map<std::string, const onnx::TypeProto *> found;
  for (const auto *list : {&copy.graph().value_info(), &copy.graph().output()})
    for (const auto &info : *list)
      if (isStatic(info.type()))
        found[info.name()] = &info.type();
  for (const auto &output : model.graph().output())
    if (!found.count(output.name()))
      return false;
  for (auto &output : *model.mutable_graph()->mutable_output())
    *output.mutable_type() = *found[output.name()];
  return true;
}

static void setType(onnx::ValueInfoProto *info, int type,
                    const std::vector<int64_t> &shape) {
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape()->clear_dim();
  for (int64_t d : shape)
    tensor->mutable_shape()->add_dim()->set_dim_value(d);
}

/// Inputs filled with one value.
static absl::StatusOr<std::vector<rt::HostArray>> runWith(rt::HostModel &model,
                                                          int value) {
  std::vector<rt::HostArray> inputs;
  for (const rt::HostTensorInfo &info : model.inputs()) {
    rt::HostArray a{info.type, info.shape, ""};
    int64_t count = std::max<int64_t>(0, elementCount(info.shape));
    if (info.type == TensorProto::FLOAT) {
      std::vector<float> values(count, float(value));
      a.bytes.assign(reinterpret_cast<char *>(values.data()), count * 4);
    } else {
      int64_t size = elementSize(info.type);
      a.bytes.assign(count * size, '\0');
      for (int64_t i = 0; i < count; ++i) // little-endian
        a.bytes[i * size] = char(value);
    }
    inputs.push_back(std::move(a));
  }
  return model.evaluate(inputs);
}

/// As ONNX Runtime infers it, or, where it leaves dimensions open, as runs on
/// two different inputs agree.
static absl::Status inferByRuntime(onnx::ModelProto &model) {
  auto loaded = rt::HostModel::load(model.SerializeAsString(), "the node", {});
  if (!loaded.ok())
    return loaded.status();
  rt::HostModel &m = **loaded;
  std::vector<rt::HostArray> a, b;
  auto &outputs = *model.mutable_graph()->mutable_output();
  for (int n = 0; n < outputs.size(); ++n) {
    const rt::HostTensorInfo &info = m.outputs()[n];
    if (!info.type)
      return absl::UnimplementedError(
          absl::StrCat("output \"", outputs[n].name(), "\" is no tensor"));
    bool known = true;
    for (int64_t d : info.shape)
      known &= d >= 0;
    if (known) {
      setType(&outputs[n], info.type, info.shape);
      continue;
    }
    if (a.empty()) {
      auto zeros = runWith(m, 0), ones = runWith(m, 1);
      for (const auto &run : {zeros, ones})
        if (!run.ok())
          return run.status();
      a = *std::move(zeros);
      b = *std::move(ones);
    }
    if (a[n].shape != b[n].shape)
      return absl::UnimplementedError(absl::StrCat(
          "the shape of output \"", outputs[n].name(),
          "\" depends on its input's values; only static shapes can be "
          "compiled"));
    setType(&outputs[n], a[n].type, a[n].shape);
  }
  return absl::OkStatus();
}

/// Nobody can know the shapes of their results.
static bool isDataDependent(const std::string &op) {
  return op == "NonZero" || op == "Unique" || op == "Compress" ||
         op == "NonMaxSuppression";
}

absl::Status inferOutputs(onnx::ModelProto &model, bool trust) {
  for (const auto &node : model.graph().node())
    if (isDataDependent(node.op_type()))
      return absl::UnimplementedError(
          "the shape of its result depends on its input's values; only static "
          "shapes can be compiled");
  if (!trust || !inferByOnnx(model))
    if (absl::Status status = inferByRuntime(model); !status.ok())
      return status;
  for (const auto &output : model.graph().output()) {
    const auto &tensor = output.type().tensor_type();
    if (!edgeType(tensor.elem_type()))
      return absl::UnimplementedError(absl::StrCat(
          "output \"", output.name(), "\" has element type ",
          typeName(tensor.elem_type()), ", which cannot leave a host segment"));
    for (const auto &dim : tensor.shape().dim())
      if (dim.dim_value() <= 0)
        return absl::UnimplementedError(
            absl::StrCat("output \"", output.name(), "\" is an empty tensor"));
  }
  return absl::OkStatus();
}

} // namespace npu
