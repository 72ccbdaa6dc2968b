// Scales, zero points and the types in which quantised tensors are held.
#include "lowering/onnx_to_npu/quantized.h"

#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace npu {

bool isQuantized(Value value) {
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && isa<quant::QuantizedType>(type.getElementType());
}

int integers8(const Entry &e) {
  auto type = e.value ? dyn_cast<RankedTensorType>(e.value.getType())
                      : RankedTensorType();
  if (!type)
    return 0;
  if (type.getElementType().isUnsignedInteger(8))
    return onnx::TensorProto::UINT8;
  return type.getElementType().isSignlessInteger(8) ? onnx::TensorProto::INT8
                                                    : 0;
}

// What is known of an integer tensor without its zero point; 0 if nothing.
static int knownType(const Entry &e) {
  if (e.constant)
    return e.constant->type;
  if (!e.value)
    return 0;
  Type element = cast<RankedTensorType>(e.value.getType()).getElementType();
  if (element.isUnsignedInteger(8))
    return onnx::TensorProto::UINT8;
  if (element.isInteger(8))
    return onnx::TensorProto::INT8;
  if (element.isInteger(32))
    return onnx::TensorProto::INT32;
  // Held in int8. ONNX's default zero point is 0, and 128 less means uint8.
  if (auto held = dyn_cast<quant::UniformQuantizedType>(element)) {
    if (held.getZeroPoint() == 0)
      return onnx::TensorProto::INT8;
    if (held.getZeroPoint() == -128)
      return onnx::TensorProto::UINT8;
  }
  return 0;
}

absl::StatusOr<QuantInfo> readQuantInfo(Importer &im, const Node &node,
                                        int scale, int zero,
                                        const Entry &tensor,
                                        int typeIfUnknown) {
  QuantInfo info;
  TensorPtr scales = scale >= 0 ? im.constant(node, scale) : nullptr;
  if (scale >= 0 && (!scales || !scales->isFloat()))
    return absl::UnimplementedError(absl::StrCat(
        "the scale (input ", scale,
        ") is computed at run time; quantise the model statically"));
  info.scales = {1};
  if (scales)
    info.scales.assign(scales->f.begin(), scales->f.end());
  if (info.scales.empty())
    return absl::InvalidArgumentError("an empty scale");
  for (double s : info.scales)
    if (!(s >= std::numeric_limits<float>::min()) || !std::isfinite(s))
      return absl::InvalidArgumentError(absl::StrCat(
          "scale ", s, " (input ", scale, ") is no positive normal number"));
  TensorPtr zeros;
  if (node.has(zero)) {
    zeros = im.constant(node, zero);
    if (!zeros || zeros->isFloat())
      return absl::UnimplementedError(absl::StrCat(
          "the zero point (input ", zero,
          ") must be a constant integer; quantise the model statically"));
    info.type = zeros->type;
    info.zeroPoints = zeros->i;
  } else {
    info.type = knownType(tensor);
    if (info.type == 0)
      info.type = typeIfUnknown;
    info.zeroPoints = {0};
  }
  if (info.type != onnx::TensorProto::INT8 &&
      info.type != onnx::TensorProto::UINT8 &&
      info.type != onnx::TensorProto::INT32)
    return absl::UnimplementedError(absl::StrCat(
        "quantised to ", typeName(info.type), "; int8 and uint8 can be run"));
  if (info.zeroPoints.size() == 1)
    info.zeroPoints.resize(info.scales.size(), info.zeroPoints[0]);
  if (info.scales.size() == 1 && info.zeroPoints.size() > 1)
    info.scales.resize(info.zeroPoints.size(), info.scales[0]);
  if (info.zeroPoints.size() != info.scales.size())
    return absl::InvalidArgumentError(
        absl::StrCat(info.scales.size(), " scales, but ",
                     info.zeroPoints.size(), " zero points"));
  return info;
}

absl::StatusOr<Type> heldType(Importer &im, const QuantInfo &info,
                              int64_t axis) {
  bool wide = info.type == onnx::TensorProto::INT32;
  Type storage = im.builder.getIntegerType(wide ? 32 : 8);
  int64_t low = wide ? std::numeric_limits<int32_t>::min() : -128;
  int64_t high = -(low + 1);
  std::vector<int64_t> zeros;
  for (int64_t z : info.zeroPoints)
    zeros.push_back(z - info.shift());
  for (int64_t z : zeros)
    if (z < low || z > high)
      return absl::InvalidArgumentError("a zero point outside of its type");
  if (info.perTensor())
    return Type(quant::UniformQuantizedType::get(
        quant::QuantizationFlags::Signed, storage, im.builder.getF32Type(),
        info.scales[0], zeros[0], low, high));
  return Type(quant::UniformQuantizedPerAxisType::get(
      quant::QuantizationFlags::Signed, storage, im.builder.getF32Type(),
      info.scales, zeros, axis, low, high));
}

