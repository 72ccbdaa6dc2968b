// Reductions and softmax.
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
}

} // namespace npu
