#include "passes/partition/Models.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/TypeSwitch.h"

#include <functional>
#include <set>

using namespace mlir;

namespace npu {

using onnx::TensorProto;

int onnxTypeOf(Type element) {
  if (element.isF32())
    return TensorProto::FLOAT;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return 0;
  switch (integer.getWidth()) {
  case 1:
    return TensorProto::BOOL;
  case 8:
    return integer.isUnsigned() ? TensorProto::UINT8 : TensorProto::INT8;
  case 16:
    return integer.isUnsigned() ? TensorProto::UINT16 : TensorProto::INT16;
  case 32:
    return integer.isUnsigned() ? TensorProto::UINT32 : TensorProto::INT32;
  case 64:
    return integer.isUnsigned() ? TensorProto::UINT64 : TensorProto::INT64;
  default:
    return 0;
  }
}

bool isMovement(Operation *op) {
  if (!isa<ReshapeOp, TransposeOp, ConcatOp, SliceOp, BroadcastToOp>(op))
    return false;
  auto known = [](Value value) {
    return onnxTypeOf(cast<RankedTensorType>(value.getType()).getElementType());
  };
  for (Value operand : op->getOperands())
    if (!known(operand) || operand.getDefiningOp<ConstantOp>())
      return false;
  return known(op->getResult(0));
}

ModelBuilder::ModelBuilder() : model_(std::make_unique<onnx::ModelProto>()) {
  model_->mutable_graph()->set_name("host");
}
ModelBuilder::~ModelBuilder() = default;

std::string ModelBuilder::fresh(const std::string &name) {
  int n = used_[name]++;
  return n == 0 ? name : fresh(name + "#" + std::to_string(n));
}

static void describe(onnx::ValueInfoProto *info, const std::string &name,
                     Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  info->set_name(name);
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnxTypeOf(type.getElementType()));
  tensor->mutable_shape();
  for (int64_t d : type.getShape())
    tensor->mutable_shape()->add_dim()->set_dim_value(d);
}

std::string ModelBuilder::nameOf(Value value) {
  auto it = names_.find(value);
  if (it != names_.end())
    return it->second;
  std::string name = fresh("in" + std::to_string(inputs_.size()));
  inputs_.insert(value);
  describe(model_->mutable_graph()->add_input(), name, value);
  return names_[value] = name;
}

//===----------------------------------------------------------------------===//
// Host calls
//===----------------------------------------------------------------------===//

using Rename = std::function<std::string(const std::string &)>;

static void renameGraph(onnx::GraphProto &graph, const Rename &rename) {
  for (auto &tensor : *graph.mutable_initializer())
    tensor.set_name(rename(tensor.name()));
  for (auto *list : {graph.mutable_input(), graph.mutable_output(),
                     graph.mutable_value_info()})
    for (auto &info : *list)
      info.set_name(rename(info.name()));
  for (auto &node : *graph.mutable_node()) {
    for (auto *list : {node.mutable_input(), node.mutable_output()})
      for (std::string &name : *list)
        name = rename(name);
    for (auto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        renameGraph(*attribute.mutable_g(), rename);
  }
}

void ModelBuilder::join(onnx::ModelProto &other) {
  model_->set_ir_version(std::max(model_->ir_version(), other.ir_version()));
  for (const auto &import : other.opset_import()) {
    bool known = false;
    for (const auto &have : model_->opset_import())
      known |= have.domain() == import.domain();
    if (!known)
      *model_->add_opset_import() = import;
  }
  for (const auto &function : other.functions()) {
    bool known = false;
    for (const auto &have : model_->functions())
      known |=
          have.domain() == function.domain() && have.name() == function.name();
    if (!known)
      *model_->add_functions() = function;
  }
  auto *graph = model_->mutable_graph();
  for (auto &tensor : *other.mutable_graph()->mutable_initializer())
    graph->add_initializer()->Swap(&tensor);
  for (auto &node : *other.mutable_graph()->mutable_node())
    graph->add_node()->Swap(&node);
}

LogicalResult ModelBuilder::add(HostCallOp call) {
  onnx::ModelProto model;
  if (!model.ParseFromString(call.getModel().str()) || !model.has_graph())
    return call.emitOpError("the attribute model is no serialised ONNX model");
  const auto &graph = model.graph();
  auto operands = call.getInputs();
  if (graph.input_size() != int(operands.size()) ||
      graph.output_size() != int(call.getNumResults()))
    return call.emitOpError("its model has ")
           << graph.input_size() << " inputs and " << graph.output_size()
           << " outputs, the call " << operands.size() << " operands and "
           << call.getNumResults() << " results";
  std::map<std::string, std::string> names = {{"", ""}};
  for (auto [info, operand] : llvm::zip(graph.input(), operands))
    names[info.name()] = nameOf(operand);
  auto rename = [&](const std::string &name) {
    auto [it, isNew] = names.try_emplace(name);
    if (isNew)
      it->second = fresh(name);
    return it->second;
  };
  renameGraph(*model.mutable_graph(), rename);
  for (auto [info, result] : llvm::zip(graph.output(), call.getResults()))
    names_[result] = info.name();
  join(model);
  return success();
}

//===----------------------------------------------------------------------===//
// Movements
//===----------------------------------------------------------------------===//

static void setInts(onnx::NodeProto *node, const char *name,
                    ArrayRef<int64_t> values) {
  auto *a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INTS);
  for (int64_t v : values)
    a->add_ints(v);
}

