// Constant filters: weights of float models, of QDQ models (DequantizeLinear of
// a constant) and of QOperator models.
#include "lowering/onnx_to_npu/filter.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace npu {

std::optional<Filter> filterOf(const Entry &e) {
  if (e.constant) {
    if (!e.constant->isFloat())
      return std::nullopt;
    return Filter{e.constant->dims, e.constant, {}};
  }
  if (!e.value)
    return std::nullopt;
  auto dequantize = e.value.getDefiningOp<DequantizeOp>();
  auto constant = dequantize ? dequantize.getInput().getDefiningOp<ConstantOp>()
                             : ConstantOp();
  if (!constant || !isIdentity(e.perm))
    return std::nullopt;
  auto type = cast<RankedTensorType>(constant.getType());
  auto element = dyn_cast<quant::QuantizedType>(type.getElementType());
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!element || !dense || element.getStorageTypeIntegralWidth() != 8)
    return std::nullopt;
  Filter filter;
  filter.dims = Dims(type.getShape().begin(), type.getShape().end());
  QuantizedConstant &q = filter.quantized;
  q.storage.assign(dense.value_begin<int8_t>(), dense.value_end<int8_t>());
  if (auto one = dyn_cast<quant::UniformQuantizedType>(element)) {
    q.scales = {one.getScale()};
    q.zeroPoint = one.getZeroPoint();
  } else if (auto many =
                 dyn_cast<quant::UniformQuantizedPerAxisType>(element)) {
    q.scales.assign(many.getScales().begin(), many.getScales().end());
    q.zeroPoint = many.getZeroPoints().front();
    for (int64_t zero : many.getZeroPoints())
      if (zero != q.zeroPoint)
        return std::nullopt;
    q.axis = many.getQuantizedDimension();
  } else {
    return std::nullopt;
  }
  return filter;
}

static absl::StatusOr<Type> filterType(Importer &im, const QuantizedConstant &q,
                                       const Dims &dims, int64_t from,
                                       int64_t to) {
  MLIRContext *context = im.builder.getContext();
  Type i8 = IntegerType::get(context, 8), f32 = im.builder.getF32Type();
  unsigned isSigned = quant::QuantizationFlags::Signed;
  if (q.axis < 0 || q.scales.size() == 1)
    return Type(quant::UniformQuantizedType::get(isSigned, i8, f32, q.scales[0],
                                                 q.zeroPoint, -128, 127));
  if (q.axis != from)
    return absl::UnimplementedError(
        absl::StrCat("the filter has scales along dimension ", q.axis,
                     "; only one scale, or one per output channel (dimension ",
                     from, "), can be computed in integers"));
  if (q.zeroPoint != 0)
    return absl::UnimplementedError(
        absl::StrCat("the filter has a scale per channel and zero point ",
                     q.zeroPoint, "; export symmetric weights"));
  SmallVector<double> scales;
  for (int64_t n = 0; n < dims[to]; ++n) // groups share their scales
    scales.push_back(q.scales[n % q.scales.size()]);
  return Type(quant::UniformQuantizedPerAxisType::get(
      isSigned, i8, f32, scales, SmallVector<int64_t>(dims[to], 0), to, -128,
      127));
}

absl::StatusOr<Value> filterValue(Importer &im, const Filter &filter,
                                  const Dims &dims, const Dims &source,
                                  int64_t from, int64_t to, bool toFloat) {
  if (filter.floats) {
    std::vector<float> values;
    values.reserve(source.size());
    for (int64_t n : source)
      values.push_back(filter.floats->f[n]);
    return im.constantFloats(dims, values);
  }
  NPU_ASSIGN(Type element, filterType(im, filter.quantized, dims, from, to));
  std::vector<int8_t> values;
  values.reserve(source.size());
  for (int64_t n : source)
    values.push_back(filter.quantized.storage[n]);
  auto storage = RankedTensorType::get(dims, im.builder.getI8Type());
  Value value =
      im.constantOf(RankedTensorType::get(dims, element),
                    DenseElementsAttr::get(storage, ArrayRef(values)));
  if (!toFloat)
    return value;
  return im.create<DequantizeOp>(im.builder.getF32Type(), value);
}

Dims windowOrder(const Dims &d, bool depthwise) {
  Dims out(elementCount(d));
  for (int64_t a = 0, n = 0; a < d[0]; ++a)
    for (int64_t b = 0; b < d[1]; ++b)
      for (int64_t y = 0; y < d[2]; ++y)
        for (int64_t x = 0; x < d[3]; ++x, ++n)
          out[depthwise ? (y * d[3] + x) * d[0] * d[1] + a * d[1] + b
                        : ((a * d[2] + y) * d[3] + x) * d[1] + b] = n;
  return out;
}

Dims matrixOrder(int64_t rows, int64_t columns, bool transpose) {
  Dims out(rows * columns);
  for (int64_t r = 0, n = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c, ++n)
      out[transpose ? c * rows + r : n] = n;
  return out;
}

} // namespace npu
