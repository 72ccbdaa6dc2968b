#include "lowering/onnx_to_npu/host.h"

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/quantized.h"

using namespace mlir;

namespace npu {
namespace {

template <typename T>
std::string rawIntegers(const std::vector<int64_t> &values) {
  std::vector<T> narrow(values.begin(), values.end());
  return {reinterpret_cast<const char *>(narrow.data()),
          narrow.size() * sizeof(T)};
}

std::string rawBytes(const Tensor &t) {
  if (t.isFloat())
    return {reinterpret_cast<const char *>(t.f.data()), t.f.size() * 4};
  switch (elementSize(t.type)) {
  case 1:
    return rawIntegers<int8_t>(t.i);
  case 2:
    return rawIntegers<int16_t>(t.i);
  case 4:
    return rawIntegers<int32_t>(t.i);
  default:
    return rawIntegers<int64_t>(t.i);
  }
}

void describe(onnx::ValueInfoProto *info, const std::string &name, int type,
              const Dims &dims) {
  info->set_name(name);
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (int64_t d : dims)
    tensor->mutable_shape()->add_dim()->set_dim_value(d);
}

onnx::NodeProto castNode(const std::string &from, const std::string &to,
                         int type, const char *edge) {
  onnx::NodeProto node;
  node.set_op_type("Cast");
  node.set_doc_string(edge);
  node.add_input(from);
  node.add_output(to);
  auto *a = node.add_attribute();
  a->set_name("to");
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(type);
  return node;
}

} // namespace

int Importer::onnxTypeOf(const std::string &name, const Entry &entry) {
  if (entry.constant)
    return entry.constant->type;
  Type element = cast<RankedTensorType>(entry.value.getType()).getElementType();
  int declared = types->get(name);
  if (isa<quant::QuantizedType>(element))
    return declared ? declared : int(onnx::TensorProto::INT8);
  if (element.isF32())
    return isFloatType(declared) ? declared : int(onnx::TensorProto::FLOAT);
  for (int type : {onnx::TensorProto::INT8, onnx::TensorProto::UINT8,
                   onnx::TensorProto::INT16, onnx::TensorProto::INT32,
                   onnx::TensorProto::INT64, onnx::TensorProto::BOOL})
    if (elementType(builder.getContext(), type) == element)
      return type;
  return 0;
}

/// Adds what the node reads: constants as initialisers, values as inputs.
absl::Status Importer::addHostInput(const std::string &name,
                                    onnx::ModelProto &model,
                                    SmallVectorImpl<Value> &operands,
                                    int64_t *bytes) {
  auto *graph = model.mutable_graph();
  auto it = entries.find(name);
  if (it == entries.end())
    return absl::InvalidArgumentError(
        absl::StrCat("it reads \"", name, "\", which no node gives"));
  int type = onnxTypeOf(name, it->second);
  // Floats of other widths are held as f32.
  int held = edgeType(type);
  if (!held)
    return absl::UnimplementedError(
        absl::StrCat("\"", name, "\" has element type ", typeName(type)));
  Dims dims = shape(it->second);
  if (const TensorPtr &constant = it->second.constant) {
    int stored = constant->isFloat() ? int(onnx::TensorProto::FLOAT) : type;
    auto *tensor = graph->add_initializer();
    tensor->set_name(stored == type ? name : name + ":f32");
    tensor->set_data_type(stored);
    for (int64_t d : constant->dims)
      tensor->add_dims(d);
    tensor->set_raw_data(rawBytes(*constant));
    *bytes += tensor->raw_data().size();
    if (stored != type)
      *graph->add_node() = castNode(name + ":f32", name, type, "");
    return absl::OkStatus();
  }
  Value value = materialize(it->second, identity(dims.size()));
  if (isQuantized(value))
    value = asIntegers(*this, value, type);
  operands.push_back(value);
  describe(graph->add_input(), held == type ? name : name + ":in", held, dims);
  if (held != type)
    *graph->add_node() = castNode(name + ":in", name, type, kEdgeIn);
  return absl::OkStatus();
}

/// The host call of a node, its results bound to their names.
absl::Status Importer::importOnHost(const onnx::NodeProto &proto,
                                    const absl::Status &why) {
  onnx::ModelProto model;
  model.set_ir_version(source->ir_version());
  *model.mutable_opset_import() = source->opset_import();
  *model.mutable_functions() = source->functions();
  auto *graph = model.mutable_graph();
  graph->set_name("host");
  SmallVector<Value> operands;
  int64_t bytes = 0;
  std::set<std::string> seen;
  std::vector<std::string> names(proto.input().begin(), proto.input().end());
  for (const std::string &name : capturedNames(proto))
    names.push_back(name);
  for (const std::string &name : names)
    if (!name.empty() && seen.insert(name).second)
      if (absl::Status s = addHostInput(name, model, operands, &bytes); !s.ok())
        return s;
  *graph->add_node() = proto;
  for (const std::string &name : proto.output())
    if (!name.empty())
      graph->add_output()->set_name(name);
  // A node that is malformed must convince ONNX Runtime.
  if (absl::Status s = inferOutputs(model, absl::IsUnimplemented(why)); !s.ok())
    return s;
  return finishHostCall(proto, model, operands, bytes, why);
}

absl::Status Importer::finishHostCall(const onnx::NodeProto &proto,
                                      onnx::ModelProto &model,
                                      ArrayRef<Value> operands, int64_t bytes,
                                      const absl::Status &why) {
  auto *graph = model.mutable_graph();
  SmallVector<Type> results;
  SmallVector<Attribute> tensors;
  std::vector<std::string> names;
  std::map<std::string, Dims> shapes;
  for (auto &output : *graph->mutable_output()) {
    auto *tensor = output.mutable_type()->mutable_tensor_type();
    std::string name = output.name();
    int type = tensor->elem_type(), held = edgeType(type);
    Dims dims;
    for (const auto &d : tensor->shape().dim())
      dims.push_back(d.dim_value());
    if (held != type) {
      *graph->add_node() = castNode(name, name + ":out", held, kEdgeOut);
      output.set_name(name + ":out");
      tensor->set_elem_type(held);
    }
    types->set(name, type);
    results.push_back(
        RankedTensorType::get(dims, elementType(builder.getContext(), held)));
    bytes += elementCount(dims) * elementSize(held);
    tensors.push_back(
        builder.getStringAttr(tensorNames.insert(name).second ? name : ""));
    names.push_back(name);
    shapes[name] = dims;
  }
  auto shapeOf = [&](const std::string &name) {
    if (auto it = shapes.find(name); it != shapes.end())
      return it->second;
    auto it = entries.find(name);
    return it == entries.end() ? Dims() : shape(it->second);
  };
  HostNodeInfo info{nodeName(loc),
                    proto.domain().empty()
                        ? proto.op_type()
                        : absl::StrCat(proto.domain(), ":", proto.op_type()),
                    std::string(why.message()),
                    fixFor(proto.op_type(), why),
                    macsOf(proto, shapeOf),
                    bytes};
  auto call = HostCallOp::create(
      builder, loc, results, operands,
      builder.getStringAttr(model.SerializeAsString()),
      builder.getArrayAttr(info.toAttribute(builder.getContext())));
  call->setAttr("npu.tensors", builder.getArrayAttr(tensors));
  for (auto [name, result] : llvm::zip(names, call.getResults()))
    entries[name] = {
        nullptr, result,
        identity(cast<RankedTensorType>(result.getType()).getRank())};
  return absl::OkStatus();
}

} // namespace npu
