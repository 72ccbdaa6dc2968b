// Functions of one value without an operator of their own.
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

absl::Status selu(Importer &im, const Node &node) {
  Compose c(im);
  float alpha =
      node.f("alpha", node.opset < 6 ? 1.6732f : 1.67326319217681885f);
  float gamma =
      node.f("gamma", node.opset < 6 ? 1.0507f : 1.05070102214813232f);
  Entry elu = c.unary<EluOp>(im.entry(node, 0), APFloat(alpha));
  return c.bind(node, 0, c.mul(elu, Compose::scalar(gamma)));
}

/// alpha * elu(x / alpha), elu with a factor of 1.
absl::Status celu(Importer &im, const Node &node) {
  float alpha = node.f("alpha", 1);
  if (alpha == 0)
    return absl::InvalidArgumentError("alpha must not be 0");
  Compose c(im);
  Entry x = c.mul(im.entry(node, 0), Compose::scalar(1 / alpha));
  Entry elu = c.unary<EluOp>(x, APFloat(1.0f));
  return c.bind(node, 0, c.mul(elu, Compose::scalar(alpha)));
}

absl::Status thresholdedRelu(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Entry passes = c.pair<LessOp>(Compose::scalar(node.f("alpha", 1)), x);
  return c.bind(node, 0, c.select(passes, x, Compose::scalar(0)));
}

absl::Status shrink(Importer &im, const Node &node) {
  Compose c(im);
  float lambda = node.f("lambd", 0.5f), bias = node.f("bias", 0);
  Entry x = im.entry(node, 0);
  Entry above = c.pair<LessOp>(Compose::scalar(lambda), x),
        below = c.pair<LessOp>(x, Compose::scalar(-lambda));
  Entry out =
      c.select(above, c.sub(x, Compose::scalar(bias)), Compose::scalar(0));
  return c.bind(node, 0, c.select(below, c.add(x, Compose::scalar(bias)), out));
}

absl::Status softsign(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Entry below = c.add(c.unary<AbsOp>(x), Compose::scalar(1));
  return c.bind(node, 0, c.div(x, below));
}

absl::Status mish(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Entry factor = c.unary<TanhOp>(c.unary<SoftplusOp>(x));
  return c.bind(node, 0, c.mul(x, factor));
}

/// com.microsoft: x * sigmoid(alpha * x).
absl::Status quickGelu(Importer &im, const Node &node) {
  Compose c(im);
  return c.bind(
      node, 0,
      c.unary<SwishOp>(im.entry(node, 0), APFloat(node.f("alpha", 1.702f))));
}

} // namespace

void registerFunctionOps(Registry &r) {
  auto one = [](Handler handler) { return OpImport(handler).of(kFloat); };
  r["Selu"] = one(selu);
  r["Celu"] = one(celu);
  r["ThresholdedRelu"] = one(thresholdedRelu);
  r["Shrink"] = one(shrink);
  r["Softsign"] = one(softsign);
  r["Mish"] = one(mish).since(18);
  r["com.microsoft:QuickGelu"] = one(quickGelu);
}

} // namespace npu
