// Elements by constant indices: rows of what is there, picked and put together
// anew.
#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

namespace npu {

namespace {

// A command's table of rows has at most this many.
constexpr int64_t kMostRows = int64_t{1} << 22;

/// Rows of `sources` (of one type, laid end to end) by number, as `dims`.
Entry pick(Compose &c, const std::vector<Entry> &sources, int64_t rowSize,
           const Dims &rows, const Dims &dims) {
  bool constant = true;
  for (const Entry &e : sources)
    constant &= e.constant != nullptr;
  if (!constant) {
    std::vector<Entry> flat;
    for (const Entry &e : sources)
      flat.push_back(
          c.reshape(e, {elementCount(c.dims(e)) / rowSize, rowSize}));
    return c.reshape(c.gather(c.concat(flat, 0), rows, 0), dims);
  }
  auto out = std::make_shared<Tensor>();
  out->type = sources[0].constant->type;
  out->dims = dims;
  for (int64_t row : rows) {
    int64_t at = row * rowSize;
    const Entry *from = sources.data();
    for (; at >= from->constant->count(); ++from)
      at -= from->constant->count();
    for (int64_t n = at; n < at + rowSize; ++n)
      if (out->isFloat())
        out->f.push_back(from->constant->f[n]);
      else
        out->i.push_back(from->constant->i[n]);
  }
  return {out, {}, {}};
}

Dims slice(const Dims &dims, int64_t from, int64_t to) {
  return Dims(dims.begin() + from, dims.begin() + to);
}

Dims joined(Dims a, const Dims &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

absl::StatusOr<int64_t> wrapped(int64_t index, int64_t size) {
  if (index < -size || index >= size)
    return absl::InvalidArgumentError(
        absl::StrCat("index ", index, " is outside of ", size, " elements"));
  return index < 0 ? index + size : index;
}

/// Row numbers out of tuples that index dimensions [from, from + width) of
/// `dims`; those before go along with the tuples' own (batch) dimensions.
absl::StatusOr<Dims> tupleRows(const Dims &indices, const Dims &dims,
                               int64_t from, int64_t width) {
  int64_t count = indices.size() / width;
  int64_t batches = elementCount(slice(dims, 0, from));
  int64_t perBatch =
      std::max<int64_t>(1, count / std::max<int64_t>(1, batches));
  Dims rows;
  for (int64_t n = 0; n < count; ++n) {
    int64_t row = from ? n / perBatch : 0;
    for (int64_t k = 0; k < width; ++k) {
      NPU_ASSIGN(int64_t at, wrapped(indices[n * width + k], dims[from + k]));
      row = row * dims[from + k] + at;
    }
    rows.push_back(row);
  }
  return rows;
}

/// The elements that `indices` name along `axis`, as flat positions in `dims`.
absl::StatusOr<Dims> elementRows(const Tensor &indices, const Dims &dims,
                                 int64_t axis) {
  Dims strides(dims.size(), 1);
  for (int64_t d = int64_t(dims.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * dims[d + 1];
  Dims rows;
  for (int64_t n = 0; n < indices.count(); ++n) {
    int64_t row = 0;
    for (int64_t d = int64_t(dims.size()) - 1, rest = n; d >= 0; --d) {
      int64_t at = rest % indices.dims[d];
      rest /= indices.dims[d];
      if (d == axis) {
        NPU_ASSIGN(at, wrapped(indices.i[n], dims[d]));
      }
      row += at * strides[d];
    }
    rows.push_back(row);
  }
  return rows;
}

absl::StatusOr<TensorPtr> constantIndices(Importer &im, const Node &node) {
  TensorPtr t = im.constant(node, 1);
  if (!t || t->isFloat())
    return absl::UnimplementedError("indices must be constant integers");
  if (t->count() > kMostRows)
    return absl::UnimplementedError(absl::StrCat(
        t->count(), " indices; at most ", kMostRows, " are supported"));
  return t;
}

absl::Status gatherNd(Importer &im, const Node &node) {
  NPU_ASSIGN(TensorPtr indices, constantIndices(im, node));
  Compose c(im);
  Entry data = im.entry(node, 0);
  Dims dims = im.shape(data);
  int64_t batch = node.i("batch_dims", 0), rank = dims.size();
  int64_t tuples = int64_t(indices->dims.size()) - 1;
  int64_t width = tuples < 0 ? 0 : indices->dims.back();
  if (batch < 0 || batch > tuples || width < 1 || batch + width > rank ||
      slice(dims, 0, batch) != slice(indices->dims, 0, batch))
    return absl::InvalidArgumentError("the indices do not fit the data");
  NPU_ASSIGN(Dims rows, tupleRows(indices->i, dims, batch, width));
  Dims tail = slice(dims, batch + width, rank);
  return c.bind(node, 0,
                pick(c, {data}, elementCount(tail), rows,
                     joined(slice(indices->dims, 0, tuples), tail)));
}

absl::Status gatherElements(Importer &im, const Node &node) {
  NPU_ASSIGN(TensorPtr indices, constantIndices(im, node));
  Compose c(im);
  Entry data = im.entry(node, 0);
  Dims dims = im.shape(data);
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", 0), dims.size()));
  if (indices->dims.size() != dims.size())
    return absl::InvalidArgumentError("indices and data differ in rank");
  NPU_ASSIGN(Dims rows, elementRows(*indices, dims, axis));
  return c.bind(node, 0, pick(c, {data}, 1, rows, indices->dims));
}

/// The rows of `data` with some replaced by, or combined with, `updates`.
absl::Status scatter(Importer &im, const Node &node, int64_t rowSize,
                     const Dims &rows) {
  Compose c(im);
  Entry data = im.entry(node, 0), updates = im.entry(node, 2);
  Dims dims = im.shape(data), from = im.shape(updates);
  int64_t count = elementCount(dims) / rowSize;
  if (count > kMostRows)
    return im.unsupported(absl::StrCat("data of ", count, " rows; at most ",
                                       kMostRows, " are supported"));
  if (elementCount(from) != int64_t(rows.size()) * rowSize)
    return absl::InvalidArgumentError("there must be one update for every "
                                      "index");
  Dims result = rangeOf(0, count);
  bool twice = false;
  for (size_t n = 0; n < rows.size(); ++n) {
    twice |= result[rows[n]] != rows[n];
    result[rows[n]] = count + int64_t(n);
  }
  std::string reduction = node.s("reduction", "none");
  if (reduction != "none") {
    if (twice)
      return im.unsupported("several updates of one element with reduction \"" +
                            reduction + "\"");
    Entry old = pick(c, {data}, rowSize, rows, from);
    updates = reduction == "add"   ? c.add(old, updates)
              : reduction == "mul" ? c.mul(old, updates)
              : reduction == "max" ? c.max(old, updates)
              : reduction == "min" ? c.min(old, updates)
                                   : Entry();
    if (!updates && c.status().ok())
      return absl::InvalidArgumentError("reduction \"" + reduction +
                                        "\" is not known");
  }
  if (!c.status().ok())
    return c.status();
  return c.bind(node, 0, pick(c, {data, updates}, rowSize, result, dims));
}

absl::Status scatterNd(Importer &im, const Node &node) {
  NPU_ASSIGN(TensorPtr indices, constantIndices(im, node));
  Dims dims = im.shape(im.entry(node, 0));
  int64_t rank = dims.size();
  int64_t width = indices->dims.empty() ? 0 : indices->dims.back();
  if (width < 1 || width > rank)
    return absl::InvalidArgumentError("the indices do not fit the data");
  NPU_ASSIGN(Dims rows, tupleRows(indices->i, dims, 0, width));
  return scatter(im, node, elementCount(slice(dims, width, rank)), rows);
}

absl::Status scatterElements(Importer &im, const Node &node) {
  NPU_ASSIGN(TensorPtr indices, constantIndices(im, node));
  Dims dims = im.shape(im.entry(node, 0));
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", 0), dims.size()));
  if (indices->dims.size() != dims.size() ||
      indices->dims != im.shape(im.entry(node, 2)))
    return absl::InvalidArgumentError("indices, updates and data do not fit");
  NPU_ASSIGN(Dims rows, elementRows(*indices, dims, axis));
  return scatter(im, node, 1, rows);
}

/// The first sequence_lens[b] elements of each batch in reverse order.
absl::Status reverseSequence(Importer &im, const Node &node) {
  NPU_ASSIGN(TensorPtr lengths, constantIndices(im, node));
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t batch = node.i("batch_axis", 1), time = node.i("time_axis", 0);
  if (batch + time != 1 || batch * time != 0 || dims.size() < 2 ||
      lengths->count() != dims[batch])
    return absl::InvalidArgumentError("axes 0 and 1, one length for every "
                                      "element of batch_axis");
  Dims rows;
  for (int64_t i = 0; i < dims[0]; ++i)
    for (int64_t j = 0; j < dims[1]; ++j) {
      int64_t b = batch ? j : i, t = batch ? i : j, n = lengths->i[b];
      if (n < 0 || n > dims[time])
        return absl::InvalidArgumentError(
            absl::StrCat("length ", n, " of ", dims[time]));
      t = t < n ? n - 1 - t : t;
      rows.push_back(batch ? t * dims[1] + b : b * dims[1] + t);
    }
  return c.bind(
      node, 0,
      pick(c, {x}, elementCount(slice(dims, 2, dims.size())), rows, dims));
}

} // namespace

void registerIndexOps(Registry &r) {
  auto move = [](Handler handler, int inputs) {
    return OpImport(handler)
        .inputs(inputs)
        .constant({1})
        .of(kAnyType & ~kQuantized)
        .on(Engine::Dma);
  };
  r["GatherND"] = move(gatherNd, 2).ranks(1, 8);
  r["GatherElements"] = move(gatherElements, 2).ranks(1, 8);
  r["ScatterND"] = move(scatterNd, 3).ranks(1, 8);
  r["ScatterElements"] = move(scatterElements, 3).ranks(1, 8);
  r["Scatter"] = move(scatterElements, 3).ranks(1, 8);
  r["ReverseSequence"] = move(reverseSequence, 2).ranks(2, 8);
}

} // namespace npu
