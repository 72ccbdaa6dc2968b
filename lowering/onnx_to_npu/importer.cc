#include "lowering/onnx_to_npu/importer.h"
#include "lowering/onnx_to_npu/host.h"
#include "lowering/onnx_to_npu/quantized.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace npu {

constexpr int kMaxDepth = 16;

Importer::Importer(MLIRContext &context, const ImportOptions &options,
                   std::string folder)
    : builder(&context), loc(builder.getUnknownLoc()),
      folder(std::move(folder)), options(options),
      types(std::make_unique<DeclaredTypes>()) {}
Importer::~Importer() = default;

constexpr char kKind[] = "npu.kind";

absl::Status Importer::refuse(RefusalKind kind, const std::string &why) {
  absl::Status status = kind == RefusalKind::Invalid
                            ? absl::InvalidArgumentError(why)
                            : absl::UnimplementedError(why);
  status.SetPayload(
      kKind, absl::Cord(absl::string_view(&"abcdefghijkl"[int(kind)], 1)));
  return status;
}

static RefusalKind kindOf(const absl::Status &status) {
  if (auto payload = status.GetPayload(kKind))
    return RefusalKind(std::string(*payload)[0] - 'a');
  return status.code() == absl::StatusCode::kInvalidArgument
             ? RefusalKind::Invalid
             : RefusalKind::Constraint;
}

// The inputs of the graph that decide the value of `entry`: itself, or the
// integers that it is computed from.
void Importer::wantConstant(const Entry &entry) {
  std::set<std::string> found;
  bool data = false;
  SmallVector<Value> work = {entry.value};
  std::set<void *> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!value || !seen.insert(value.getAsOpaquePointer()).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      found.insert(
          function
              .getArgAttrOfType<StringAttr>(argument.getArgNumber(), "npu.name")
              .str());
      // A number is a limit or a step; a tensor is what the model computes on.
      auto type = cast<RankedTensorType>(value.getType());
      data |= value != entry.value && type.getElementType().isF32() &&
              type.getNumElements() != 1;
    } else {
      llvm::append_range(work, value.getDefiningOp()->getOperands());
    }
  }
  if (!data && options.report)
    options.report->wanted.insert(found.begin(), found.end());
}

