//===- Types.cc - Quantised types and constants ---------------------------===//

#include "passes/quantization/Types.h"

#include "lowering/npu_to_cmdq/Tables.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/quantization/OpClasses.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace npu {

/// Products and quotients of three scales this large are normal f32 numbers.
constexpr double kSmallestScale = 1e-12;
/// A bias of this size leaves the sum of products room in i32.
constexpr double kLargestBias = double(1 << 30);
/// Integers up to here are exact in f32.
constexpr double kExactBias = double(1 << 24);

PerTensorType int8Type(MLIRContext *context, double scale, int64_t zeroPoint) {
  return PerTensorType::get(
      quant::QuantizationFlags::Signed, IntegerType::get(context, 8),
      Float32Type::get(context), float(scale), zeroPoint, -128, 127);
}

PerTensorType activationType(MLIRContext *context, Interval range) {
  if (!range.finite())
    return {};
  double low = std::min(range.min, 0.0), high = std::max(range.max, 0.0);
  float scale = float((high - low) / 255);
  if (!std::isfinite(scale))
    return {};
  if (low == high)
    scale = 1; // always zero: any grid does
  scale = std::max(scale, float(kSmallestScale));
  double zero = std::nearbyint(-128 - low / scale);
  return int8Type(context, scale,
                  int64_t(std::min(std::max(zero, -128.0), 127.0)));
}

PerTensorType wideType(PerTensorType type) {
  double low = (-128.0 - type.getZeroPoint()) * type.getScale();
  float scale = float(std::max(type.getScale() * 255 / 1023, kSmallestScale));
  double zero = std::nearbyint(-512 - low / scale);
  return PerTensorType::get(
      quant::QuantizationFlags::Signed, IntegerType::get(type.getContext(), 16),
      type.getExpressedType(), scale,
      int64_t(std::min(std::max(zero, -512.0), 511.0)), -512, 511);
}

PerTensorType fixedType(Operation *op) {
  if (isa<SoftmaxOp, SigmoidOp, HardSigmoidOp>(op))
    return int8Type(op->getContext(), 1.0 / 256, -128);
  if (isa<TanhOp>(op))
    return int8Type(op->getContext(), 1.0 / 128, 0);
  return {};
}

std::optional<std::vector<float>> constantFloats(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || !isFloatTensor(value))
    return std::nullopt;
  int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
    return std::vector<float>(dense.value_begin<float>(),
                              dense.value_end<float>());
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || blob->getData().size() != size_t(count) * sizeof(float))
    return std::nullopt;
  ArrayRef<float> data = blob->getDataAs<float>();
  return std::vector<float>(data.begin(), data.end());
}

static Value constantOf(OpBuilder &b, Location loc, RankedTensorType type,
                        Type storage, const void *data, size_t bytes) {
  auto dense = DenseElementsAttr::getFromRawBuffer(
      type.clone(storage), ArrayRef(static_cast<const char *>(data), bytes));
  return ConstantOp::create(b, loc, type, dense);
}

Value quantizedConstant(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                        ArrayRef<float> values, PerTensorType type) {
  QuantParams params{float(type.getScale()), int32_t(type.getZeroPoint()),
                     int32_t(type.getStorageTypeMin()),
                     int32_t(type.getStorageTypeMax())};
  std::vector<int8_t> storage;
  for (float value : values)
    storage.push_back(int8_t(quantize(value, params)));
  return constantOf(b, loc, RankedTensorType::get(shape, type), b.getI8Type(),
                    storage.data(), storage.size());
}

/// The scale of an output channel with these largest weight and bias.
static float channelScale(double weight, double bias, double inputScale) {
  double scale = weight / 127;
  if (weight == 0) // no weights: as fine a bias as f32 holds
    scale = bias == 0 ? 1 : bias / (inputScale * kExactBias);
  scale = std::max(scale, bias / (inputScale * kLargestBias));
  return float(std::max(scale, kSmallestScale));
}

