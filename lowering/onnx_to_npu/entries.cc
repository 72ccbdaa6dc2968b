//===- entries.cc - Values by their ONNX names ----------------------------===//

#include "lowering/onnx_to_npu/importer.h"

using namespace mlir;

namespace npu {

Dims identity(int64_t rank) {
  Dims perm(rank);
  for (int64_t i = 0; i < rank; ++i)
    perm[i] = i;
  return perm;
}
bool isIdentity(const Dims &perm) { return perm == identity(perm.size()); }

Type elementType(MLIRContext *context, int type) {
  switch (type) {
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::DOUBLE:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return Float32Type::get(context);
  case onnx::TensorProto::INT8:
    return IntegerType::get(context, 8);
  case onnx::TensorProto::UINT8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case onnx::TensorProto::INT16:
    return IntegerType::get(context, 16);
  case onnx::TensorProto::UINT16:
    return IntegerType::get(context, 16, IntegerType::Unsigned);
  case onnx::TensorProto::INT32:
    return IntegerType::get(context, 32);
  case onnx::TensorProto::UINT32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case onnx::TensorProto::INT64:
    return IntegerType::get(context, 64);
  case onnx::TensorProto::UINT64:
    return IntegerType::get(context, 64, IntegerType::Unsigned);
  case onnx::TensorProto::BOOL:
    return IntegerType::get(context, 1);
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Node
//===----------------------------------------------------------------------===//

const onnx::AttributeProto *Node::attr(const char *name) const {
  for (const auto &a : proto.attribute())
    if (a.name() == name)
      return &a;
  return nullptr;
}
int64_t Node::i(const char *name, int64_t missing) const {
  const auto *a = attr(name);
  if (a && !a->has_i() && wrongAttr.empty())
    wrongAttr = name;
  return a && a->has_i() ? a->i() : missing;
}
float Node::f(const char *name, float missing) const {
  const auto *a = attr(name);
  if (a && !a->has_f() && wrongAttr.empty())
    wrongAttr = name;
  return a && a->has_f() ? a->f() : missing;
}
std::string Node::s(const char *name, const char *missing) const {
  const auto *a = attr(name);
  if (a && !a->has_s() && wrongAttr.empty())
    wrongAttr = name;
  return a && a->has_s() ? a->s() : missing;
}
Dims Node::ints(const char *name, Dims missing) const {
  const auto *a = attr(name);
  if (a && wrongAttr.empty() &&
      (a->has_i() || a->has_f() || a->has_s() || a->floats_size()))
    wrongAttr = name;
  return a ? Dims(a->ints().begin(), a->ints().end()) : missing;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

Entry Importer::entry(const Node &node, int n) {
  if (!node.has(n))
    return {};
  auto it = entries.find(node.proto.input(n));
  return it == entries.end() ? Entry{} : it->second;
}

TensorPtr Importer::constant(const Node &node, int n) {
  return entry(node, n).constant;
}

Dims Importer::shape(const Entry &entry) {
  if (entry.constant)
    return entry.constant->dims;
  ArrayRef<int64_t> stored =
      cast<RankedTensorType>(entry.value.getType()).getShape();
  Dims out(stored.size());
  for (size_t i = 0; i < stored.size(); ++i)
    out[entry.perm[i]] = stored[i];
  return out;
}

Value Importer::constantOf(RankedTensorType type, DenseElementsAttr storage) {
  return ConstantOp::create(builder, loc, type, storage);
}

Value Importer::constantFloats(const Dims &dims,
                               const std::vector<float> &values) {
  auto type = RankedTensorType::get(dims, builder.getF32Type());
  return constantOf(type, DenseElementsAttr::get(type, ArrayRef(values)));
}

template <typename T>
static DenseElementsAttr denseOf(RankedTensorType type, const Tensor &t) {
  std::vector<T> values(t.i.begin(), t.i.end());
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T)));
}

Value Importer::constantValue(const Tensor &t) {
  if (t.isFloat())
    return constantFloats(t.dims, t.f);
  Type element = elementType(builder.getContext(), t.type);
  auto type = RankedTensorType::get(t.dims, element);
  if (element.isInteger(1)) {
    SmallVector<bool> values(t.i.begin(), t.i.end());
    return constantOf(type, DenseElementsAttr::get(type, values));
  }
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return constantOf(type, denseOf<int8_t>(type, t));
  case 16:
    return constantOf(type, denseOf<int16_t>(type, t));
  case 32:
    return constantOf(type, denseOf<int32_t>(type, t));
  default:
    return constantOf(type, denseOf<int64_t>(type, t));
  }
}

