// Evaluates nodes whose inputs are all constant: shape arithmetic, and the
// constant expressions that exporters leave behind.
#include <algorithm>

#include "lowering/onnx_to_npu/fold.h"

namespace npu {

namespace {

// out[index] = a[index mapped], for results that only move elements.
template <typename F>
Result moved(const Tensor &a, const Dims &dims, const F &from) {
  if (elementCount(dims) < 0 || elementCount(dims) > kMaxElements)
    return nullptr;
  Result out = make(a.type, dims);
  Dims index(dims.size(), 0);
  for (int64_t n = 0, count = elementCount(dims); n < count; ++n) {
    for (int64_t i = int64_t(dims.size()) - 1, rest = n; i >= 0; --i) {
      index[i] = rest % dims[i];
      rest /= dims[i];
    }
    int64_t at = from(index);
    if (at < 0 || at >= a.count())
      return nullptr;
    pushFrom(*out, a, at);
  }
  return out;
}

int64_t flat(const Dims &index, const Dims &dims) {
  int64_t n = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    n = n * dims[i] + index[i];
  return n;
}

Result gather(const Node &node, const Tensor &a, const Tensor &indices) {
  int64_t rank = a.dims.size(), axis = node.i("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return nullptr;
  Dims dims(a.dims.begin(), a.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), a.dims.begin() + axis + 1, a.dims.end());
  int64_t inner = indices.dims.size();
  return moved(a, dims, [&](const Dims &index) -> int64_t {
    Dims middle(index.begin() + axis, index.begin() + axis + inner);
    int64_t pick = int64_t(indices.at(flat(middle, indices.dims)));
    pick += pick < 0 ? a.dims[axis] : 0;
    if (pick < 0 || pick >= a.dims[axis])
      return -1;
    Dims at(index.begin(), index.begin() + axis);
    at.push_back(pick);
    at.insert(at.end(), index.begin() + axis + inner, index.end());
    return flat(at, a.dims);
  });
}

Result concat(Importer &im, const Node &node) {
  TensorPtr first = im.constant(node, 0);
  int64_t rank = first->dims.size(), axis = node.i("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return nullptr;
  Dims dims = first->dims;
  dims[axis] = 0;
  for (int n = 0; n < node.inputs(); ++n) {
    TensorPtr t = im.constant(node, n);
    if (t->dims.size() != dims.size())
      return nullptr;
    dims[axis] += t->dims[axis];
  }
  Result out = make(first->type, dims);
  int64_t outer = elementCount(Dims(dims.begin(), dims.begin() + axis));
  for (int64_t o = 0; o < outer; ++o)
    for (int n = 0; n < node.inputs(); ++n) {
      TensorPtr t = im.constant(node, n);
      int64_t chunk = t->count() / std::max<int64_t>(1, outer);
      for (int64_t k = 0; k < chunk; ++k)
        pushFrom(*out, *t, o * chunk + k);
    }
  return out->count() == elementCount(dims) ? out : nullptr;
}

Result slice(Importer &im, const Node &node, const Tensor &a) {
  Dims from = node.ints("starts"), to = node.ints("ends"),
       axes = node.ints("axes"), steps;
  if (node.opset >= 10) {
    Dims *parts[] = {nullptr, &from, &to, &axes, &steps};
    for (int n = 1; n <= 4; ++n)
      if (node.has(n))
        *parts[n] = im.constant(node, n)->integers();
  }
  if (axes.empty())
    axes = identity(from.size());
  steps.resize(from.size(), 1);
  Dims start(a.dims.size(), 0), step(a.dims.size(), 1), dims = a.dims;
  if (to.size() != from.size() || axes.size() != from.size())
    return nullptr;
  for (size_t n = 0; n < axes.size(); ++n) {
    int64_t axis = axes[n] + (axes[n] < 0 ? int64_t(a.dims.size()) : 0);
    if (axis < 0 || axis >= int64_t(a.dims.size()) || steps[n] == 0)
      return nullptr;
    int64_t d = a.dims[axis], b = from[n], e = to[n], s = steps[n];
    b += b < 0 ? d : 0;
    e += e < 0 && e >= -d ? d : 0;
    b = std::clamp<int64_t>(b, 0, s > 0 ? d : d - 1);
    e = std::clamp<int64_t>(e, s > 0 ? 0 : -1, d);
    dims[axis] = std::max<int64_t>(0, s > 0 ? (e - b + s - 1) / s
                                            : (b - e - s - 1) / -s);
    start[axis] = b;
    step[axis] = s;
  }
  return moved(a, dims, [&](const Dims &index) {
    Dims at(index.size());
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = start[i] + index[i] * step[i];
    return flat(at, a.dims);
  });
}

Result withDims(const Tensor &a, Dims dims) {
  if (elementCount(dims) != a.count())
    return nullptr;
  auto out = std::make_shared<Tensor>(a);
  out->dims = std::move(dims);
  return out;
}

Result reshaped(Importer &im, const Node &node, const Tensor &a) {
  const std::string &op = node.proto.op_type();
  int64_t rank = a.dims.size();
  if (op == "Flatten") {
    int64_t axis = node.i("axis", 1);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis > rank)
      return nullptr;
    return withDims(a,
                    {elementCount(Dims(a.dims.begin(), a.dims.begin() + axis)),
                     elementCount(Dims(a.dims.begin() + axis, a.dims.end()))});
  }
  if (op == "Reshape") {
    Dims dims = im.constant(node, 1)->integers();
    int64_t known = 1, unknown = -1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 0 && i < a.dims.size() && !node.i("allowzero", 0))
        dims[i] = a.dims[i];
      if (dims[i] < 0)
        unknown = i;
      else
        known *= dims[i];
    }
    if (unknown >= 0)
      dims[unknown] = known > 0 ? a.count() / known : 0;
    return withDims(a, dims);
  }
  Dims axes = node.ints("axes"), dims;
  if (node.opset >= 13 && node.has(1))
    axes = im.constant(node, 1)->integers();
  bool insert = op == "Unsqueeze";
  int64_t all = rank + (insert ? axes.size() : 0);
  for (int64_t &axis : axes)
    axis += axis < 0 ? all : 0;
  for (int64_t i = 0, n = 0; i < all; ++i) {
    bool named = std::count(axes.begin(), axes.end(), i) != 0;
    if (insert && !named && n >= rank)
      return nullptr;
    if (insert)
      dims.push_back(named ? 1 : a.dims[n++]);
    else if (axes.empty() ? a.dims[i] != 1 : !named)
      dims.push_back(a.dims[i]);
  }
  return withDims(a, dims);
}