SmallVector<Interval> channelRanges(Value tensor) {
  auto list = tensor.getDefiningOp()->getAttrOfType<DenseF64ArrayAttr>(
      kChannelRangeAttr);
  int64_t channels = cast<RankedTensorType>(tensor.getType()).getShape().back();
  SmallVector<Interval> ranges;
  if (!list || list.size() != 2 * channels)
    return ranges;
  for (int64_t c = 0; c < channels; ++c)
    ranges.push_back({list[2 * c], list[2 * c + 1]});
  return ranges;
}

FilterIndex::FilterIndex(Operation *op)
    : depthwise_(isa<DepthwiseConv2DOp>(op)) {
  auto shapeOf = [&](unsigned operand) {
    return cast<RankedTensorType>(op->getOperand(operand).getType()).getShape();
  };
  ArrayRef<int64_t> filter = shapeOf(kFilterOperand);
  int axis = filterAxis(op);
  outputs_ = filter[axis];
  for (size_t i = axis + 1; i < filter.size(); ++i)
    inner_ *= filter[i];
  int64_t inputs = shapeOf(0).back();
  if (!depthwise_)
    perGroup_ = filter.back();
  perInput_ = outputs_ / (inputs / perGroup_);
}

QuantizedFilter quantizeFilter(OpBuilder &b, Operation *op, double inputScale,
                               ArrayRef<float> filter,
                               std::optional<ArrayRef<float>> bias,
                               ArrayRef<double> inputMeans,
                               ArrayRef<double> biasShift) {
  auto shape = cast<RankedTensorType>(op->getOperand(kFilterOperand).getType())
                   .getShape();
  int axis = filterAxis(op);
  FilterIndex index(op);
  int64_t channels = index.outputs();
  auto channelOf = [&](size_t n) { return index.output(n); };
  std::vector<double> largest(channels, 0), scales(channels);
  for (size_t n = 0; n < filter.size(); ++n)
    largest[channelOf(n)] =
        std::max(largest[channelOf(n)], double(std::fabs(filter[n])));
  for (int64_t c = 0; c < channels; ++c)
    scales[c] =
        channelScale(largest[c], bias ? std::fabs((*bias)[c]) : 0, inputScale);
  std::vector<int8_t> weights(filter.size());
  for (size_t n = 0; n < filter.size(); ++n) {
    double q = std::nearbyint(filter[n] / scales[channelOf(n)]);
    weights[n] = int8_t(std::min(std::max(q, -127.0), 127.0));
  }
  auto element = quant::UniformQuantizedPerAxisType::get(
      quant::QuantizationFlags::Signed, b.getI8Type(), b.getF32Type(), scales,
      SmallVector<int64_t>(channels, 0), axis, -127, 127);
  QuantizedFilter out;
  out.filter = constantOf(b, op->getOperand(kFilterOperand).getLoc(),
                          RankedTensorType::get(shape, element), b.getI8Type(),
                          weights.data(), weights.size());
  if (!bias && inputMeans.empty() && biasShift.empty())
    return out;
  std::vector<double> shift(channels, 0);
  llvm::copy(biasShift, shift.begin());
  for (size_t n = 0; n < filter.size() && !inputMeans.empty(); ++n) {
    int64_t c = channelOf(n);
    shift[c] +=
        (filter[n] - weights[n] * scales[c]) * inputMeans[index.input(n)];
  }
  std::vector<int32_t> biases(channels);
  for (int64_t c = 0; c < channels; ++c) {
    double value = (bias ? (*bias)[c] : 0) + shift[c];
    double q = std::nearbyint(value / (inputScale * scales[c]));
    biases[c] = int32_t(std::min(std::max(q, -2147483648.0), 2147483647.0));
  }
  out.bias = constantOf(b, op->getLoc(),
                        RankedTensorType::get({channels}, b.getI32Type()),
                        b.getI32Type(), biases.data(), channels * 4);
  return out;
}

} // namespace npu
