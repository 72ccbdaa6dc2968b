//===- DepthwiseRewrites.cc - Ways to run a grouped convolution -----------===//

#include "passes/legalization/DepthwiseRewrites.h"

#include "passes/legalization/Constants.h"

using namespace mlir;

namespace npu {
namespace {

struct Rewriter {
  OpBuilder &b;
  const GroupedConv &conv;
  const FilterData *data;
  Location loc;

  Rewriter(OpBuilder &b, const GroupedConv &conv, const FilterData *data)
      : b(b), conv(conv), data(data), loc(conv.op->getLoc()) {}

  template <typename T> T attribute(StringRef name) const {
    return conv.op->getAttrOfType<T>(name);
  }
  int64_t area() const { return conv.kernelH * conv.kernelW; }

  /// Everything but the filter and what belongs to it stays.
  Value dense(Value input, Value filter, Value bias, Value residual,
              RankedTensorType type, int64_t groups) {
    return Conv2DOp::create(b, loc, type, input, filter, bias, residual,
                            attribute<ActivationAttr>("activation"),
                            attribute<TypeAttr>("pre_activation_type"),
                            attribute<TypeAttr>("residual_type"),
                            attribute<ActivationAttr>("residual_activation"),
                            conv.strides, conv.pads, conv.dilations, groups);
  }
  Value depthwise(Value input, Value filter) {
    return DepthwiseConv2DOp::create(
        b, loc, conv.output.getType(), input, filter, conv.bias, conv.residual,
        attribute<ActivationAttr>("activation"),
        attribute<TypeAttr>("pre_activation_type"),
        attribute<TypeAttr>("residual_type"),
        attribute<ActivationAttr>("residual_activation"), conv.strides,
        conv.pads, conv.dilations);
  }

  /// [KH,KW,OC], each output channel with its one input channel.
  Value depthwiseFilter() {
    if (conv.depthwiseOp)
      return conv.filter;
    int64_t channels = conv.channels();
    SmallVector<int64_t> indices;
    for (int64_t k = 0; k < area(); ++k)
      for (int64_t c = 0; c < channels; ++c)
        indices.push_back(c * area() + k);
    RankedTensorType type = filterType(
        conv, {conv.kernelH, conv.kernelW, channels}, 2, 0, channels);
    return makeFilter(b, loc, type, *data, indices);
  }

  /// [OC,KH,KW,IC] of `block` groups in a row from group `first`, which see
  /// each other's channels with weights of zero. `blocks` such blocks.
  Value blockFilter(int64_t first, int64_t block, int64_t blocks) {
    int64_t icg = conv.icg, outputs = block * blocks * conv.ocg;
    int64_t offset = first * conv.ocg;
    SmallVector<int64_t> indices;
    for (int64_t o = offset; o < offset + outputs; ++o)
      for (int64_t k = 0; k < area(); ++k)
        for (int64_t i = 0; i < block * icg; ++i) {
          bool own = o / conv.ocg % block == i / icg;
          indices.push_back(own ? (o * area() + k) * icg + i % icg : -1);
        }
    RankedTensorType type =
        filterType(conv, {outputs, conv.kernelH, conv.kernelW, block * icg}, 0,
                   offset, outputs);
    return makeFilter(b, loc, type, *data, indices);
  }

  Value sliceDim(Value value, int64_t dim, int64_t start, int64_t size) {
    RankedTensorType type = tensorType(value);
    SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()),
        strides(type.getRank(), 1);
    starts[dim] = start;
    sizes[dim] = size;
    return SliceOp::create(b, loc,
                           RankedTensorType::get(sizes, type.getElementType()),
                           value, starts, sizes, strides);
  }

  Value slicedBias(int64_t first, int64_t count) {
    if (!conv.bias)
      return {};
    // A command reads its bias from the weights: a constant of its own.
    if (auto words = int32sOf(conv.bias))
      return makeWords(b, loc, ArrayRef(*words).slice(first, count));
    if (auto floats = floatsOf(conv.bias))
      return makeFloats(b, loc, count, ArrayRef(*floats).slice(first, count));
    return sliceDim(conv.bias, 0, first, count);
  }

  Value native() {
    if (conv.icg == 1 && conv.ocg == 1)
      return depthwise(conv.input, depthwiseFilter());
    Value filter =
        conv.depthwiseOp ? blockFilter(0, 1, conv.groups) : conv.filter;
    return dense(conv.input, filter, conv.bias, conv.residual,
                 tensorType(conv.output), conv.groups);
  }

