// Reductions and softmax.
#include <limits>

#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// A reduction over `axes`, which stay as 1.
using Reduction = std::function<Entry(Compose &, const Entry &, const Dims &)>;

template <typename Op> Reduction plain() {
  return [](Compose &c, const Entry &e, const Dims &axes) {
    return c.reduce<Op>(e, axes);
  };
}

Entry sumOfSquares(Compose &c, const Entry &e, const Dims &axes) {
  return c.reduce<ReduceSumOp>(c.mul(e, e), axes);
}

Entry sumOfMagnitudes(Compose &c, const Entry &e, const Dims &axes) {
  return c.reduce<ReduceSumOp>(c.unary<AbsOp>(e), axes);
}

Entry euclidean(Compose &c, const Entry &e, const Dims &axes) {
  return c.unary<SqrtOp>(sumOfSquares(c, e, axes));
}

Entry logOfSum(Compose &c, const Entry &e, const Dims &axes) {
  return c.unary<LogOp>(c.reduce<ReduceSumOp>(e, axes));
}

/// max + log(sum(exp(x - max))), the maximum kept finite.
Entry logOfSumOfExp(Compose &c, const Entry &e, const Dims &axes) {
  constexpr float most = std::numeric_limits<float>::max();
  Entry top = c.clip(c.reduce<ReduceMaxOp>(e, axes), -most, most);
  Entry sum = c.reduce<ReduceSumOp>(c.unary<ExpOp>(c.sub(e, top)), axes);
  return c.add(top, c.unary<LogOp>(sum));
}

/// `e` without the (unit) `axes`.
Entry dropped(Compose &c, const Entry &e, const Dims &axes) {
  Dims dims = c.dims(e), left;
  for (int64_t i = 0, rank = dims.size(); i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      left.push_back(dims[i]);
  return c.reshape(e, left);
}

absl::StatusOr<Dims> readAxes(Importer &im, const Node &node, int64_t rank,
                              int inputFrom) {
  Dims axes = node.ints("axes");
  if (node.opset >= inputFrom && node.has(1)) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given)
      return absl::UnimplementedError("axes must be constant");
    axes = *given;
  }
  if (axes.empty() && !node.i("noop_with_empty_axes", 0))
    axes = identity(rank);
  for (int64_t &a : axes) {
    NPU_ASSIGN(a, axisOf(a, rank));
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

Handler reduce(Reduction reduction, int inputFrom) {
  return [=](Importer &im, const Node &node) -> absl::Status {
    Compose c(im);
    Entry x = im.entry(node, 0);
    NPU_ASSIGN(Dims axes, readAxes(im, node, im.shape(x).size(), inputFrom));
    if (axes.empty() && node.i("noop_with_empty_axes", 0)) {
      im.bind(node.proto.output(0), x);
      return absl::OkStatus();
    }
    Entry word = c.words(x);
    Entry out = c.castTo(reduction(c, word, axes), c.elementOf(x));
    if (!node.i("keepdims", 1))
      out = dropped(c, out, axes);
    return c.bind(node, 0, out);
  };
}

// GlobalAveragePool and GlobalMaxPool: everything behind the channels.
template <typename Op> Handler globalPool() {
  return [](Importer &im, const Node &node) -> absl::Status {
    Compose c(im);
    Entry x = im.entry(node, 0);
    if (im.shape(x).size() < 3)
      return absl::InvalidArgumentError("the input has no spatial dimension");
    return c.bind(node, 0,
                  c.reduce<Op>(x, rangeOf(2, int64_t(im.shape(x).size()))));
  };
}

/// The index of the first maximum along `axis`, which stays as 1.
Entry firstMaximum(Compose &c, const Entry &x, int64_t axis) {
  return c.along<ArgMaxOp>(x, axis, /*keepdims=*/true);
}

/// ArgMax, and ArgMin of what is negated. The last of equals is the first in
/// reverse order.
absl::Status argExtreme(Importer &im, const Node &node, bool least) {
  Compose c(im);
  Entry x = c.words(im.entry(node, 0));
  int64_t rank = c.dims(x).size();
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", 0), rank));
  if (least)
    x = c.unary<NegOp>(x);
  int64_t size = c.dims(x)[axis];
  bool last = node.i("select_last_index", 0);
  if (last) {
    Dims reversed = rangeOf(0, size);
    std::reverse(reversed.begin(), reversed.end());
    x = c.gather(x, reversed, axis);
  }
  Entry out = firstMaximum(c, x, axis);
  if (last)
    out = c.sub(Compose::integers({}, {size - 1}),
                c.castTo(out, im.builder.getI64Type()));
  if (!node.i("keepdims", 1))
    out = dropped(c, out, {axis});
  return c.bind(node, 0, out);
}

/// `f` along the axis; before opset 13 all dimensions from it on are one.
absl::Status along(Importer &im, const Node &node,
                   const std::function<Entry(Compose &, Entry, int64_t)> &f) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t rank = dims.size();
  NPU_ASSIGN(int64_t axis,
             axisOf(node.i("axis", node.opset < 13 ? 1 : -1), rank));
  int64_t behind = elementCount(Dims(dims.begin() + axis + 1, dims.end()));
  if (node.opset >= 13 || behind == 1)
    return c.bind(node, 0, f(c, x, axis));
  int64_t row = dims[axis] * behind;
  Entry flat = f(c, c.reshape(x, {elementCount(dims) / row, row}), 1);
  return c.bind(node, 0, c.reshape(flat, dims));
}

