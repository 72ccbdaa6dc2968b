// TopK, one round of reductions for each result.
#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"

using namespace mlir;

namespace npu {

namespace {

/// Beyond it, sorting on the host is faster.
constexpr int64_t kMostRounds = 64;

/// Round by round: the best of what is left, and the first place of it. What
/// has been taken is remembered by place, as values may be infinite.
absl::Status topK(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  NPU_ASSIGN(int64_t axis, axisOf(node.i("axis", -1), dims.size()));
  int64_t k = node.i("k", 0);
  if (node.opset >= 10) {
    std::optional<Dims> given = im.integers(node, 1);
    if (!given || given->size() != 1)
      return absl::InvalidArgumentError("K must be one constant integer");
    k = given->front();
  }
  int64_t size = dims[axis];
  if (k < 1 || k > size)
    return absl::InvalidArgumentError(
        absl::StrCat("K is ", k, ", the axis has ", size, " elements"));
  if (k > kMostRounds)
    return im.unsupported(absl::StrCat("K is ", k, ", at most ", kMostRounds,
                                       " are computed here"));
  if (node.i("largest", 1) == 0)
    x = c.mul(x, Compose::scalar(-1));
  Dims along(dims.size(), 1);
  along[axis] = size;
  std::vector<float> counted(size);
  for (int64_t i = 0; i < size; ++i)
    counted[i] = float(i);
  Entry places = c.expand(Compose::floats(along, counted), dims);
  Entry none = Compose::scalar(-INFINITY), end = Compose::scalar(float(size));
  std::vector<Entry> values, indices;
  Entry left = x, free = places; // `free` is `size` where taken
  for (int64_t round = 0; round < k; ++round) {
    Entry best = c.reduce<ReduceMaxOp>(left, {axis});
    Entry at = c.select(c.pair<EqualOp>(left, best), free, end);
    Entry first = c.reduce<ReduceMinOp>(at, {axis});
    values.push_back(best);
    indices.push_back(first);
    if (round + 1 == k)
      break;
    Entry taken = c.pair<EqualOp>(places, first);
    left = c.select(taken, none, left);
    free = c.select(taken, end, free);
  }
  Entry best = c.concat(values, axis);
  if (node.i("largest", 1) == 0)
    best = c.mul(best, Compose::scalar(-1));
  if (absl::Status s = c.bind(node, 0, best); !s.ok())
    return s;
  return c.bind(
      node, 1,
      c.castTo(c.concat(indices, axis), im.builder.getIntegerType(64)));
}

} // namespace

void registerTopKOps(Registry &r) {
  r["TopK"] = OpImport(topK).constant({1}).of(kFloat).ranks(1, 6).note(
      absl::StrCat("K of at most ", kMostRounds));
}

} // namespace npu
