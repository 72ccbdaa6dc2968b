// The graph's inputs: their shapes, and those that are fixed to a value.
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lowering/onnx_to_npu/host.h"
#include "lowering/onnx_to_npu/importer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace npu {

absl::StatusOr<Dims> Importer::inputShape(const onnx::ValueInfoProto &input) {
  auto given = options.shapes.find(input.name());
  if (given == options.shapes.end())
    given = options.shapes.find("");
  const auto &proto = input.type().tensor_type().shape();
  if (given != options.shapes.end()) {
    if (input.type().tensor_type().has_shape() &&
        proto.dim_size() != int(given->second.size()))
      return absl::InvalidArgumentError(absl::StrCat(
          "input \"", input.name(), "\" has rank ", proto.dim_size(),
          ", the shape given for it has ", given->second.size()));
    for (int i = 0; i < proto.dim_size(); ++i)
      if (proto.dim(i).dim_value() > 0 &&
          proto.dim(i).dim_value() != given->second[i])
        return absl::InvalidArgumentError(absl::StrCat(
            "input \"", input.name(), "\": dimension ", i, " is ",
            proto.dim(i).dim_value(), " in the model, the shape given says ",
            given->second[i]));
    return given->second;
  }
  if (!input.type().tensor_type().has_shape())
    return absl::InvalidArgumentError(
        absl::StrCat("input \"", input.name(), "\" has no shape; give --shape ",
                     input.name(), "=..."));
  Dims dims;
  std::vector<std::string> unknown;
  for (int i = 0; i < proto.dim_size(); ++i) {
    const auto &dim = proto.dim(i);
    auto named = options.dims.find(dim.dim_param());
    if (dim.has_dim_value() && dim.dim_value() == 0 && options.report)
      options.report->wanted.insert(input.name());
    if (dim.has_dim_value() && dim.dim_value() == 0)
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", input.name(), "\": dimension ", i,
                       " is 0; an empty tensor cannot be compiled"));
    if (dim.dim_value() > 0)
      dims.push_back(dim.dim_value());
    else if (!dim.dim_param().empty() && named != options.dims.end())
      dims.push_back(named->second);
    else if (i == 0 && proto.dim_size() > 1) {
      dims.push_back(options.batch);
      emitWarning(loc) << "input \"" << input.name()
                       << "\": unknown batch dimension taken as "
                       << options.batch;
    } else
      unknown.push_back(absl::StrCat(
          i, dim.dim_param().empty() ? "" : " (" + dim.dim_param() + ")"));
  }
  if (!unknown.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        "input \"", input.name(), "\": dimensions ",
        absl::StrJoin(unknown, ", "), " are unknown; give --shape ",
        input.name(), "=1x3x224x224, say, or --dim NAME=SIZE"));
  return dims;
}

// Numbers as text, in the input's type: one for each element, or one for all.
static absl::StatusOr<TensorPtr> parseValue(const std::string &text, int type,
                                            std::optional<Dims> dims) {
  auto tensor = std::make_shared<Tensor>();
  tensor->type = type;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double real = 0;
    int64_t whole = 0;
    part = absl::StripAsciiWhitespace(part);
    if (tensor->isFloat() ? absl::SimpleAtod(part, &real)
                          : absl::SimpleAtoi(part, &whole)) {
      tensor->f.push_back(float(real));
      tensor->i.push_back(whole);
    } else if (!tensor->isFloat() && (part == "true" || part == "false")) {
      tensor->i.push_back(part == "true");
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", part, "\" is no ", typeName(type)));
    }
  }
  (tensor->isFloat() ? (void)tensor->i.clear() : (void)tensor->f.clear());
  int64_t count = tensor->isFloat() ? tensor->f.size() : tensor->i.size();
  if (!dims)
    dims = Dims{count};
  int64_t wanted = elementCount(*dims);
  if (count == 1 && wanted > 1) {
    tensor->isFloat() ? tensor->f.resize(wanted, tensor->f[0])
                      : tensor->i.resize(wanted, tensor->i[0]);
    count = wanted;
  }
  if (count != wanted)
    return absl::InvalidArgumentError(
        absl::StrCat(count, " values for a shape of ", wanted, " elements"));
  tensor->dims = *dims;
  return TensorPtr(tensor);
}

absl::StatusOr<TensorPtr>
Importer::fixedInput(const onnx::ValueInfoProto &input) {
  const auto &declared = input.type().tensor_type();
  auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the value given for input \"", input.name(), "\": ", why));
  };
  if (auto text = options.valueTexts.find(input.name());
      text != options.valueTexts.end()) {
    std::optional<Dims> dims;
    bool open = !declared.has_shape();
    for (const auto &dim : declared.shape().dim())
      open |= dim.dim_value() <= 0;
    if (!open || options.shapes.count(input.name())) {
      NPU_ASSIGN(dims, inputShape(input));
    }
    auto tensor = parseValue(text->second, declared.elem_type(), dims);
    return tensor.ok() ? tensor : wrong(tensor.status().message());
  }
  auto bytes = options.values.find(input.name());
  if (bytes == options.values.end())
    return TensorPtr();
  onnx::TensorProto value;
  if (!value.ParseFromString(bytes->second))
    return wrong("it is no ONNX tensor");
  NPU_ASSIGN(TensorPtr tensor, readTensor(value, folder, false));
  if (tensor->type != declared.elem_type())
    return wrong(absl::StrCat("it is ", typeName(tensor->type),
                              ", the model has ",
                              typeName(declared.elem_type())));
  return tensor;
}

absl::Status Importer::inputs(const onnx::GraphProto &graph) {
  std::set<std::string> names;
  for (const auto &input : graph.input()) {
    if (!names.insert(input.name()).second)
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", input.name(), "\" is declared twice"));
    NPU_ASSIGN(TensorPtr fixed, fixedInput(input));
    if (fixed) {
      entries[input.name()] = {std::move(fixed), {}, {}};
      continue;
    }
    if (entries.count(input.name()))
      continue; // an initialiser listed as input, as IR 3 wants it
    if (!input.type().has_tensor_type())
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", input.name(),
                       "\" is no tensor; only tensors can be fed"));
    int type = input.type().tensor_type().elem_type();
    Type element = elementType(builder.getContext(), type);
    if (!element)
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", input.name(), "\": element type ",
                       typeName(type), " is not supported"));
    NPU_ASSIGN(Dims dims, inputShape(input));
    if (elementCount(dims) <= 0)
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", input.name(), "\": impossible shape [",
                       absl::StrJoin(dims, ","), "]"));
    unsigned n = function.getNumArguments();
    (void)function.insertArgument(
        n, RankedTensorType::get(dims, element),
        builder.getDictionaryAttr(builder.getNamedAttr(
            "npu.name", builder.getStringAttr(input.name()))),
        loc);
    types->set(input.name(), type);
    entries[input.name()] = {nullptr, function.getArgument(n),
                             identity(dims.size())};
  }
  for (const auto &[name, text] : options.valueTexts)
    if (!names.count(name))
      return absl::InvalidArgumentError(
          absl::StrCat("--value names \"", name,
                       "\", which is no input; the "
                       "model has ",
                       absl::StrJoin(names, ", ")));
  return absl::OkStatus();
}

} // namespace npu
