#include "lowering/onnx_to_npu/compose.h"

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/conv.h"

using namespace mlir;

namespace npu {

absl::StatusOr<int64_t> axisOf(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside rank ", rank));
  return axis < 0 ? axis + rank : axis;
}

Dims rangeOf(int64_t from, int64_t to) {
  Dims all;
  for (int64_t i = from; i < to; ++i)
    all.push_back(i);
  return all;
}

absl::Status Compose::bind(const Node &node, int n, const Entry &e) {
  if (!state.ok() || n >= node.proto.output_size() ||
      node.proto.output(n).empty())
    return state;
  if (!ready({&e}))
    return state;
  if (e.constant)
    im.bind(node, n, e.constant);
  else
    im.bind(node, n, e.value, e.perm);
  return state;
}

Entry Compose::scalar(float value) { return floats({}, {value}); }

Entry Compose::numberLike(const Entry &like, int64_t value) {
  auto type = dyn_cast_or_null<IntegerType>(elementOf(like));
  if (!type)
    return scalar(float(value));
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return integers({}, {value != 0}, onnx::TensorProto::BOOL);
  case 8:
    return integers({}, {value},
                    isUnsigned ? onnx::TensorProto::UINT8
                               : onnx::TensorProto::INT8);
  case 16:
    return integers({}, {value},
                    isUnsigned ? onnx::TensorProto::UINT16
                               : onnx::TensorProto::INT16);
  case 32:
    return integers({}, {value},
                    isUnsigned ? onnx::TensorProto::UINT32
                               : onnx::TensorProto::INT32);
  default:
    return integers({}, {value},
                    isUnsigned ? onnx::TensorProto::UINT64
                               : onnx::TensorProto::INT64);
  }
}

Entry Compose::floats(const Dims &dims, std::vector<float> values) {
  auto t = std::make_shared<Tensor>();
  t->dims = dims;
  t->f = std::move(values);
  return {t, {}, {}};
}

Entry Compose::integers(const Dims &dims, std::vector<int64_t> values,
                        int type) {
  auto t = std::make_shared<Tensor>();
  t->type = type;
  t->dims = dims;
  t->i = std::move(values);
  return {t, {}, {}};
}

bool Compose::ready(std::initializer_list<const Entry *> operands) {
  for (const Entry *e : operands)
    if (!*e)
      fail(absl::InvalidArgumentError("an operand is missing"));
  return state.ok();
}

Entry Compose::take(absl::StatusOr<Value> value, const Dims &perm) {
  if (value.ok())
    return {nullptr, *value, perm};
  fail(value.status());
  return {};
}

Entry Compose::asValue(const Entry &e) {
  if (!e.constant)
    return e;
  return {nullptr, im.constantValue(*e.constant),
          identity(e.constant->dims.size())};
}

Entry Compose::clip(const Entry &e, float low, float high) {
  return unary<ClipOp>(e, APFloat(low), APFloat(high));
}

Entry Compose::castTo(const Entry &e, Type element) {
  if (!ready({&e}))
    return {};
  Entry v = asValue(e);
  if (getElementTypeOrSelf(v.value.getType()) == element)
    return v;
  return take(im.create<CastOp>(element, v.value), v.perm);
}

Type Compose::elementOf(const Entry &e) {
  if (e.constant)
    return elementType(im.builder.getContext(), e.constant->type);
  return e ? getElementTypeOrSelf(e.value.getType()) : Type();
}

Entry Compose::words(const Entry &e) {
  auto type = dyn_cast_or_null<IntegerType>(elementOf(e));
  if (!type || type.getWidth() == 64 || type.isSignlessInteger(32))
    return e;
  return castTo(e, im.builder.getIntegerType(type.getWidth() == 32 ? 64 : 32));
}

Entry Compose::select(const Entry &condition, const Entry &yes,
                      const Entry &no) {
  if (!ready({&condition, &yes, &no}))
    return {};
  // All three stored alike: as the largest is.
  const Entry *largest = &condition;
  size_t rank = 0;
  for (const Entry *e : {&condition, &yes, &no}) {
    rank = std::max(rank, dims(*e).size());
    if (elementCount(dims(*e)) > elementCount(dims(*largest)) ||
        (e->value && !largest->value))
      largest = e;
  }
  Dims perm = largest->value && largest->perm.size() == rank ? largest->perm
                                                             : identity(rank);
  return take(im.create<SelectOp>(Type(), alignedTo(im, condition, perm),
                                  alignedTo(im, yes, perm),
                                  alignedTo(im, no, perm)),
              perm);
}

