// Windows, mel filters and Fourier transforms. A transform of a constant size
// is a product with its basis; a short-time one a strided convolution.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/compose.h"
#include "lowering/onnx_to_npu/conv.h"

using namespace mlir;

namespace npu {

namespace {

constexpr double kPi = 3.14159265358979323846;
/// Bytes of a basis grow with the square of the length.
constexpr int64_t kLongest = 4096;

absl::StatusOr<int64_t> oneInteger(Importer &im, const Node &node, int n,
                                   const char *what) {
  std::optional<Dims> found = im.integers(node, n);
  if (!found || found->size() != 1)
    return absl::InvalidArgumentError(
        absl::StrCat(what, " must be one constant integer"));
  return found->front();
}

/// Generalised cosine windows: a[0] - a[1] cos(t) + a[2] cos(2 t), t from 0 to
/// 2 pi.
absl::Status window(Importer &im, const Node &node, std::vector<double> a) {
  NPU_ASSIGN(int64_t size, oneInteger(im, node, 0, "the size"));
  if (size < 1 || size > (1 << 24))
    return absl::InvalidArgumentError(absl::StrCat("a window of size ", size));
  auto out = std::make_shared<Tensor>();
  out->type = int(node.i("output_datatype", onnx::TensorProto::FLOAT));
  out->dims = {size};
  double step =
      2 * kPi /
      std::max<double>(1, node.i("periodic", 1) ? size : double(size - 1));
  for (int64_t i = 0; i < size; ++i) {
    double value = 0;
    for (size_t n = 0; n < a.size(); ++n)
      value += (n % 2 ? -1 : 1) * a[n] * std::cos(double(n) * step * double(i));
    out->isFloat() ? out->f.push_back(float(value))
                   : out->i.push_back(int64_t(value));
  }
  im.bind(node, 0, out);
  return absl::OkStatus();
}

/// Triangles between points evenly spaced in mel; see the operator's
/// definition.
absl::Status melWeights(Importer &im, const Node &node) {
  NPU_ASSIGN(int64_t bins, oneInteger(im, node, 0, "num_mel_bins"));
  NPU_ASSIGN(int64_t length, oneInteger(im, node, 1, "dft_length"));
  NPU_ASSIGN(int64_t rate, oneInteger(im, node, 2, "sample_rate"));
  TensorPtr low = im.constant(node, 3), high = im.constant(node, 4);
  if (bins < 1 || length < 1 || rate < 1 || bins > (1 << 16) ||
      length > (1 << 16) || low->count() != 1 || high->count() != 1 ||
      !(low->at(0) >= 0) || !(high->at(0) > low->at(0)))
    return absl::InvalidArgumentError(
        "sizes and edges must be positive, the upper edge above the lower");
  auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  double from = mel(low->at(0)), step = (mel(high->at(0)) - from) / (bins + 2);
  int64_t rows = length / 2 + 1;
  Dims edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hz = 700 * (std::pow(10, (from + double(i) * step) / 2595) - 1);
    edges.push_back(int64_t(double(length + 1) * hz / double(rate)));
  }
  auto out = std::make_shared<Tensor>();
  out->type = int(node.i("output_datatype", onnx::TensorProto::FLOAT));
  out->dims = {rows, bins};
  out->f.resize(rows * bins);
  if (!out->isFloat())
    return im.unsupported("weights of an integer type");
  for (int64_t bin = 0; bin < bins; ++bin) {
    int64_t start = edges[bin], top = edges[bin + 1], end = edges[bin + 2];
    if (start < 0 || end > rows)
      return absl::InvalidArgumentError("the upper edge is above half of the "
                                        "sample rate");
    for (int64_t r = start; r < top; ++r)
      out->f[r * bins + bin] = float(double(r - start) / double(top - start));
    if (top < rows)
      out->f[top * bins + bin] = 1;
    for (int64_t r = top; r < end; ++r)
      out->f[r * bins + bin] = float(double(end - r) / double(end - top));
  }
  im.bind(node, 0, out);
  return absl::OkStatus();
}

/// exp(-+ 2 pi i k t / length) as real numbers: row (bin, part) of `bins` * 2,
/// column (sample, part) of `samples` * `parts`, times `scale` of the sample.
template <typename Scale>
std::vector<float> basis(int64_t bins, int64_t samples, int64_t parts,
                         int64_t length, bool inverse, Scale scale) {
  std::vector<float> out;
  out.reserve(bins * 2 * samples * parts);
  for (int64_t bin = 0; bin < bins; ++bin)
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t t = 0; t < samples; ++t)
        for (int64_t part = 0; part < parts; ++part) {
          double angle = 2 * kPi * double(bin * t % length) / double(length);
          double re = std::cos(angle), i = std::sin(inverse ? angle : -angle);
          double value = row == part ? re : row ? i : -i;
          out.push_back(float(value * scale(t)));
        }
  return out;
}