void ModelBuilder::add(Operation *op) {
  auto *graph = model_->mutable_graph();
  std::vector<std::string> operands;
  for (Value operand : op->getOperands())
    operands.push_back(nameOf(operand));
  std::string name = fresh(nodeName(op->getLoc()) + ":moved");
  auto *node = graph->add_node();
  node->set_name(name);
  for (const std::string &operand : operands)
    node->add_input(operand);
  node->add_output(name);
  names_[op->getResult(0)] = name;
  auto constant = [&](const char *what, ArrayRef<int64_t> values) {
    auto *tensor = graph->add_initializer();
    tensor->set_name(fresh(name + ":" + what));
    tensor->set_data_type(TensorProto::INT64);
    tensor->add_dims(values.size());
    for (int64_t v : values)
      tensor->add_int64_data(v);
    node->add_input(tensor->name());
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ReshapeOp op) {
        node->set_op_type("Reshape");
        constant("shape", op.getShape());
      })
      .Case([&](TransposeOp op) {
        node->set_op_type("Transpose");
        setInts(node, "perm", op.getPerm());
      })
      .Case([&](BroadcastToOp op) {
        node->set_op_type("Expand");
        constant("shape", op.getShape());
      })
      .Case([&](ConcatOp op) {
        node->set_op_type("Concat");
        auto *a = node->add_attribute();
        a->set_name("axis");
        a->set_type(onnx::AttributeProto::INT);
        a->set_i(op.getAxis());
      })
      .Case([&](SliceOp op) {
        node->set_op_type("Slice");
        SmallVector<int64_t> ends, axes;
        for (size_t i = 0; i < op.getStarts().size(); ++i) {
          int64_t step = op.getStrides()[i];
          int64_t end = op.getStarts()[i] + (op.getSizes()[i] - 1) * step +
                        (step > 0 ? 1 : -1);
          // Running down to element 0 ends before it: -1 would be the last.
          ends.push_back(end < 0 ? INT64_MIN / 2 : end);
          axes.push_back(int64_t(i));
        }
        constant("starts", op.getStarts());
        constant("ends", ends);
        constant("axes", axes);
        constant("steps", op.getStrides());
      });
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// x (f64) -> cast to f32 at the edge -> cast to f64 at the edge: the second
/// result is x.
void ModelBuilder::dropCasts() {
  auto *graph = model_->mutable_graph();
  std::map<std::string, std::string> wide, replace;
  std::map<std::string, int> typeOf; // of what an edge cast reads or gives
  for (const auto &node : graph->node())
    if (node.doc_string() == "npu.edge.out")
      wide[node.output(0)] = node.input(0);
  for (const auto &node : graph->node())
    if (node.doc_string() == "npu.edge.in" && wide.count(node.input(0)))
      replace[node.output(0)] = wide[node.input(0)];
  std::function<void(onnx::GraphProto &)> apply = [&](onnx::GraphProto &g) {
    for (auto &node : *g.mutable_node()) {
      for (std::string &name : *node.mutable_input())
        if (auto it = replace.find(name); it != replace.end())
          name = it->second;
      for (auto &a : *node.mutable_attribute())
        if (a.has_g())
          apply(*a.mutable_g());
    }
  };
  apply(*graph);
}

std::string ModelBuilder::finish(ArrayRef<Value> outputs) {
  dropCasts();
  auto *graph = model_->mutable_graph();
  for (Value output : outputs)
    describe(graph->add_output(), names_[output], output);
  // Casts and movements that nothing reads any more.
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> read;
    for (const auto &output : graph->output())
      read.insert(output.name());
    std::function<void(const onnx::GraphProto &)> collect =
        [&](const onnx::GraphProto &g) {
          for (const auto &node : g.node()) {
            read.insert(node.input().begin(), node.input().end());
            for (const auto &a : node.attribute())
              if (a.has_g()) {
                collect(a.g());
                for (const auto &output : a.g().output())
                  read.insert(output.name());
              }
          }
        };
    collect(*graph);
    auto *nodes = graph->mutable_node();
    for (int i = nodes->size() - 1; i >= 0; --i)
      if (nodes->Get(i).doc_string().rfind("npu.edge.", 0) == 0 &&
          !read.count(nodes->Get(i).output(0))) {
        nodes->DeleteSubrange(i, 1);
        changed = true;
      }
  }
  return model_->SerializeAsString();
}

} // namespace npu