Entry Compose::negate(const Entry &truth) {
  return pair<XorOp>(truth, integers({}, {1}, onnx::TensorProto::BOOL));
}

Entry Compose::logSoftmax(const Entry &e, int64_t axis) {
  Entry shifted = sub(e, reduce<ReduceMaxOp>(e, {axis}));
  Entry sum = reduce<ReduceSumOp>(unary<ExpOp>(shifted), {axis});
  return this->sub(shifted, unary<LogOp>(sum));
}

Entry Compose::matmul(const Entry &a, const Entry &b, bool transposed) {
  if (!ready({&a, &b}))
    return {};
  Value x = im.materialize(a, identity(dims(a).size()));
  Value y = im.materialize(b, identity(dims(b).size()));
  auto out = im.create<MatMulOp>(Type(), x, y, transposed);
  return take(
      out, out.ok() ? identity(cast<RankedTensorType>(out->getType()).getRank())
                    : Dims());
}

Entry Compose::linear(const Entry &x, const Entry &weights, const Entry &bias) {
  if (!ready({&x, &weights}))
    return {};
  std::optional<Filter> filter = filterOf(weights);
  if (!filter || (bias && !bias.constant)) {
    Entry product = matmul(x, weights, true);
    return bias ? add(product, bias) : product;
  }
  Value in = im.materialize(x, identity(dims(x).size()));
  auto matrix = matrixFilter(im, *filter, /*transposed=*/true, true);
  if (!matrix.ok()) {
    fail(matrix.status());
    return {};
  }
  Value offset = bias ? im.constantValue(*bias.constant) : Value();
  return take(fullyConnected(im, in, *matrix, offset, {}), {0, 1});
}

Entry Compose::reshape(const Entry &e, const Dims &to) {
  if (!ready({&e}))
    return {};
  if (dims(e) == to)
    return e;
  if (e.constant) {
    auto copy = std::make_shared<Tensor>(*e.constant);
    copy->dims = to;
    return {copy, {}, {}};
  }
  Value v = im.materialize(e, identity(e.perm.size()));
  auto type = cast<RankedTensorType>(v.getType());
  if (elementCount(to) != type.getNumElements()) {
    fail(absl::InvalidArgumentError("a shape of another size"));
    return {};
  }
  Value out = ReshapeOp::create(
      im.builder, im.loc, RankedTensorType::get(to, type.getElementType()), v,
      to);
  return {nullptr, out, identity(to.size())};
}

Entry Compose::transpose(const Entry &e, const Dims &perm) {
  if (!ready({&e}))
    return {};
  Entry v = asValue(e);
  for (int64_t &p : v.perm)
    p = std::find(perm.begin(), perm.end(), p) - perm.begin();
  return v;
}

Entry Compose::expand(const Entry &e, const Dims &to) {
  if (!ready({&e}))
    return {};
  if (dims(e) == to)
    return e;
  Value v = im.materialize(e, identity(dims(e).size()));
  return take(im.create<BroadcastToOp>(Type(), v, to), identity(to.size()));
}

// Blocks of what lies behind `axis`.
static Entry sliceOf(const Tensor &t, int64_t axis, int64_t start, int64_t size,
                     int64_t stride) {
  auto out = std::make_shared<Tensor>();
  out->type = t.type;
  out->dims = t.dims;
  out->dims[axis] = size;
  int64_t inner = elementCount(Dims(t.dims.begin() + axis + 1, t.dims.end()));
  auto copy = [&](const auto &from, auto &to) {
    for (int64_t block = 0, n = t.dims[axis] * inner;
         block < int64_t(from.size()); block += n)
      for (int64_t i = 0; i < size; ++i) {
        auto at = from.begin() + block + (start + i * stride) * inner;
        to.insert(to.end(), at, at + inner);
      }
  };
  copy(t.f, out->f);
  copy(t.i, out->i);
  return {out, {}, {}};
}