Result fill(const Node &node, const Dims &dims) {
  if (elementCount(dims) < 0 || elementCount(dims) > kMaxElements)
    return nullptr;
  TensorPtr value;
  if (const auto *a = node.attr("value"); a && a->has_t()) {
    auto t = readTensor(a->t(), "", false);
    if (!t.ok() || (*t)->count() != 1)
      return nullptr;
    value = *t;
  }
  Result out = make(value ? value->type : int(onnx::TensorProto::FLOAT), dims);
  for (int64_t n = 0, count = elementCount(dims); n < count; ++n)
    push(*out, value ? value->at(0) : 0);
  return out;
}

Result range(const Tensor &a, const Tensor &b, const Tensor &c) {
  double from = a.at(0), to = b.at(0), step = c.at(0);
  double count = step == 0 ? -1 : std::ceil((to - from) / step);
  if (!(count >= 0) || count > double(kMaxElements))
    return nullptr;
  Result out = make(a.type, {int64_t(count)});
  for (int64_t n = 0; n < int64_t(count); ++n)
    push(*out, from + double(n) * step);
  return out;
}

// Shape and Size need no constant, only a static shape.
Result shapeOf(Importer &im, const Node &node) {
  Dims dims = im.shape(im.entry(node, 0));
  if (node.proto.op_type() == "Size") {
    Result out = make(onnx::TensorProto::INT64, {});
    out->i = {elementCount(dims)};
    return out;
  }
  int64_t rank = dims.size(), start = node.i("start", 0),
          end = node.i("end", rank);
  start = std::clamp<int64_t>(start + (start < 0 ? rank : 0), 0, rank);
  end = std::clamp<int64_t>(end + (end < 0 ? rank : 0), start, rank);
  Result out = make(onnx::TensorProto::INT64, {end - start});
  out->i.assign(dims.begin() + start, dims.begin() + end);
  return out;
}