static RankedTensorType withElement(Value value, Type element) {
  return cast<RankedTensorType>(
      cast<RankedTensorType>(value.getType()).clone(element));
}

absl::StatusOr<Entry> asHeld(Importer &im, const Entry &e,
                             const QuantInfo &info) {
  if (!info.perTensor())
    return absl::UnimplementedError(
        "an activation with a scale per channel; quantise it per tensor");
  NPU_ASSIGN(Type held, heldType(im, info, -1));
  if (e.constant) {
    if (e.constant->isFloat())
      return absl::InvalidArgumentError("a float where integers belong");
    auto type = RankedTensorType::get(e.constant->dims, held);
    Type storage = cast<quant::QuantizedType>(held).getStorageType();
    DenseElementsAttr values;
    if (storage.isInteger(8)) {
      std::vector<int8_t> list;
      for (int64_t v : e.constant->i)
        list.push_back(int8_t(v - info.shift()));
      values = DenseElementsAttr::get(type.clone(storage), ArrayRef(list));
    } else {
      std::vector<int32_t> list(e.constant->i.begin(), e.constant->i.end());
      values = DenseElementsAttr::get(type.clone(storage), ArrayRef(list));
    }
    return Entry{nullptr, im.constantOf(type, values),
                 identity(e.constant->dims.size())};
  }
  Value v = e.value;
  Type element = cast<RankedTensorType>(v.getType()).getElementType();
  if (element == held)
    return e;
  auto cast_ = [&](Type to) {
    return StorageCastOp::create(im.builder, im.loc, withElement(v, to), v);
  };
  if (element.isUnsignedInteger(8)) {
    v = cast_(quant::UniformQuantizedType::get(
        0, im.builder.getI8Type(), im.builder.getF32Type(), info.scales[0],
        info.zeroPoints[0], 0, 255));
    v = QuantizeOp::create(im.builder, im.loc, withElement(v, held), v);
  } else {
    Type storage = cast<quant::QuantizedType>(held).getStorageType();
    if (auto other = dyn_cast<quant::QuantizedType>(element);
        other && other.getStorageType() == storage)
      v = cast_(storage);
    else if (element != storage)
      return absl::InvalidArgumentError(
          "the tensor and its zero point differ in type");
    v = cast_(held);
  }
  return Entry{nullptr, v, e.perm};
}

absl::StatusOr<Filter> heldFilter(const Entry &e, const QuantInfo &info,
                                  int64_t axis) {
  if (!e.constant || e.constant->isFloat())
    return absl::UnimplementedError("the weights must be a constant");
  Filter filter;
  filter.dims = e.constant->dims;
  QuantizedConstant &q = filter.quantized;
  for (int64_t v : e.constant->i)
    q.storage.push_back(int8_t(v - info.shift()));
  q.scales = info.scales;
  q.zeroPoint = info.zeroPoints[0] - info.shift();
  for (int64_t z : info.zeroPoints)
    if (z != info.zeroPoints[0])
      return absl::UnimplementedError(
          "weights with a zero point per channel; export symmetric weights");
  for (double s : info.scales)
    if (!info.perTensor() && s != info.scales[0])
      q.axis = axis;
  if (q.axis < 0)
    q.scales.resize(1);
  return filter;
}

Value asIntegers(Importer &im, Value value, int onnxType) {
  auto type = cast<RankedTensorType>(value.getType());
  auto held = dyn_cast<quant::UniformQuantizedType>(type.getElementType());
  bool isUnsigned = onnxType == onnx::TensorProto::UINT8;
  if (held && isUnsigned) {
    type = cast<RankedTensorType>(type.clone(quant::UniformQuantizedType::get(
        0, held.getStorageType(), held.getExpressedType(), held.getScale(),
        held.getZeroPoint() + 128, 0, 255)));
    value = QuantizeOp::create(im.builder, im.loc, type, value);
  }
  auto element = cast<quant::QuantizedType>(type.getElementType());
  Type storage = isUnsigned ? Type(IntegerType::get(im.builder.getContext(), 8,
                                                    IntegerType::Unsigned))
                            : element.getStorageType();
  return StorageCastOp::create(im.builder, im.loc, type.clone(storage), value);
}

} // namespace npu
