// Reductions, softmax, normalisations.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/elementwise.h"

using namespace mlir;

namespace npu {

static absl::Status normalizeAxes(Dims *axes, int64_t rank) {
  for (int64_t &a : *axes) {
    if (a < -rank || a >= rank)
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", a, " is outside rank ", rank));
    a += a < 0 ? rank : 0;
  }
  return absl::OkStatus();
}

// Position of logical dimension `axis` in the stored order.
static int64_t stored(const Dims &perm, int64_t axis) {
  return std::find(perm.begin(), perm.end(), axis) - perm.begin();
}

// Reduces the logical `axes` of `e`, keeping them as 1.
template <typename Op>
static absl::StatusOr<Entry> reduceKeep(Importer &im, Entry e, Dims axes) {
  if (e.constant)
    e = {nullptr, im.constantValue(*e.constant),
         identity(e.constant->dims.size())};
  Dims at;
  for (int64_t a : axes)
    at.push_back(stored(e.perm, a));
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  NPU_ASSIGN(Value out, im.create<Op>(Type(), e.value, at, true));
  return Entry{nullptr, out, e.perm};
}

// Drops the (unit) logical axes.
static Value dropAxes(Importer &im, const Entry &e, const Dims &axes) {
  Value v = im.materialize(e, identity(e.perm.size()));
  auto type = cast<RankedTensorType>(v.getType());
  Dims dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      dims.push_back(type.getDimSize(i));
  return ReshapeOp::create(im.builder, im.loc,
                           RankedTensorType::get(dims, type.getElementType()),
                           v, dims);
}

static absl::StatusOr<Dims> readAxes(Importer &im, const Node &node,
                                     int64_t rank, int inputFrom) {
  Dims axes = node.ints("axes");
  if (node.opset >= inputFrom && node.has(1)) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given)
      return absl::UnimplementedError("axes must be constant");
    axes = *given;
  }
  if (axes.empty() && !node.i("noop_with_empty_axes", 0))
    axes = identity(rank);
  if (absl::Status s = normalizeAxes(&axes, rank); !s.ok())
    return s;
  std::sort(axes.begin(), axes.end());
  return axes;
}

template <typename Op> static Handler reduce(int inputFrom) {
  return [inputFrom](Importer &im, const Node &node) -> absl::Status {
    Entry x = im.entry(node, 0);
    NPU_ASSIGN(Dims axes, readAxes(im, node, im.shape(x).size(), inputFrom));
    if (axes.empty()) {
      im.bind(node.proto.output(0), x);
      return absl::OkStatus();
    }
    NPU_ASSIGN(Entry out, reduceKeep<Op>(im, x, axes));
    if (node.i("keepdims", 1))
      im.bind(node, 0, out.value, out.perm);
    else
      im.bind(node, 0, dropAxes(im, out, axes));
    return absl::OkStatus();
  };
}

// GlobalAveragePool and GlobalMaxPool: everything behind the channels.
template <typename Op> static Handler globalPool() {
  return [](Importer &im, const Node &node) -> absl::Status {
    Entry x = im.entry(node, 0);
    if (im.shape(x).size() < 3)
      return absl::InvalidArgumentError("the input has no spatial dimension");
    Dims axes;
    for (size_t i = 2; i < im.shape(x).size(); ++i)
      axes.push_back(i);
    NPU_ASSIGN(Entry out, reduceKeep<Op>(im, x, axes));
    im.bind(node, 0, out.value, out.perm);
    return absl::OkStatus();
  };
}

static absl::Status argMax(Importer &im, const Node &node) {
  Entry x = im.entry(node, 0);
  Dims axis = {node.i("axis", 0)};
  if (absl::Status s = normalizeAxes(&axis, im.shape(x).size()); !s.ok())
    return s;
  if (node.i("select_last_index", 0))
    return im.unsupported("select_last_index");
  if (!x.value)
    return im.unsupported("of a constant");
  NPU_ASSIGN(Value out, im.create<ArgMaxOp>(Type(), x.value,
                                            stored(x.perm, axis[0]), true));
  if (node.i("keepdims", 1))
    im.bind(node, 0, out, x.perm);
  else
    im.bind(node, 0, dropAxes(im, {nullptr, out, x.perm}, axis));
  return absl::OkStatus();
}

static absl::Status softmax(Importer &im, const Node &node, bool log) {
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t rank = dims.size();
  Dims axis = {node.i("axis", node.opset < 13 ? 1 : -1)};
  if (absl::Status s = normalizeAxes(&axis, rank); !s.ok())
    return s;
  Value out;
  Dims perm = x.perm;
  bool flat = node.opset < 13 && axis[0] != rank - 1;
  for (int64_t i = axis[0] + 1; i < rank; ++i)
    flat &= node.opset < 13; // before opset 13 all dims from axis on are one
  if (flat && elementCount(Dims(dims.begin() + axis[0] + 1, dims.end())) != 1) {
    Value v = im.value(node, 0);
    auto type = cast<RankedTensorType>(v.getType());
    Dims two = {elementCount(Dims(dims.begin(), dims.begin() + axis[0])),
                elementCount(Dims(dims.begin() + axis[0], dims.end()))};
    v = ReshapeOp::create(im.builder, im.loc,
                          RankedTensorType::get(two, type.getElementType()), v,
                          two);
    NPU_ASSIGN(v, im.create<SoftmaxOp>(Type(), v, int64_t(1)));
    out = ReshapeOp::create(im.builder, im.loc, type, v, dims);
    perm = identity(rank);
  } else {
    if (!x.value)
      return im.unsupported("of a constant");
    NPU_ASSIGN(out,
               im.create<SoftmaxOp>(Type(), x.value, stored(x.perm, axis[0])));
  }
  if (log) {
    NPU_ASSIGN(out, im.create<LogOp>(Type(), out));
  }
  im.bind(node, 0, out, perm);
  return absl::OkStatus();
}