  Value inBlocks(int64_t block, bool split) {
    int64_t blocks = conv.groups / block;
    if (!split)
      return dense(conv.input, blockFilter(0, block, blocks), conv.bias,
                   conv.residual, tensorType(conv.output), blocks);
    int64_t ic = block * conv.icg, oc = block * conv.ocg;
    SmallVector<int64_t> shape(conv.outShape());
    shape[3] = oc;
    auto type = RankedTensorType::get(shape, elementType(conv.output));
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < blocks; ++i) {
      Value residual = conv.residual;
      if (residual)
        residual = sliceDim(residual, 3, i * oc, oc);
      pieces.push_back(dense(sliceDim(conv.input, 3, i * ic, ic),
                             blockFilter(i * block, block, 1),
                             slicedBias(i * oc, oc), residual, type, 1));
    }
    return ConcatOp::create(b, loc, conv.output.getType(), pieces, 3);
  }

  /// Input channel c/M for every output channel c.
  Value repeated() {
    if (conv.ocg == 1)
      return conv.input;
    SmallVector<int64_t> indices, shape(conv.inShape());
    for (int64_t c = 0; c < conv.channels(); ++c)
      indices.push_back(c / conv.ocg);
    shape[3] = conv.channels();
    return GatherOp::create(
        b, loc, RankedTensorType::get(shape, elementType(conv.input)),
        conv.input, indices, 3);
  }

  Value padded(Value input) {
    ArrayRef<int64_t> p = conv.pads;
    if (llvm::all_of(p, [](int64_t v) { return v == 0; }))
      return input;
    SmallVector<int64_t> low{0, p[0], p[1], 0}, high{0, p[2], p[3], 0};
    SmallVector<int64_t> shape(tensorType(input).getShape());
    for (int i : {1, 2})
      shape[i] += low[i] + high[i];
    return PadOp::create(b, loc,
                         RankedTensorType::get(shape, elementType(input)),
                         input, low, high, PadMode::Constant, APFloat(0.0f));
  }

  /// The weights of one tap; their scales are in the rescale.
  Value tapWeights(int64_t tap) {
    SmallVector<int64_t> indices;
    for (int64_t c = 0; c < conv.channels(); ++c)
      indices.push_back(c * area() + tap);
    auto storage = cast<quant::QuantizedType>(elementType(conv.filter));
    auto element = quant::UniformQuantizedType::get(
        storage.getFlags(), storage.getStorageType(),
        storage.getExpressedType(), 1.0, data->zero,
        storage.getStorageTypeMin(), storage.getStorageTypeMax());
    return makeFilter(b, loc, RankedTensorType::get(conv.channels(), element),
                      *data, indices);
  }

  Value vectorMac() {
    Value input = padded(repeated());
    ArrayRef<int64_t> out = conv.outShape();
    auto piece = RankedTensorType::get(out, elementType(input));
    auto sums = RankedTensorType::get(out, b.getI32Type());
    SmallVector<int64_t> strides{1, conv.strides[0], conv.strides[1], 1};
    Value sum;
    for (int64_t y = 0; y < conv.kernelH; ++y)
      for (int64_t x = 0; x < conv.kernelW; ++x) {
        SmallVector<int64_t> starts{0, y * conv.dilations[0],
                                    x * conv.dilations[1], 0};
        Value shifted =
            SliceOp::create(b, loc, piece, input, starts, out, strides);
        sum = VectorMacOp::create(b, loc, sums, shifted,
                                  tapWeights(y * conv.kernelW + x), sum);
      }
    if (conv.outputType() == rt::DType::kI32)
      return conv.bias ? AddOp::create(b, loc, sums, sum, conv.bias,
                                       ActivationAttr(), TypeAttr())
                             .getOutput()
                       : sum;
    return RescaleOp::create(b, loc, conv.output.getType(), sum, conv.bias,
                             conv.residual,
                             attribute<ActivationAttr>("activation"),
                             attribute<TypeAttr>("pre_activation_type"),
                             attribute<TypeAttr>("residual_type"),
                             attribute<ActivationAttr>("residual_activation"),
                             accumulatorScales(conv.input, conv.filter));
  }
};

} // namespace

Value rewriteDepthwise(OpBuilder &b, const GroupedConv &conv,
                       const DepthwisePlan &plan, const FilterData *data) {
  Rewriter rewriter(b, conv, data);
  switch (plan.way) {
  case DepthwiseWay::kNative:
    return rewriter.native();
  case DepthwiseWay::kDense:
    return rewriter.inBlocks(plan.block, plan.split);
  case DepthwiseWay::kVectorMac:
    return rewriter.vectorMac();
  case DepthwiseWay::kExpand:
    return rewriter.depthwise(rewriter.repeated(), rewriter.depthwiseFilter());
  }
  return {};
}

} // namespace npu
