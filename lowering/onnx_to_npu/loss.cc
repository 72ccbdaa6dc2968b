// Losses, which some exporters leave at the end of a model.
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// -log_probability[target] * weight[target], classes along dimension 1, then
/// reduced. A class that is ignored has no weight. All dimensions behind the
/// classes are one.
absl::Status likelihood(Importer &im, const Node &node, Compose &c,
                        const Entry &scores, const Entry &labels,
                        const Entry &weights) {
  Dims dims = c.dims(scores), result = c.dims(labels);
  if (!c.status().ok())
    return c.status();
  int64_t classes = dims[1];
  int64_t places = elementCount(dims) / (dims[0] * classes);
  Dims at = {dims[0], 1, places}, row = {1, classes, 1};
  if (elementCount(result) != elementCount(at))
    return absl::InvalidArgumentError("there must be one label for every row "
                                      "of scores");
  Entry rows = c.reshape(scores, {dims[0], classes, places});
  Entry label = c.castTo(c.reshape(labels, at), im.builder.getI64Type());
  Entry hot =
      c.pair<EqualOp>(label, Compose::integers(row, rangeOf(0, classes)));
  std::vector<float> counts(classes, 1);
  int64_t ignored = node.i("ignore_index", -1);
  if (node.attr("ignore_index") && ignored >= 0 && ignored < classes)
    counts[ignored] = 0;
  Entry weight = Compose::floats(row, std::move(counts));
  if (weights)
    weight = c.mul(weight, c.reshape(weights, row));
  Entry zero = Compose::scalar(0);
  // Selected, not multiplied: the other classes' may be infinite.
  Entry loss =
      c.reduce<ReduceSumOp>(c.select(hot, c.mul(rows, weight), zero), {1});
  loss = c.unary<NegOp>(loss);
  std::string reduction = node.s("reduction", "mean");
  if (reduction == "none")
    return c.bind(node, 0, c.reshape(loss, result));
  Dims all = {0, 1, 2};
  loss = c.reduce<ReduceSumOp>(loss, all);
  if (reduction == "mean")
    loss = c.div(loss, c.reduce<ReduceSumOp>(c.select(hot, weight, zero), all));
  else if (reduction != "sum")
    return absl::InvalidArgumentError("reduction \"" + reduction +
                                      "\" is none of none, mean and sum");
  return c.bind(node, 0, c.reshape(loss, {}));
}

absl::Status negativeLogLikelihood(Importer &im, const Node &node) {
  Compose c(im);
  return likelihood(im, node, c, im.entry(node, 0), im.entry(node, 1),
                    im.entry(node, 2));
}

absl::Status softmaxCrossEntropy(Importer &im, const Node &node) {
  Compose c(im);
  Entry scores = c.logSoftmax(im.entry(node, 0), 1);
  if (absl::Status s = c.bind(node, 1, scores); !s.ok())
    return s;
  return likelihood(im, node, c, scores, im.entry(node, 1), im.entry(node, 2));
}

} // namespace

void registerLossOps(Registry &r) {
  auto loss = [](Handler handler) {
    return OpImport(handler).inputs(2).of(kFloat | kInt32 | kInt64).ranks(2, 8);
  };
  r["NegativeLogLikelihoodLoss"] = loss(negativeLogLikelihood);
  r["SoftmaxCrossEntropyLoss"] = loss(softmaxCrossEntropy);
}

} // namespace npu