Result evaluate(Importer &im, const Node &node) {
  const std::string &op = node.proto.op_type();
  TensorPtr a = im.constant(node, 0), b = im.constant(node, 1);
  if (op == "ConstantOfShape")
    return fill(node, a->integers());
  if (op == "Range" && node.inputs() == 3 && a->count() && b->count())
    return range(*a, *b, *im.constant(node, 2));
  if (op == "Concat")
    return concat(im, node);
  if (op == "Gather" && b)
    return gather(node, *a, *b);
  if (op == "Slice")
    return slice(im, node, *a);
  if (op == "Identity" || op == "Dropout")
    return withDims(*a, a->dims);
  if (op == "Reshape" || op == "Flatten" || op == "Squeeze" ||
      op == "Unsqueeze")
    return reshaped(im, node, *a);
  if (op == "Cast") {
    Result out = make(int(node.i("to", 1)), a->dims);
    if (elementSize(out->type) == 0)
      return nullptr;
    bool toBool = out->type == onnx::TensorProto::BOOL;
    for (int64_t n = 0; n < a->count(); ++n)
      if (toBool)
        push(*out, a->at(n) != 0);
      else
        pushFrom(*out, *a, n);
    return out;
  }
  if (op == "Transpose") {
    Dims perm = node.ints("perm"), dims;
    if (perm.empty())
      for (int64_t i = int64_t(a->dims.size()) - 1; i >= 0; --i)
        perm.push_back(i);
    Dims sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != identity(a->dims.size()))
      return nullptr;
    for (int64_t p : perm)
      dims.push_back(a->dims[p]);
    return moved(*a, dims, [&](const Dims &index) {
      Dims at(index.size());
      for (size_t i = 0; i < at.size(); ++i)
        at[perm[i]] = index[i];
      return flat(at, a->dims);
    });
  }
  if (op == "Expand" && b) {
    Dims dims;
    if (!broadcast(a->dims, b->integers(), &dims))
      return nullptr;
    Result out = make(a->type, dims);
    for (int64_t n = 0, count = elementCount(dims); n < count; ++n)
      pushFrom(*out, *a, source(n, dims, a->dims));
    return out;
  }
  if (op == "Where" && node.inputs() == 3) {
    TensorPtr c = im.constant(node, 2);
    Dims ab, dims;
    if (!broadcast(a->dims, b->dims, &ab) || !broadcast(ab, c->dims, &dims))
      return nullptr;
    Result out = make(b->type, dims);
    for (int64_t n = 0, count = elementCount(dims); n < count; ++n)
      a->at(source(n, dims, a->dims))
          ? pushFrom(*out, *b, source(n, dims, b->dims))
          : pushFrom(*out, *c, source(n, dims, c->dims));
    return out;
  }
  return foldElementwise(im, node);
}

} // namespace

bool foldNode(Importer &im, const Node &node) {
  const std::string &op = node.proto.op_type();
  bool standard =
      node.proto.domain().empty() || node.proto.domain() == "ai.onnx";
  if (!standard || node.inputs() == 0 || node.proto.output_size() == 0)
    return false;
  Result out;
  if (op == "Shape" || op == "Size") {
    out = shapeOf(im, node);
  } else {
    for (int n = 0; n < node.inputs(); ++n)
      if (node.has(n) && !im.constant(node, n))
        return false;
    if (!node.has(0))
      return false;
    out = evaluate(im, node);
  }
  if (!out)
    return false;
  im.bind(node, 0, TensorPtr(out));
  return true;
}

} // namespace npu