absl::Status softmax(Importer &im, const Node &node) {
  return along(im, node, [](Compose &c, const Entry &x, int64_t axis) {
    return c.softmax(x, axis);
  });
}

absl::Status logSoftmax(Importer &im, const Node &node) {
  return along(im, node, [](Compose &c, const Entry &x, int64_t axis) {
    return c.logSoftmax(x, axis);
  });
}

/// 1 at the first maximum, 0 elsewhere.
absl::Status hardmax(Importer &im, const Node &node) {
  return along(im, node, [&](Compose &c, const Entry &x, int64_t axis) {
    Dims dims = c.dims(x), row(dims.size(), 1);
    row[axis] = dims[axis];
    Entry at = c.castTo(firstMaximum(c, x, axis), im.builder.getI64Type());
    Entry hot =
        c.pair<EqualOp>(at, Compose::integers(row, rangeOf(0, dims[axis])));
    return c.castTo(hot, im.builder.getF32Type());
  });
}

} // namespace

void registerReduceOps(Registry &r) {
  auto axes = [](Reduction reduction, int inputFrom, unsigned types = kFloat) {
    return OpImport(reduce(std::move(reduction), inputFrom))
        .of(types)
        .constant({1});
  };
  r["ReduceMean"] = axes(plain<ReduceMeanOp>(), 18);
  r["ReduceSum"] = axes(plain<ReduceSumOp>(), 13);
  r["ReduceMax"] = axes(plain<ReduceMaxOp>(), 18);
  r["ReduceMin"] = axes(plain<ReduceMinOp>(), 18);
  r["ReduceProd"] = axes(plain<ReduceProdOp>(), 18);
  r["ReduceL1"] = axes(sumOfMagnitudes, 18);
  r["ReduceL2"] = axes(euclidean, 18);
  r["ReduceSumSquare"] = axes(sumOfSquares, 18);
  r["ReduceLogSum"] = axes(logOfSum, 18);
  r["ReduceLogSumExp"] = axes(logOfSumOfExp, 18);
  auto one = [](Handler handler) { return OpImport(handler).of(kFloat); };
  r["GlobalAveragePool"] = one(globalPool<ReduceMeanOp>()).ranks(3, 8);
  r["GlobalMaxPool"] = one(globalPool<ReduceMaxOp>()).ranks(3, 8);
  auto arg = [&](bool least) {
    return one([least](Importer &im, const Node &node) {
             return argExtreme(im, node, least);
           })
        .of(kFloat | kSmallIntegers | kInt16 | kUint16 | kInt32);
  };
  r["ArgMax"] = arg(false);
  r["ArgMin"] = arg(true);
  r["Softmax"] = one(softmax);
  r["LogSoftmax"] = one(logSoftmax);
  r["Hardmax"] = one(hardmax);
}

} // namespace npu