absl::Status dft(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  int64_t rank = dims.size();
  int64_t given = node.i("axis", 1);
  if (node.opset >= 20)
    given = -2;
  if (node.opset >= 20 && node.has(2)) {
    NPU_ASSIGN(given, oneInteger(im, node, 2, "axis"));
  }
  NPU_ASSIGN(int64_t axis, axisOf(given, rank));
  int64_t parts = dims.back(), length = dims[axis];
  if (axis == rank - 1 || (parts != 1 && parts != 2))
    return absl::InvalidArgumentError("the last dimension holds real and "
                                      "imaginary part, 1 or 2");
  if (node.has(1)) {
    NPU_ASSIGN(length, oneInteger(im, node, 1, "dft_length"));
  }
  if (length < 1 || length > kLongest)
    return im.unsupported(
        absl::StrCat("a transform of length ", length, ", at most ", kLongest));
  bool inverse = node.i("inverse", 0), one = node.i("onesided", 0);
  if (inverse && one)
    return im.unsupported("an inverse transform that is one-sided");
  int64_t samples = std::min(length, dims[axis]);
  int64_t bins = one ? length / 2 + 1 : length;
  Dims order = identity(rank), back(rank);
  std::swap(order[axis], order[rank - 2]);
  Dims moved;
  x = c.slice(x, axis, 0, samples);
  x = c.transpose(x, order);
  for (int64_t d : order)
    moved.push_back(dims[d]);
  double scale = inverse ? 1 / double(length) : 1;
  Entry weights = Compose::floats({bins * 2, samples * parts},
                                  basis(bins, samples, parts, length, inverse,
                                        [&](int64_t) { return scale; }));
  x = c.reshape(
      x, {elementCount(Dims(moved.begin(), moved.end() - 2)), samples * parts});
  moved[rank - 2] = bins;
  moved[rank - 1] = 2;
  x = c.reshape(c.linear(x, weights, {}), moved);
  return c.bind(node, 0, c.transpose(x, order));
}

absl::Status stft(Importer &im, const Node &node) {
  Compose c(im);
  Entry x = im.entry(node, 0);
  Dims dims = im.shape(x);
  NPU_ASSIGN(int64_t step, oneInteger(im, node, 1, "frame_step"));
  TensorPtr window = im.constant(node, 2);
  int64_t length = window ? window->count() : 0;
  if (node.has(3)) {
    NPU_ASSIGN(length, oneInteger(im, node, 3, "frame_length"));
  }
  int64_t parts = dims.size() == 3 ? dims[2] : 1;
  if (step < 1 || length < 1 || length > dims[1] ||
      (window && window->count() != length) || (parts != 1 && parts != 2))
    return absl::InvalidArgumentError(absl::StrCat(
        "frames of ", length, " every ", step, " of ", dims[1], " samples"));
  if (length > kLongest)
    return im.unsupported(
        absl::StrCat("frames of ", length, " samples, at most ", kLongest));
  int64_t bins = node.i("onesided", 1) ? length / 2 + 1 : length;
  std::vector<float> weights =
      basis(bins, length, parts, length, false,
            [&](int64_t t) { return window ? window->at(t) : 1; });
  Entry signal = c.reshape(x, {dims[0], 1, dims[1], parts});
  if (!c.status().ok())
    return c.status();
  Window w{{1, length}, {1, step}, {1, 1}, {0, 0, 0, 0}, {0, 0}};
  NPU_ASSIGN(Value out,
             buildConv(im, c.asValue(signal).value,
                       im.constantFloats({bins * 2, 1, length, parts}, weights),
                       Value(), w, 1, false, {}));
  Entry frames{nullptr, out, identity(4)};
  return c.bind(
      node, 0,
      c.reshape(frames, {dims[0], (dims[1] - length) / step + 1, bins, 2}));
}

} // namespace

void registerSignalOps(Registry &r) {
  auto cosines = [](std::vector<double> a) {
    return OpImport([a](Importer &im, const Node &node) {
             return window(im, node, a);
           })
        .on(Engine::None)
        .constant({0})
        .since(17);
  };
  r["HannWindow"] = cosines({0.5, 0.5});
  r["HammingWindow"] = cosines({25.0 / 46, 21.0 / 46});
  r["BlackmanWindow"] = cosines({0.42, 0.5, 0.08});
  r["MelWeightMatrix"] = OpImport(melWeights)
                             .on(Engine::None)
                             .inputs(5)
                             .constant({0, 1, 2, 3, 4})
                             .since(17);
  std::string most = absl::StrCat("length of at most ", kLongest);
  r["DFT"] = OpImport(dft)
                 .on(Engine::Matrix)
                 .constant({1, 2})
                 .of(kFloat)
                 .ranks(2, 6)
                 .since(17)
                 .note(most);
  r["STFT"] = OpImport(stft)
                  .on(Engine::Matrix)
                  .inputs(2)
                  .constant({1, 2, 3})
                  .of(kFloat)
                  .ranks(2, 3)
                  .since(17)
                  .note(most);
}

} // namespace npu