// Moves only dimensions of size 1: no data has to move.
static bool movesUnitsOnly(ArrayRef<int64_t> shape, const Dims &perm) {
  int64_t last = -1;
  for (int64_t p : perm) {
    if (shape[p] == 1)
      continue;
    if (p < last)
      return false;
    last = p;
  }
  return true;
}

Value Importer::materialize(const Entry &entry, const Dims &perm) {
  if (entry.constant) {
    Value value = constantValue(*entry.constant);
    return materialize({nullptr, value, identity(entry.constant->dims.size())},
                       perm);
  }
  if (entry.perm == perm)
    return entry.value;
  // wanted dimension i is logical perm[i], stored where entry.perm has it.
  Dims move(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    for (size_t j = 0; j < perm.size(); ++j)
      if (entry.perm[j] == perm[i])
        move[i] = j;
  auto type = cast<RankedTensorType>(entry.value.getType());
  Dims dims;
  for (int64_t m : move)
    dims.push_back(type.getDimSize(m));
  auto result = RankedTensorType::get(dims, type.getElementType());
  if (auto constant = entry.value.getDefiningOp<ConstantOp>();
      constant && type.getElementType().isF32()) {
    auto values = cast<DenseElementsAttr>(constant.getValue());
    std::vector<float> in(values.value_begin<float>(),
                          values.value_end<float>()),
        out(in.size());
    Dims strides(dims.size(), 1);
    for (int i = int(dims.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * type.getDimSize(i + 1);
    for (size_t n = 0; n < out.size(); ++n) {
      int64_t from = 0;
      for (int i = int(dims.size()) - 1, rest = int(n); i >= 0; --i) {
        from += rest % dims[i] * strides[move[i]];
        rest /= int(dims[i]);
      }
      out[n] = in[from];
    }
    return constantFloats(dims, out);
  }
  if (movesUnitsOnly(type.getShape(), move))
    return ReshapeOp::create(builder, loc, result, entry.value, dims);
  return TransposeOp::create(builder, loc, result, entry.value, move);
}

Value Importer::value(const Node &node, int n, const Dims &perm) {
  return materialize(entry(node, n), perm);
}
Value Importer::value(const Node &node, int n) {
  Entry e = entry(node, n);
  return materialize(e, identity(shape(e).size()));
}

std::optional<Dims> Importer::integers(const Node &node, int n) {
  TensorPtr t = constant(node, n);
  if (!t)
    return std::nullopt;
  return t->integers();
}

void Importer::bind(const std::string &name, const Entry &entry) {
  entries[name] = entry;
}

void Importer::bind(const Node &node, int n, Value value, Dims perm) {
  if (n >= node.proto.output_size() || node.proto.output(n).empty())
    return;
  const std::string &name = node.proto.output(n);
  if (perm.empty())
    perm = identity(cast<RankedTensorType>(value.getType()).getRank());
  if (Operation *op = value.getDefiningOp(); op && op->getNumResults() == 1 &&
                                             !op->hasAttr("npu.tensor") &&
                                             tensorNames.insert(name).second)
    op->setAttr("npu.tensor", builder.getStringAttr(name));
  entries[name] = {nullptr, value, perm};
}

void Importer::bind(const Node &node, int n, TensorPtr constant) {
  if (n < node.proto.output_size() && !node.proto.output(n).empty())
    entries[node.proto.output(n)] = {std::move(constant), {}, {}};
}

} // namespace npu
