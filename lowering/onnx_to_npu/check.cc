// What every handler may rely on, checked once.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/importer.h"
#include "lowering/onnx_to_npu/quantized.h"

namespace npu {

// The second input is a list that may be empty.
static bool takesShape(const std::string &op) {
  return op == "Reshape" || op == "Expand" || op == "Tile";
}

absl::Status checkShape(Importer &importer, const Node &node,
                        const OpImport *op) {
  const std::string &type = node.proto.op_type();
  int required = !op ? 0 : op->required;
  if (op && op->variadic)
    required = std::max(1, node.inputs());
  int data = takesShape(type) ? 1 : required;
  for (int n = 0; n < required; ++n)
    if (!node.has(n))
      return absl::InvalidArgumentError(
          absl::StrCat("input ", n, " is missing"));
  const auto &outputs = node.proto.output();
  if (op && std::all_of(outputs.begin(), outputs.end(),
                        [](const std::string &name) { return name.empty(); }))
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

// The set that the elements of `e` belong to; 0: none.
static unsigned elementSet(Importer &importer, const Entry &e) {
  if (isQuantized(e.value))
    return kQuantized;
  mlir::Type type =
      e.constant ? elementType(importer.builder.getContext(), e.constant->type)
                 : mlir::getElementTypeOrSelf(e.value.getType());
  if (!type)
    return 0;
  if (mlir::isa<mlir::FloatType>(type))
    return kFloat;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return kBool;
  case 8:
    return isUnsigned ? kUint8 : kInt8;
  case 16:
    return isUnsigned ? kUint16 : kInt16;
  case 32:
    return isUnsigned ? kUint32 : kInt32;
  default:
    return isUnsigned ? kUint64 : kInt64;
  }
}

// Known when building: a constant, or what is dequantised from one.
static bool isKnown(const Entry &e) {
  if (e.constant || !e.value)
    return true;
  auto dequantize = e.value.getDefiningOp<DequantizeOp>();
  auto constant = [](mlir::Value v) {
    return v.getDefiningOp<ConstantOp>() != nullptr;
  };
  return constant(e.value) || (dequantize && constant(dequantize.getInput()));
}

absl::Status checkOperands(Importer &importer, const Node &node,
                           const OpImport &op) {
  for (int n : op.constants)
    if (node.has(n) && !isKnown(importer.entry(node, n)))
      return importer.refuse(
          RefusalKind::NotConstant,
          absl::StrCat("input ", n, " (\"", node.proto.input(n),
                       "\") must be known when building; fix it with "
                       "--value if it is an input of the model"));
  int data = op.variadic ? node.inputs() : std::min(op.required, node.inputs());
  for (int n = 0; n < data; ++n) {
    bool listed = std::find(op.constants.begin(), op.constants.end(), n) !=
                  op.constants.end();
    if (listed || !node.has(n))
      continue;
    unsigned set = elementSet(importer, importer.entry(node, n));
    if (set == kQuantized && !(op.types & set))
      return importer.refuse(RefusalKind::Type,
                             "it computes on the integers of a quantised "
                             "tensor; dequantise before it");
    if (!(op.types & set))
      return importer.refuse(
          RefusalKind::Type,
          absl::StrCat("input ", n, " is ", set ? typesText(set) : "of a type",
                       " that is not supported here; it takes ",
                       typesText(op.types)));
  }
  int64_t rank = node.has(0)
                     ? int64_t(importer.shape(importer.entry(node, 0)).size())
                     : op.minRank;
  if (rank < op.minRank || rank > op.maxRank)
    return importer.refuse(RefusalKind::Constraint,
                           absl::StrCat("an input of rank ", rank,
                                        "; ranks from ", op.minRank, " to ",
                                        op.maxRank, " are supported"));
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
