// Normalisations, out of means, products and square roots.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// (x - mean) / sqrt(variance + epsilon) over some axes.
struct Normalized {
  Entry out, mean, inverse;
};

Normalized normalize(Compose &c, const Entry &x, const Dims &axes,
                     float epsilon) {
  Normalized n;
  n.mean = c.reduce<ReduceMeanOp>(x, axes);
  Entry centred = c.sub(x, n.mean);
  Entry variance = c.reduce<ReduceMeanOp>(c.mul(centred, centred), axes);
  Entry root = c.unary<SqrtOp>(c.add(variance, Compose::scalar(epsilon)));
  n.inverse = c.unary<ReciprocalOp>(root);
  n.out = c.mul(centred, n.inverse);
  return n;
}

/// x / sqrt(mean of squares + epsilon).
Normalized rootMeanSquare(Compose &c, const Entry &x, const Dims &axes,
                          float epsilon) {
  Normalized n;
  Entry square = c.reduce<ReduceMeanOp>(c.mul(x, x), axes);
  Entry root = c.unary<SqrtOp>(c.add(square, Compose::scalar(epsilon)));
  n.inverse = c.unary<ReciprocalOp>(root);
  n.out = c.mul(x, n.inverse);
  return n;
}

/// One value per channel (dimension 1), for a tensor of `rank`.
Entry perChannel(Compose &c, const Entry &e, int64_t rank) {
  Dims dims(rank - 1, 1);
  dims[0] = elementCount(c.dims(e));
  return c.reshape(e, dims);
}

Entry scaled(Compose &c, Entry out, const Entry &scale, const Entry &offset) {
  if (scale)
    out = c.mul(out, scale);
  return offset ? c.add(out, offset) : out;
}

/// LayerNormalization; `simple`: RMSNormalization.
absl::Status layerNorm(Importer &im, const Node &node, bool simple) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  int64_t rank = im.shape(x).size();
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", -1), rank));
  float epsilon = node.f("epsilon", 1e-5f);
  Dims axes = rangeOf(axis, rank);
  Normalized n = simple ? rootMeanSquare(c, x, axes, epsilon)
                        : normalize(c, x, axes, epsilon);
  Entry out = scaled(c, n.out, im.entry(node, 1), im.entry(node, 2));
  if (!simple)
    (void)c.bind(node, 1, n.mean);
  (void)c.bind(node, simple ? 1 : 2, n.inverse);
  return c.bind(node, 0, out);
}

/// com.microsoft: the sum of the input, a skip connection and a bias first.
absl::Status skipLayerNorm(Importer &im, const Node &node, bool simple) {
  Compose c(im);
  Entry sum = c.add(im.entry(node, 0), im.entry(node, 1));
  Entry bias = im.entry(node, simple ? 3 : 4);
  if (bias)
    sum = c.add(sum, bias);
  if (!c.status().ok())
    return c.status();
  float epsilon = node.f("epsilon", 1e-12f);
  Dims axes = {int64_t(c.dims(sum).size()) - 1};
  Normalized n = simple ? rootMeanSquare(c, sum, axes, epsilon)
                        : normalize(c, sum, axes, epsilon);
  Entry out =
      scaled(c, n.out, im.entry(node, 2), simple ? Entry() : im.entry(node, 3));
  if (!simple)
    (void)c.bind(node, 1, n.mean);
  (void)c.bind(node, 2, n.inverse);
  (void)c.bind(node, 3, sum);
  return c.bind(node, 0, out);
}

absl::Status instanceNorm(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  int64_t rank = im.shape(x).size();
  Normalized n = normalize(c, x, rangeOf(2, rank), node.f("epsilon", 1e-5f));
  return c.bind(node, 0,
                scaled(c, n.out, perChannel(c, im.entry(node, 1), rank),
                       perChannel(c, im.entry(node, 2), rank)));
}

/// Scale and bias are per group before opset 21, per channel since.
absl::Status groupNorm(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0), scale = im.entry(node, 1),
        bias = im.entry(node, 2);
  Dims dims = im.shape(x);
  int64_t groups = node.i("num_groups", 0);
  if (groups < 1 || dims[1] % groups)
    return absl::InvalidArgumentError(absl::StrCat(
        "num_groups ", groups, " does not divide ", dims[1], " channels"));
  Dims grouped = {dims[0], groups, elementCount(dims) / (dims[0] * groups)};
  Entry out =
      normalize(c, c.reshape(x, grouped), {2}, node.f("epsilon", 1e-5f)).out;
  bool perGroup = node.opset < 21;
  if (perGroup)
    out = scaled(c, out, perChannel(c, scale, 3), perChannel(c, bias, 3));
  out = c.reshape(out, dims);
  if (!perGroup)
    out = scaled(c, out, perChannel(c, scale, dims.size()),
                 perChannel(c, bias, dims.size()));
  return c.bind(node, 0, out);
}

