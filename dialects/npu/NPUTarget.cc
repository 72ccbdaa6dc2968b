//===- NPUTarget.cc - #npu.target -----------------------------------------===//
#include "dialects/npu/NPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"

using namespace mlir;
using nlohmann::json;

namespace npu {

/// The attribute's keys and values are those of the JSON form.
static FailureOr<json> toJson(Attribute attr) {
  if (auto dict = dyn_cast<DictionaryAttr>(attr)) {
    json object = json::object();
    for (NamedAttribute field : dict) {
      FailureOr<json> value = toJson(field.getValue());
      if (failed(value))
        return failure();
      object[field.getName().str()] = std::move(*value);
    }
    return object;
  }
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    json list = json::array();
    for (Attribute element : array) {
      FailureOr<json> value = toJson(element);
      if (failed(value))
        return failure();
      list.push_back(std::move(*value));
    }
    return list;
  }
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return json(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    if (integer.getValue().getSignificantBits() <= 64)
      return json(integer.getValue().getSExtValue());
  if (auto real = dyn_cast<FloatAttr>(attr))
    return json(real.getValueAsDouble());
  if (auto string = dyn_cast<StringAttr>(attr))
    return json(string.str());
  return failure();
}

static Attribute fromJson(Builder &b, const json &value) {
  if (value.is_object()) {
    SmallVector<NamedAttribute> fields;
    for (const auto &item : value.items())
      fields.push_back(b.getNamedAttr(item.key(), fromJson(b, item.value())));
    return b.getDictionaryAttr(fields);
  }
  if (value.is_array()) {
    SmallVector<Attribute> elements;
    for (const json &element : value)
      elements.push_back(fromJson(b, element));
    return b.getArrayAttr(elements);
  }
  if (value.is_boolean())
    return b.getBoolAttr(value.get<bool>());
  if (value.is_number_integer())
    return b.getI64IntegerAttr(value.get<int64_t>());
  if (value.is_number())
    return b.getF64FloatAttr(value.get<double>());
  return b.getStringAttr(value.get<std::string>());
}

static absl::StatusOr<target::Target> parseSpec(DictionaryAttr spec) {
  FailureOr<json> object = toJson(spec);
  if (failed(object))
    return absl::InvalidArgumentError(
        "target: only numbers, strings, booleans, lists and dictionaries");
  return target::parseJson(
      object->dump(-1, ' ', false, json::error_handler_t::replace));
}

static DictionaryAttr specOf(MLIRContext *context, const target::Target &t) {
  Builder b(context);
  json object = json::parse(target::toJson(t), nullptr, false);
  return cast<DictionaryAttr>(fromJson(b, object));
}

TargetAttr TargetAttr::get(MLIRContext *context, const target::Target &t) {
  return get(context, specOf(context, t));
}

target::Target TargetAttr::getTarget() const {
  // verify() has made sure that it parses.
  return parseSpec(getSpec()).value_or(target::Target());
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 DictionaryAttr spec) {
  absl::StatusOr<target::Target> parsed = parseSpec(spec);
  if (!parsed.ok())
    return emitError() << std::string(parsed.status().message());
  return success();
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  DictionaryAttr spec;
  if (parser.parseLess())
    return {};
  absl::StatusOr<target::Target> parsed;
  if (succeeded(parser.parseOptionalString(&name))) {
    parsed = target::preset(name);
  } else {
    if (parser.parseAttribute(spec))
      return {};
    parsed = parseSpec(spec);
  }
  if (!parsed.ok()) {
    parser.emitError(loc) << std::string(parsed.status().message());
    return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *parsed);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << "<";
  auto name = getSpec().getAs<StringAttr>("name");
  absl::StatusOr<target::Target> preset =
      target::preset(name ? name.str() : std::string());
  if (preset.ok() && specOf(getContext(), *preset) == getSpec())
    printer << name;
  else
    printer << getSpec();
  printer << ">";
}

target::Target targetOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto attr = op->getAttrOfType<TargetAttr>("npu.target"))
      return attr.getTarget();
  return target::preset("edge").value();
}

} // namespace npu