Entry Compose::slice(const Entry &e, int64_t axis, int64_t start, int64_t size,
                     int64_t stride) {
  if (!ready({&e}))
    return {};
  if (e.constant)
    return sliceOf(*e.constant, axis, start, size, stride);
  Entry v = asValue(e);
  Dims sizes(cast<RankedTensorType>(v.value.getType()).getShape());
  Dims starts(sizes.size(), 0), strides(sizes.size(), 1);
  int64_t at = std::find(v.perm.begin(), v.perm.end(), axis) - v.perm.begin();
  if (start == 0 && size == sizes[at] && stride == 1)
    return v;
  starts[at] = start;
  sizes[at] = size;
  strides[at] = stride;
  return take(im.create<SliceOp>(Type(), v.value, starts, sizes, strides),
              v.perm);
}

static Entry concatOf(const std::vector<Entry> &parts, int64_t axis) {
  auto out = std::make_shared<Tensor>(*parts[0].constant);
  out->f.clear();
  out->i.clear();
  int64_t blocks =
      elementCount(Dims(out->dims.begin(), out->dims.begin() + axis));
  for (size_t n = 1; n < parts.size(); ++n)
    out->dims[axis] += parts[n].constant->dims[axis];
  for (int64_t block = 0; block < blocks; ++block)
    for (const Entry &e : parts) {
      auto copy = [&](const auto &from, auto &to) {
        int64_t size = int64_t(from.size()) / blocks;
        auto at = from.begin() + block * size;
        to.insert(to.end(), at, at + size);
      };
      copy(e.constant->f, out->f);
      copy(e.constant->i, out->i);
    }
  return {out, {}, {}};
}

/// Do these differ in nothing but their size along `axis`?
static bool fitAlong(const std::vector<Entry> &parts, int64_t axis) {
  for (const Entry &e : parts) {
    if (!e.constant || e.constant->type != parts[0].constant->type)
      return false;
    Dims dims = e.constant->dims;
    if (axis >= int64_t(dims.size()) ||
        dims.size() != parts[0].constant->dims.size())
      return false;
    dims[axis] = parts[0].constant->dims[axis];
    if (dims != parts[0].constant->dims)
      return false;
  }
  return true;
}

Entry Compose::concat(const std::vector<Entry> &parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  if (fitAlong(parts, axis))
    return concatOf(parts, axis);
  Dims perm;
  for (const Entry &e : parts) {
    if (!ready({&e}))
      return {};
    if (e.value && (perm.empty() || isIdentity(perm)))
      perm = e.perm;
  }
  if (perm.empty())
    perm = identity(dims(parts[0]).size());
  SmallVector<Value> values;
  for (const Entry &e : parts)
    values.push_back(im.materialize(e, perm));
  int64_t at = std::find(perm.begin(), perm.end(), axis) - perm.begin();
  return take(im.create<ConcatOp>(Type(), ValueRange(values), at), perm);
}

Entry Compose::pad(const Entry &e, const Dims &low, const Dims &high,
                   float value) {
  if (!ready({&e}))
    return {};
  Entry v = asValue(e);
  Dims from, to;
  for (int64_t p : Dims(v.perm)) {
    v = slice(v, p, std::max<int64_t>(0, -low[p]),
              dims(v)[p] + std::min<int64_t>(0, low[p]) +
                  std::min<int64_t>(0, high[p]));
    if (!state.ok())
      return {};
    from.push_back(std::max<int64_t>(0, low[p]));
    to.push_back(std::max<int64_t>(0, high[p]));
  }
  auto none = [](const Dims &d) {
    return std::all_of(d.begin(), d.end(), [](int64_t p) { return p == 0; });
  };
  if (none(from) && none(to))
    return v;
  return take(im.create<PadOp>(Type(), v.value, from, to, PadMode::Constant,
                               APFloat(value)),
              v.perm);
}

Entry Compose::gather(const Entry &e, const Dims &indices, int64_t axis) {
  if (!ready({&e}))
    return {};
  Entry v = asValue(e);
  int64_t at = std::find(v.perm.begin(), v.perm.end(), axis) - v.perm.begin();
  return take(im.create<GatherOp>(Type(), v.value, indices, at), v.perm);
}

} // namespace npu