/// x / (bias + alpha * mean of squares over neighbouring channels) ^ beta.
absl::Status localResponseNorm(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t size = node.i("size", 0);
  if (size < 1 || size > INT32_MAX)
    return absl::InvalidArgumentError(absl::StrCat("size ", size));
  // Channels as the height of an image; what lies outside counts as 0.
  Entry image =
      c.reshape(c.mul(x, x), {dims[0], dims[1], 1,
                              elementCount(dims) / (dims[0] * dims[1])});
  if (!c.status().ok())
    return c.status();
  Dims pads = {(size - 1) / 2, 0, size - 1 - (size - 1) / 2, 0};
  NPU_ASSIGN(Value pooled,
             im.create<AvgPool2DOp>(Type(), image.value, Dims{size, 1},
                                    Dims{1, 1}, pads, Dims{1, 1}, true));
  Entry mean = c.reshape({nullptr, pooled, identity(4)}, dims);
  Entry base = c.add(c.mul(mean, Compose::scalar(node.f("alpha", 1e-4f))),
                     Compose::scalar(node.f("bias", 1)));
  Entry power = c.pow(base, Compose::scalar(-node.f("beta", 0.75f)));
  return c.bind(node, 0, c.mul(x, power));
}

absl::Status meanVarianceNorm(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims axes = node.ints("axes", {0, 2, 3});
  for (int64_t &axis : axes) {
    NPU_ASSIGN(axis, axisOf(axis, im.shape(x).size()));
  }
  Entry centred = c.sub(x, c.reduce<ReduceMeanOp>(x, axes));
  Entry variance = c.reduce<ReduceMeanOp>(c.mul(centred, centred), axes);
  Entry root = c.add(c.unary<SqrtOp>(variance), Compose::scalar(1e-9f));
  return c.bind(node, 0, c.mul(centred, c.unary<ReciprocalOp>(root)));
}

/// x / norm along one axis; 0 where the norm is 0.
absl::Status lpNorm(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  int64_t p = node.i("p", 2);
  if (p != 1 && p != 2)
    return im.unsupported(absl::StrCat("p ", p, "; 1 and 2 are supported"));
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", -1), im.shape(x).size()));
  Entry size = p == 1 ? c.unary<AbsOp>(x) : c.mul(x, x);
  Entry sum = c.reduce<ReduceSumOp>(size, {axis});
  if (p == 2)
    sum = c.unary<SqrtOp>(sum);
  // All of x is 0 where the smallest float is the larger one.
  return c.bind(node, 0, c.div(x, c.max(sum, Compose::scalar(1e-38f))));
}

} // namespace

void registerNormOps(Registry &r) {
  auto one = [](Handler handler) { return OpImport(handler).of(kFloat); };
  auto layer = [](bool simple) {
    return
        [=](Importer &im, const Node &n) { return layerNorm(im, n, simple); };
  };
  auto skip = [](bool simple) {
    return [=](Importer &im, const Node &n) {
      return skipLayerNorm(im, n, simple);
    };
  };
  r["LayerNormalization"] = one(layer(false)).inputs(2).ranks(1, 8);
  r["RMSNormalization"] = one(layer(true)).inputs(2).ranks(1, 8).since(23);
  r["SimplifiedLayerNormalization"] = one(layer(true)).inputs(2).ranks(1, 8);
  r["com.microsoft:SkipLayerNormalization"] =
      one(skip(false)).inputs(3).ranks(2, 3);
  r["com.microsoft:SkipSimplifiedLayerNormalization"] =
      one(skip(true)).inputs(3).ranks(2, 3);
  r["InstanceNormalization"] = one(instanceNorm).inputs(3).ranks(3, 8);
  r["GroupNormalization"] = one(groupNorm).inputs(3).ranks(3, 8).since(18);
  r["LRN"] = one(localResponseNorm).ranks(3, 8);
  r["MeanVarianceNormalization"] = one(meanVarianceNorm).ranks(1, 8);
  r["LpNormalization"] = one(lpNorm).ranks(1, 8);
}

} // namespace npu