// (x - mean) / sqrt(variance + epsilon) over `axes`, then scale and offset.
static absl::Status normalize(Importer &im, const Node &node, Dims axes,
                              TensorPtr scale, TensorPtr offset) {
  Entry x = im.entry(node, 0);
  auto sub = [&](const Entry &a, const Entry &b) -> absl::StatusOr<Entry> {
    Operands o = broadcastOperands(im, a, b);
    NPU_ASSIGN(Value v, im.create<SubOp>(Type(), o.a, o.b, ActivationAttr(),
                                         TypeAttr()));
    return Entry{nullptr, v, o.perm};
  };
  auto mul = [&](const Entry &a, const Entry &b) -> absl::StatusOr<Entry> {
    Operands o = broadcastOperands(im, a, b);
    NPU_ASSIGN(Value v, im.create<MulOp>(Type(), o.a, o.b, ActivationAttr(),
                                         TypeAttr()));
    return Entry{nullptr, v, o.perm};
  };
  auto add = [&](const Entry &a, const Entry &b) -> absl::StatusOr<Entry> {
    Operands o = broadcastOperands(im, a, b);
    NPU_ASSIGN(Value v, im.create<AddOp>(Type(), o.a, o.b, ActivationAttr(),
                                         TypeAttr()));
    return Entry{nullptr, v, o.perm};
  };
  NPU_ASSIGN(Entry mean, reduceKeep<ReduceMeanOp>(im, x, axes));
  NPU_ASSIGN(Entry centred, sub(x, mean));
  NPU_ASSIGN(Entry square, mul(centred, centred));
  NPU_ASSIGN(Entry variance, reduceKeep<ReduceMeanOp>(im, square, axes));
  auto epsilon = std::make_shared<Tensor>();
  epsilon->f = {node.f("epsilon", 1e-5f)};
  NPU_ASSIGN(Entry sum, add(variance, {epsilon, {}, {}}));
  NPU_ASSIGN(Value root, im.create<SqrtOp>(Type(), sum.value));
  NPU_ASSIGN(Value inverse, im.create<ReciprocalOp>(Type(), root));
  NPU_ASSIGN(Entry out, mul(centred, {nullptr, inverse, sum.perm}));
  if (scale) {
    NPU_ASSIGN(out, mul(out, {scale, {}, {}}));
  }
  if (offset) {
    NPU_ASSIGN(out, add(out, {offset, {}, {}}));
  }
  im.bind(node, 0, out.value, out.perm);
  return absl::OkStatus();
}

static absl::Status layerNorm(Importer &im, const Node &node) {
  int64_t rank = im.shape(im.entry(node, 0)).size();
  Dims axis = {node.i("axis", -1)};
  if (absl::Status s = normalizeAxes(&axis, rank); !s.ok())
    return s;
  Dims axes;
  for (int64_t i = axis[0]; i < rank; ++i)
    axes.push_back(i);
  TensorPtr scale = im.constant(node, 1), offset = im.constant(node, 2);
  if (!scale || (node.has(2) && !offset))
    return im.unsupported("scale and bias must be constant");
  return normalize(im, node, axes, scale, offset);
}

static absl::Status instanceNorm(Importer &im, const Node &node) {
  Dims dims = im.shape(im.entry(node, 0)), axes;
  TensorPtr t[3] = {nullptr, im.constant(node, 1), im.constant(node, 2)};
  if (!t[1] || !t[2] || dims.size() < 3)
    return im.unsupported("scale and bias must be constant");
  for (size_t i = 2; i < dims.size(); ++i)
    axes.push_back(i);
  std::shared_ptr<Tensor> wide[3];
  for (int n = 1; n < 3; ++n) {
    wide[n] = std::make_shared<Tensor>(*t[n]);
    wide[n]->dims = Dims(dims.size() - 1, 1);
    wide[n]->dims[0] = t[n]->count();
  }
  return normalize(im, node, axes, wide[1], wide[2]);
}

void registerReduceOps(Registry &r) {
  auto axes = [](Handler handler) {
    return OpImport(handler).of(kFloat).constant({1});
  };
  r["ReduceMean"] = axes(reduce<ReduceMeanOp>(18));
  r["ReduceSum"] = axes(reduce<ReduceSumOp>(13));
  r["ReduceMax"] = axes(reduce<ReduceMaxOp>(18));
  r["ReduceMin"] = axes(reduce<ReduceMinOp>(18));
  r["ReduceProd"] = axes(reduce<ReduceProdOp>(18));
  auto one = [](Handler handler) { return OpImport(handler).of(kFloat); };
  r["GlobalAveragePool"] = one(globalPool<ReduceMeanOp>()).ranks(3, 8);
  r["GlobalMaxPool"] = one(globalPool<ReduceMaxOp>()).ranks(3, 8);
  r["ArgMax"] = one(argMax).of(kFloat | kInt32);
  r["Softmax"] =
      one([](Importer &im, const Node &n) { return softmax(im, n, false); });
  r["LogSoftmax"] =
      one([](Importer &im, const Node &n) { return softmax(im, n, true); });
  r["LayerNormalization"] = one(layerNorm).inputs(2).constant({1, 2});
  r["InstanceNormalization"] =
      one(instanceNorm).inputs(3).constant({1, 2}).ranks(3, 8);
}

} // namespace npu
