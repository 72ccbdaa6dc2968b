//===- GroupedConv.cc - Depthwise and grouped convolution, one view -------===//

#include "passes/legalization/GroupedConv.h"

#include "passes/legalization/Constants.h"

using namespace mlir;

namespace npu {

template <typename Op> static GroupedConv common(Op op) {
  GroupedConv conv;
  conv.op = op;
  conv.input = op.getInput();
  conv.filter = op.getFilter();
  conv.bias = op.getBias();
  conv.residual = op.getResidual();
  conv.output = op.getOutput();
  conv.strides.assign(op.getStrides().begin(), op.getStrides().end());
  conv.pads.assign(op.getPads().begin(), op.getPads().end());
  conv.dilations.assign(op.getDilations().begin(), op.getDilations().end());
  return conv;
}

std::optional<GroupedConv> GroupedConv::of(Operation *op) {
  if (auto depthwise = dyn_cast<DepthwiseConv2DOp>(op)) {
    GroupedConv conv = common(depthwise);
    auto filter = tensorType(conv.filter);
    conv.depthwiseOp = true;
    conv.groups = conv.inShape()[3];
    conv.ocg = filter.getDimSize(2) / conv.groups;
    conv.kernelH = filter.getDimSize(0);
    conv.kernelW = filter.getDimSize(1);
    return conv;
  }
  auto grouped = dyn_cast<Conv2DOp>(op);
  if (!grouped || grouped.getGroups() == 1)
    return std::nullopt;
  GroupedConv conv = common(grouped);
  auto filter = tensorType(conv.filter);
  conv.groups = static_cast<int64_t>(grouped.getGroups());
  conv.icg = filter.getDimSize(3);
  conv.ocg = filter.getDimSize(0) / conv.groups;
  conv.kernelH = filter.getDimSize(1);
  conv.kernelW = filter.getDimSize(2);
  return conv;
}

ArrayRef<int64_t> GroupedConv::inShape() const {
  return tensorType(input).getShape();
}
ArrayRef<int64_t> GroupedConv::outShape() const {
  return tensorType(output).getShape();
}

static rt::DType dtypeOf(Value value) {
  Type element = elementType(value);
  if (element.isF32())
    return rt::DType::kF32;
  return element.isInteger(32) ? rt::DType::kI32 : rt::DType::kI8;
}

rt::DType GroupedConv::type() const { return dtypeOf(input); }
rt::DType GroupedConv::outputType() const { return dtypeOf(output); }

target::ConvShape GroupedConv::shape(int64_t blocks) const {
  ArrayRef<int64_t> in = inShape(), out = outShape();
  target::ConvShape s{in[0],  in[1],  in[2],   in[3],  out[1],
                      out[2], out[3], kernelH, kernelW};
  s.groups = blocks;
  s.residual = static_cast<bool>(residual);
  s.type = type();
  s.output = outputType();
  return s;
}

std::optional<FilterData> FilterData::of(const GroupedConv &conv) {
  FilterData data;
  if (auto params =
          dyn_cast<quant::UniformQuantizedType>(elementType(conv.filter)))
    data.zero = static_cast<int8_t>(params.getZeroPoint());
  int64_t area = conv.kernelH * conv.kernelW, channels = conv.channels();
  // [KH,KW,OC] to [OC,KH,KW,1].
  auto ordered = [&](auto values) {
    if (conv.depthwiseOp) {
      auto from = values;
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t k = 0; k < area; ++k)
          values[c * area + k] = from[k * channels + c];
    }
    return values;
  };
  if (auto bytes = int8sOf(conv.filter)) {
    data.i8 = ordered(std::move(*bytes));
    return data;
  }
  auto floats = floatsOf(conv.filter);
  if (!floats)
    return std::nullopt;
  data.f32 = ordered(std::move(*floats));
  return data;
}

RankedTensorType filterType(const GroupedConv &conv, ArrayRef<int64_t> shape,
                            int64_t axis, int64_t first, int64_t count) {
  Type element = elementType(conv.filter);
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    element = quant::UniformQuantizedPerAxisType::get(
        perAxis.getFlags(), perAxis.getStorageType(),
        perAxis.getExpressedType(), perAxis.getScales().slice(first, count),
        perAxis.getZeroPoints().slice(first, count), axis,
        perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax());
  return RankedTensorType::get(shape, element);
}

template <typename T>
static SmallVector<T> pick(ArrayRef<T> from, ArrayRef<int64_t> indices,
                           T zero) {
  SmallVector<T> values;
  values.reserve(indices.size());
  for (int64_t index : indices)
    values.push_back(index < 0 ? zero : from[index]);
  return values;
}

Value makeFilter(OpBuilder &b, Location loc, RankedTensorType type,
                 const FilterData &data, ArrayRef<int64_t> indices) {
  if (data.f32.empty())
    return makeBytes(b, loc, type, pick<int8_t>(data.i8, indices, data.zero));
  return makeFloats(b, loc, type.getShape(),
                    pick<float>(data.f32, indices, 0.0f));
}

} // namespace npu