void Importer::recordRefusal(const onnx::NodeProto &proto,
                             const std::string &name, const std::string &key,
                             const absl::Status &status) {
  Node node(proto, opset);
  if (!options.report)
    return;
  options.report->refusals.push_back(
      {name, key, kindOf(status), std::string(status.message())});
  auto op = registry().find(key);
  if (op == registry().end())
    return;
  for (int n : op->second.constants)
    if (Entry e = entry(node, n); e.value)
      wantConstant(e);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

absl::Status Importer::initializers(const onnx::GraphProto &graph) {
  for (const auto &proto : graph.initializer()) {
    NPU_ASSIGN(TensorPtr tensor, readTensor(proto, folder, true));
    if (entries.count(proto.name()) && depth == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("initialiser \"", proto.name(), "\" is defined twice"));
    types->set(proto.name(), proto.data_type());
    entries[proto.name()] = {std::move(tensor), {}, {}};
  }
  return absl::OkStatus();
}

static bool hasSubgraph(const onnx::NodeProto &node) {
  for (const auto &a : node.attribute())
    if (a.has_g())
      return true;
  return false;
}

absl::Status Importer::importNode(const onnx::NodeProto &proto) {
  std::string name = proto.name();
  if (name.empty())
    name = absl::StrCat(proto.op_type(), ":",
                        proto.output_size() ? proto.output(0) : "");
  name += nameSuffix;
  loc = NameLoc::get(builder.getStringAttr(name));
  for (int n = 0; n < proto.input_size(); ++n)
    if (!proto.input(n).empty() && !entries.count(proto.input(n)))
      return absl::InvalidArgumentError(absl::StrCat(
          "input \"", proto.input(n), "\" of node \"", name,
          "\" is produced by no earlier node: the graph is cyclic, unsorted or "
          "cut"));
  bool standard = proto.domain().empty() || proto.domain() == "ai.onnx";
  std::string key = standard
                        ? proto.op_type()
                        : absl::StrCat(proto.domain(), ":", proto.op_type());
  types->follow(proto);
  size_t failed = failures.size();
  Operation *last =
      builder.getBlock()->empty() ? nullptr : &builder.getBlock()->back();
  absl::Status status = dispatch(proto, key);
  // Something in a branch of it has been reported already.
  if (status.ok() || failures.size() > failed)
    return status.ok() ? status : absl::CancelledError(status.message());
  loc = NameLoc::get(builder.getStringAttr(name));
  recordRefusal(proto, name, key, status);
  const PlacementRule *rule = ruleFor(name, proto.op_type());
  absl::Status host = absl::UnimplementedError("");
  bool random = kindOf(status) == RefusalKind::Random;
  if (!random && (rule ? rule->host : options.hostNodes)) {
    // What it left behind before it gave up, unless names stand for that.
    while (!hasSubgraph(proto) && !builder.getBlock()->empty() &&
           &builder.getBlock()->back() != last)
      builder.getBlock()->back().erase();
    host = importOnHost(proto, status);
    if (host.ok())
      return host;
  }
  std::string text = absl::StrCat("node \"", name, "\" (", key, ", opset ",
                                  opset, "): ", status.message());
  if (!host.message().empty())
    absl::StrAppend(&text, "; nor can it run on the host: ", host.message());
  if (rule && !rule->host)
    absl::StrAppend(&text, "; a placement rule keeps it on the NPU");
  emitError(loc) << text
                 << "; replace it in the exporter, or split the model there";
  failures.push_back(text);
  // Later nodes need something to go on with; only the first is reported.
  return absl::CancelledError(text);
}

/// Folds the node or runs its handler.
absl::Status Importer::dispatch(const onnx::NodeProto &proto,
                                const std::string &key) {
  Node node(proto, opset);
  auto it = registry().find(key);
  const OpImport *op = it == registry().end() ? nullptr : &it->second;
  if (op && !op->handler)
    return refuse(op->kind, op->text);
  absl::Status status = checkShape(*this, node, op);
  if (status.ok() && foldNode(*this, node))
    return absl::OkStatus();
  const PlacementRule *rule = ruleFor(nodeName(loc), proto.op_type());
  if (rule && rule->host)
    return unsupported("a placement rule puts it on the host");
  if (status.ok() && !op)
    return refuse(RefusalKind::Operator, "this operator has no import");
  if (status.ok())
    status = checkOperands(*this, node, *op);
  if (status.ok())
    status = op->handler(*this, node);
  if (!node.wrongAttr.empty())
    status = refuse(
        RefusalKind::Invalid,
        absl::StrCat("attribute \"", node.wrongAttr, "\" has the wrong type"));
  if (status.ok() && rule)
    pinned.push_back(builder.getStringAttr(nodeName(loc)));
  return status;
}

absl::Status Importer::importNodes(const onnx::GraphProto &graph) {
  auto leave = llvm::scope_exit([&] { --depth; });
  if (++depth > kMaxDepth)
    return absl::InvalidArgumentError("subgraphs are nested too deeply");
  if (depth > 1)
    if (absl::Status s = initializers(graph); !s.ok())
      return s;
  std::set<std::string> poisoned;
  for (const auto &proto : graph.node()) {
    bool skip = false;
    for (const auto &input : proto.input())
      skip |= poisoned.count(input) != 0;
    for (const auto &output : proto.output())
      if (!output.empty() && !skip && entries.count(output))
        return absl::InvalidArgumentError(absl::StrCat(
            "tensor \"", output, "\" is produced twice; names must be unique"));
    absl::Status status = skip ? absl::CancelledError("") : importNode(proto);
    if (absl::IsCancelled(status))
      poisoned.insert(proto.output().begin(), proto.output().end());
    else if (!status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Entry>>
Importer::importBody(const onnx::GraphProto &body,
                     const std::vector<Entry> &arguments,
                     const std::string &suffix) {
  if (body.input_size() != int(arguments.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("its body has ", body.input_size(), " inputs, ",
                     arguments.size(), " are given"));
  std::map<std::string, Entry> around = entries;
  std::string suffixAround = nameSuffix;
  Location here = loc;
  nameSuffix = absl::StrCat(nameSuffix, suffix);
  for (int n = 0; n < body.input_size(); ++n) {
    const auto &input = body.input(n);
    if (!arguments[n])
      return absl::InvalidArgumentError(
          absl::StrCat("nothing is given for \"", input.name(), "\""));
    entries[input.name()] = arguments[n];
    if (int type = input.type().tensor_type().elem_type())
      types->set(input.name(), type);
  }
  // What it defines may have been defined by an earlier trip.
  absl::Status status = importNodes(body);
  std::vector<Entry> results;
  for (const auto &output : body.output())
    if (auto it = entries.find(output.name()); it != entries.end())
      results.push_back(it->second);
  entries = std::move(around);
  nameSuffix = suffixAround;
  loc = here;
  if (!status.ok())
    return status;
  if (int(results.size()) != body.output_size())
    return unsupported("its body cannot be imported");
  return results;
}

absl::Status Importer::outputs(const onnx::GraphProto &graph) {
  SmallVector<Value> results;
  SmallVector<Type> types;
  loc = builder.getUnknownLoc();
  for (const auto &output : graph.output()) {
    auto it = entries.find(output.name());
    if (it == entries.end())
      return absl::InvalidArgumentError(absl::StrCat(
          "output \"", output.name(), "\" is produced by no node"));
    Value value = materialize(it->second, identity(shape(it->second).size()));
    if (isQuantized(value))
      value = asIntegers(*this, value, output.type().tensor_type().elem_type());
    results.push_back(value);
    types.push_back(value.getType());
  }
  if (results.empty())
    return absl::InvalidArgumentError("the graph has no outputs");
  func::ReturnOp::create(builder, loc, results);
  function.setType(FunctionType::get(builder.getContext(),
                                     function.getArgumentTypes(), types));
  for (int n = 0; n < graph.output_size(); ++n)
    function.setResultAttr(n, "npu.name",
                           builder.getStringAttr(graph.output(n).name()));
  return absl::OkStatus();
}

absl::StatusOr<OwningOpRef<ModuleOp>>
Importer::run(const onnx::ModelProto &model) {
  for (const auto &import : model.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      opset = import.version();
  if (opset == 0)
    return absl::InvalidArgumentError(
        "the model declares no ai.onnx opset; export it again");
  if (opset < kOldestOpset || opset > kNewestOpset)
    return absl::InvalidArgumentError(absl::StrCat(
        "opset ", opset, " is not known; ", kOldestOpset, " to ", kNewestOpset,
        " are. Convert the model with onnx.version_converter"));
  if (!model.has_graph() || model.graph().node_size() == 0)
    return absl::InvalidArgumentError("the model has no nodes");
  source = &model;
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, loc, "main",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  const onnx::GraphProto &graph = model.graph();
  for (absl::Status status : {initializers(graph), inputs(graph)})
    if (!status.ok())
      return status;
  if (absl::Status status = importNodes(graph); !status.ok())
    return status;
  if (!failures.empty())
    return absl::UnimplementedError(
        failures.size() == 1
            ? failures[0]
            : absl::StrCat(
                  failures.size(),
                  " nodes cannot be imported, the first: ", failures[0]));
  for (absl::Status status : {outputs(graph), checkRules()})
    if (!status.ok())
      return status;
  if (!pinned.empty())
    function->setAttr("npu.pinned", builder.getArrayAttr(pinned));
  auto text = [&](const char *key, const std::string &value) {
    return builder.getNamedAttr(key, builder.getStringAttr(value));
  };
  (*module)->setAttr("npu.meta",
                     builder.getDictionaryAttr(
                         {text("onnx_nodes", absl::StrCat(graph.node_size())),
                          text("opset", absl::StrCat(opset)),
                          text("ir_version", absl::StrCat(model.ir_version())),
                          text("producer", model.producer_name())}));
  return std::move(module);
}

} // namespace npu
