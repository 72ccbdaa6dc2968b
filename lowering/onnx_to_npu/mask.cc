// What is computed by position: triangles, unit vectors, running sums.
#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// True where `keep`(row, column).
template <typename Keep> Entry mask(int64_t rows, int64_t columns, Keep keep) {
  std::vector<int64_t> values;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      values.push_back(keep(r, c));
  return Compose::integers({rows, columns}, std::move(values),
                           onnx::TensorProto::BOOL);
}

absl::Status trilu(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t k = 0, rank = dims.size();
  if (node.has(1)) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given || given->size() != 1)
      return im.unsupported("k must be one constant");
    k = (*given)[0];
  }
  bool upper = node.i("upper", 1);
  Entry keep = mask(dims[rank - 2], dims[rank - 1], [&](int64_t r, int64_t at) {
    return upper ? at - r >= k : at - r <= k;
  });
  Entry zero = c.numberLike(x, 0);
  return c.bind(node, 0, c.select(keep, x, zero));
}

/// 0, 1, ... along `axis` of a tensor of `rank`.
Entry count(int64_t size, int64_t axis, int64_t rank) {
  Dims dims(rank, 1);
  dims[axis] = size;
  return Compose::integers(dims, rangeOf(0, size));
}

absl::Status oneHot(Importer &im, const Node &node) {
  std::optional<Dims> depth = im.integers(node, 1);
  if (!depth || depth->size() != 1 || (*depth)[0] < 1)
    return im.unsupported("depth must be one positive constant");
  Compose c(im);
  Entry at = c.castTo(im.entry(node, 0), im.builder.getI64Type());
  Dims dims = c.dims(at);
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", -1), dims.size() + 1));
  int64_t size = (*depth)[0];
  Entry negative = c.pair<LessOp>(at, Compose::integers({}, {0}));
  Entry wrapped = c.add(at, Compose::integers({}, {size}));
  at = c.select(negative, wrapped, at);
  dims.insert(dims.begin() + axis, 1);
  Entry hot =
      c.pair<EqualOp>(c.reshape(at, dims), count(size, axis, dims.size()));
  Entry values = c.asValue(im.entry(node, 2));
  Entry off = c.slice(values, 0, 0, 1), on = c.slice(values, 0, 1, 1);
  return c.bind(node, 0, c.select(hot, on, off));
}

/// A product with a triangle of ones: the sums of all prefixes at once.
absl::Status cumSum(Importer &im, const Node &node) {
  constexpr int64_t kMost = 1024; // the triangle has this many squared
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t rank = dims.size();
  std::optional<Dims> given = im.integers(node, 1);
  if (!given || given->size() != 1)
    return im.unsupported("axis must be one constant");
  NPU_ASSIGN(int64_t axis, axisOf((*given)[0], rank));
  int64_t n = dims[axis];
  if (n > kMost)
    return im.unsupported(absl::StrCat("an axis of ", n, " elements; at most ",
                                       kMost, " are supported"));
  bool exclusive = node.i("exclusive", 0), reverse = node.i("reverse", 0);
  std::vector<float> triangle(n * n, 0);
  for (int64_t from = 0; from < n; ++from)
    for (int64_t to = 0; to < n; ++to) {
      int64_t distance = reverse ? from - to : to - from;
      triangle[from * n + to] = distance >= (exclusive ? 1 : 0);
    }
  Dims last = rangeOf(0, rank);
  std::swap(last[axis], last[rank - 1]); // its own inverse
  Dims moved;
  for (int64_t d : last)
    moved.push_back(dims[d]);
  Entry flat = c.reshape(c.transpose(x, last), {elementCount(dims) / n, n});
  Entry sums = c.matmul(flat, Compose::floats({n, n}, std::move(triangle)));
  return c.bind(node, 0, c.transpose(c.reshape(sums, moved), last));
}

absl::Status tile(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  std::optional<Dims> repeats = im.integers(node, 1);
  if (!repeats || repeats->size() != dims.size())
    return absl::InvalidArgumentError("repeats must have one constant for "
                                      "every dimension");
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    int64_t times = (*repeats)[axis];
    if (times < 1)
      return im.unsupported("repeats of less than 1 leave nothing");
    if (times == 1)
      continue;
    Dims wide = dims;
    wide.insert(wide.begin() + axis, 1);
    x = c.reshape(x, wide);
    wide[axis] = times;
    dims[axis] *= times;
    x = c.reshape(c.expand(x, wide), dims);
  }
  return c.bind(node, 0, x);
}

absl::Status eyeLike(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t k = node.i("k", 0);
  Entry ones = mask(dims[0], dims[1],
                    [&](int64_t r, int64_t at) { return at - r == k; });
  Type to = node.attr("dtype")
                ? elementType(im.builder.getContext(), int(node.i("dtype", 1)))
                : c.elementOf(x);
  if (!to)
    return im.unsupported("to " + typeName(int(node.i("dtype", 1))));
  return c.bind(node, 0, c.castTo(ones, to));
}

absl::Status castLike(Importer &im, const Node &node) {
  Compose c(im);
  return c.bind(node, 0,
                c.castTo(im.entry(node, 0), c.elementOf(im.entry(node, 1))));
}

} // namespace

void registerMaskOps(Registry &r) {
  constexpr unsigned kPlain = kAnyType & ~kQuantized;
  r["Trilu"] = OpImport(trilu).of(kPlain).constant({1}).ranks(2, 8);
  r["OneHot"] = OpImport(oneHot).inputs(3).of(kPlain).constant({1});
  r["CumSum"] =
      OpImport(cumSum).inputs(2).of(kFloat).constant({1}).on(Engine::Matrix);
  r["Tile"] = OpImport(tile).inputs(2).constant({1}).on(Engine::Dma);
  r["EyeLike"] = OpImport(eyeLike).of(kPlain).ranks(2, 2).on(Engine::None);
  r["CastLike"] = OpImport(castLike).inputs(2).of(kPlain);
}

} // namespace npu
