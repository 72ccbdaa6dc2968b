// 2-D convolution as a matrix product: rows are output pixels, columns output
// channels, the inner dimension is KH * KW * IC / groups.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/families.h"
#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Shape {
  int64_t pixels, oh, ow, oc, h, w, kh, kw;
  int64_t groups, icg, ocg; ///< channels in and out per group
  int64_t k, pairs, panels; ///< inner size, i8 pairs, 16-wide panels per group
  bool flat = false; ///< outputs and residuals of all pixels evenly spaced

  Shape(const View &out, const View &in, const View &weights,
        const ConvParams &p) {
    oh = out.dim(1), ow = out.dim(2), oc = out.dim(3);
    pixels = out.dim(0) * oh * ow;
    h = in.dim(1), w = in.dim(2);
    kh = weights.dim(1), kw = weights.dim(2);
    groups = p.groups;
    icg = weights.dim(3), ocg = oc / groups;
    k = kh * kw * icg;
    pairs = ceilDiv(k, 2);
    panels = ceilDiv(ocg, kPanel);
  }
  bool evenly(const View &v) const {
    return !v.present() ||
           ((oh * ow == 1 || v.stride(1) == ow * v.stride(2)) &&
            (pixels == oh * ow || v.stride(0) == oh * ow * v.stride(2)));
  }
  /// A pointwise convolution's input is its matrix.
  bool asItIs(const View &in, const ConvParams &p) const {
    return groups == 1 && p.stride[0] == 1 && p.stride[1] == 1 &&
           in.stride(2) == k && evenly(in);
  }
  bool pointwise(const ConvParams &p) const {
    return kh == 1 && kw == 1 && p.pad[0] == 0 && p.pad[1] == 0 &&
           p.pad[2] == 0 && p.pad[3] == 0;
  }
};

// Where an output pixel is. Divides once, for the first of a block.
struct Pixel {
  int64_t x, y, n;
  Pixel(const Shape &s, int64_t pixel)
      : x(pixel % s.ow), y(pixel / s.ow % s.oh), n(pixel / s.ow / s.oh) {}
  void next(const Shape &s) {
    if (++x < s.ow)
      return;
    x = 0;
    if (++y < s.oh)
      return;
    y = 0;
    ++n;
  }
};

// Walks the kernel's rows and taps of one output pixel that lie inside the
// input: run(offset in the gathered row, input element, values).
template <typename T, typename F>
void forEachRun(const Shape &s, const View &in, const ConvParams &p,
                const Pixel &pixel, int64_t group, const F &run) {
  int64_t x = pixel.x, y = pixel.y;
  const T *image = in.as<T>() + pixel.n * in.stride(0) + group * s.icg;
  int64_t left = x * p.stride[1] - p.pad[1];
  // Taps side by side in memory are one run.
  bool joined = p.dilation[1] == 1 && in.stride(2) == s.icg;
  for (int64_t ky = 0; ky < s.kh; ++ky) {
    int64_t iy = y * p.stride[0] - p.pad[0] + ky * p.dilation[0];
    if (iy < 0 || iy >= s.h)
      continue;
    const T *row = image + iy * in.stride(1);
    if (joined) {
      int64_t from = std::max<int64_t>(0, -left);
      int64_t to = std::min(s.kw, s.w - left);
      if (to > from)
        run((ky * s.kw + from) * s.icg, row + (left + from) * in.stride(2),
            (to - from) * s.icg);
      continue;
    }
    for (int64_t kx = 0; kx < s.kw; ++kx) {
      int64_t ix = left + kx * p.dilation[1];
      if (ix >= 0 && ix < s.w)
        run((ky * s.kw + kx) * s.icg, row + ix * in.stride(2), s.icg);
    }
  }
}

template <typename T>
T *outputRow(const View &out, const Shape &s, int64_t pixel) {
  if (s.flat) // spares the divisions
    return out.as<T>() + pixel * out.stride(2);
  int64_t x = pixel % s.ow, y = pixel / s.ow % s.oh, n = pixel / s.ow / s.oh;
  return out.as<T>() + n * out.stride(0) + y * out.stride(1) +
         x * out.stride(2);
}

// How the work is cut: blocks of pixels whose gathered rows fit a cache, times
// chunks of panels when there are too few blocks for the threads.
struct Pieces {
  int64_t block, blocks, chunk, chunks;

  Pieces(const Shape &s, int64_t rowBytes, int threads) {
    constexpr int64_t kCacheBytes = 96 << 10;
    int64_t most = std::clamp<int64_t>(
        kCacheBytes / std::max<int64_t>(1, rowBytes), kTileRows, 240);
    blocks = ceilDiv(s.pixels, most);
    if (threads > 1 && blocks > 1)
      blocks = ceilDiv(blocks, threads) * threads;
    block = ceilDiv(ceilDiv(s.pixels, blocks), kTileRows) * kTileRows;
    blocks = ceilDiv(s.pixels, block);
    chunks = blocks >= threads ? 1 : std::min<int64_t>(threads, s.panels);
    chunk = ceilDiv(s.panels, chunks);
    chunks = ceilDiv(s.panels, chunk);
  }
};

class ConvI8 {
public:
  ConvI8(const Command &command, Context &context)
      : p(command.params.conv), out(viewOf(command, 0, *context.memory)),
        in(viewOf(command, 1, *context.memory)),
        residual(viewOf(command, 3, *context.memory)),
        s(out, in, viewOf(command, 2, *context.memory), p),
        loops(matrixLoops(context.isa)),
        packed(packedWeights(command, context, packConv2d)),
        bias(auxOf<int32_t>(command, 0, *context.memory)), context(context) {
    s.flat = s.evenly(out) && s.evenly(residual);
    epilogue.params = &p.epilogue;
    epilogue.multipliers = auxOf<float>(command, 1, *context.memory);
    epilogue.lut = p.epilogue.flags & kLutFlag
                       ? auxOf<int8_t>(command, 2, *context.memory)
                       : nullptr;
  }

  void run() {
    Pieces pieces(s, s.pairs * 4, context.pool->threads());
    int64_t perGroup = pieces.blocks * pieces.chunks;
    context.pool->parallelFor(
        s.groups * perGroup, [&](int64_t piece, int thread) {
          int64_t group = piece / perGroup, rest = piece % perGroup;
          int64_t first = rest / pieces.chunks * pieces.block;
          int64_t panel = rest % pieces.chunks * pieces.chunk;
          runBlock(group, first, std::min(s.pixels, first + pieces.block),
                   panel, std::min(s.panels, panel + pieces.chunk), thread);
        });
  }

private:
  // The rows of the block as i16, zero point taken off, odd ends zero.
  void gather(int64_t group, int64_t first, int64_t last, int16_t *rows) {
    int64_t stride = 2 * s.pairs;
    bool whole = s.pointwise(p) && s.k % 2 == 0;
    if (whole && s.asItIs(in, p)) // all rows are one
      return loops.widen(in.as<int8_t>() + first * s.k, (last - first) * s.k,
                         p.in_zp, rows);
    Pixel pixel(s, first);
    for (int64_t i = first; i < last; ++i, rows += stride, pixel.next(s)) {
      if (!whole)
        std::memset(rows, 0, stride * sizeof(int16_t));
      forEachRun<int8_t>(s, in, p, pixel, group,
                         [&](int64_t at, const int8_t *from, int64_t count) {
                           loops.widen(from, count, p.in_zp, rows + at);
                         });
    }
  }

  void runBlock(int64_t group, int64_t first, int64_t last, int64_t panel,
                int64_t panelEnd, int thread) {
    int64_t stride = 2 * s.pairs, count = last - first;
    auto *rows = reinterpret_cast<int16_t *>(
        context.scratch[thread].get(count * stride * sizeof(int16_t)));
    gather(group, first, last, rows);
    alignas(64) int32_t acc[kTileRows * kPanel], init[kPanel];
    alignas(64) float multipliers[kPanel] = {};
    bool perChannel = p.epilogue.flags & kPerChannelScale;
    bool direct = out.dtype() == DType::kI8 && !p.w_zp;
    for (; panel < panelEnd; ++panel) {
      int64_t channel = group * s.ocg + panel * kPanel;
      int64_t width = std::min<int64_t>(kPanel, s.ocg - panel * kPanel);
      for (int64_t c = 0; c < kPanel; ++c)
        init[c] = bias && c < width ? bias[channel + c] : 0;
      for (int64_t c = 0; direct && c < width; ++c)
        multipliers[c] = epilogue.multipliers[perChannel ? channel + c : 0];
      const int8_t *weights =
          reinterpret_cast<const int8_t *>(packed.bytes.data()) +
          (group * s.panels + panel) * stride * kPanel;
      for (int64_t i = 0; i < count; i += kTileRows) {
        int tile = int(std::min<int64_t>(kTileRows, count - i));
        if (direct) {
          runTile(first + i, tile, rows + i * stride, weights,
                  {init, multipliers, int(width)}, channel);
          continue;
        }
        loops.gemmI8(tile, rows + i * stride, stride, weights, s.pairs, init,
                     acc);
        if (p.w_zp)
          correctWeightZero(rows + i * stride, stride, tile, acc);
        for (int r = 0; r < tile; ++r)
          store(first + i + r, channel, width, acc + r * kPanel);
      }
    }
  }

  void runTile(int64_t pixel, int rows, const int16_t *values,
               const int8_t *weights, TileI8 tile, int64_t channel) {
    bool add = p.epilogue.flags & kResidualFlag;
    for (int r = 0; r < rows; ++r) {
      tile.out[r] = outputRow<int8_t>(out, s, pixel + r) + channel;
      if (add)
        tile.residual[r] = outputRow<int8_t>(residual, s, pixel + r) + channel;
    }
    loops.gemmTileI8(rows, values, 2 * s.pairs, weights, s.pairs, epilogue,
                     tile);
  }

  // sum (a - za) * (w - zw) = sum (a - za) * w - zw * sum (a - za)
  void correctWeightZero(const int16_t *rows, int64_t stride, int tile,
                         int32_t *acc) {
    for (int r = 0; r < tile; ++r) {
      int32_t sum = 0;
      for (int64_t k = 0; k < s.k; ++k)
        sum = wrapAdd(sum, rows[r * stride + k]);
      for (int c = 0; c < kPanel; ++c)
        acc[r * kPanel + c] =
            wrapSub(acc[r * kPanel + c], wrapMul(p.w_zp, sum));
    }
  }

  void store(int64_t pixel, int64_t channel, int64_t width,
             const int32_t *acc) {
    if (out.dtype() == DType::kI32) {
      std::memcpy(outputRow<int32_t>(out, s, pixel) + channel, acc,
                  width * sizeof(int32_t));
      return;
    }
    const int8_t *other = p.epilogue.flags & kResidualFlag
                              ? outputRow<int8_t>(residual, s, pixel) + channel
                              : nullptr;
    loops.requantize(acc, width, channel, epilogue, other,
                     outputRow<int8_t>(out, s, pixel) + channel);
  }

  const ConvParams &p;
  View out, in, residual;
  Shape s;
  const MatrixLoops &loops;
  const PackedWeights &packed;
  const int32_t *bias;
  EpilogueI8 epilogue;
  Context &context;
};

class ConvF32 {
public:
  ConvF32(const Command &command, Context &context)
      : p(command.params.conv), out(viewOf(command, 0, *context.memory)),
        in(viewOf(command, 1, *context.memory)),
        residual(viewOf(command, 3, *context.memory)),
        s(out, in, viewOf(command, 2, *context.memory), p),
        loops(matrixLoops(context.isa)),
        packed(packedWeights(command, context, packConv2d)),
        bias(auxOf<float>(command, 0, *context.memory)), context(context) {
    s.flat = s.evenly(out) && s.evenly(residual);
  }

  void run() {
    Pieces pieces(s, s.k * 4, context.pool->threads());
    int64_t perGroup = pieces.blocks * pieces.chunks;
    context.pool->parallelFor(
        s.groups * perGroup, [&](int64_t piece, int thread) {
          int64_t group = piece / perGroup, rest = piece % perGroup;
          int64_t first = rest / pieces.chunks * pieces.block;
          int64_t panel = rest % pieces.chunks * pieces.chunk;
          runBlock(group, first, std::min(s.pixels, first + pieces.block),
                   panel, std::min(s.panels, panel + pieces.chunk), thread);
        });
  }

private:
  // Pointers to the block's rows: into the input where a row lies there as it
  // is, otherwise into scratch.
  const float **gather(int64_t group, int64_t first, int64_t last, int thread) {
    int64_t count = last - first;
    bool direct = s.pointwise(p);
    uint8_t *memory = context.scratch[thread].get(
        count * (sizeof(float *) + (direct ? 0 : s.k * sizeof(float))));
    auto *pointers = reinterpret_cast<const float **>(memory);
    auto *values = reinterpret_cast<float *>(memory + count * sizeof(float *));
    Pixel pixel(s, first);
    for (int64_t i = 0; i < count; ++i, pixel.next(s)) {
      float *row = values + i * s.k;
      pointers[i] = row;
      if (!direct)
        std::memset(row, 0, s.k * sizeof(float));
      forEachRun<float>(s, in, p, pixel, group,
                        [&](int64_t at, const float *from, int64_t n) {
                          if (direct)
                            pointers[i] = from;
                          else
                            std::memcpy(row + at, from, n * sizeof(float));
                        });
    }
    return pointers;
  }

  void runBlock(int64_t group, int64_t first, int64_t last, int64_t panel,
                int64_t panelEnd, int thread) {
    const float **rows = gather(group, first, last, thread);
    int64_t count = last - first;
    alignas(64) float acc[kTileRows * kPanel], init[kPanel];
    for (; panel < panelEnd; ++panel) {
      int64_t channel = group * s.ocg + panel * kPanel;
      int64_t width = std::min<int64_t>(kPanel, s.ocg - panel * kPanel);
      for (int64_t c = 0; c < kPanel; ++c)
        init[c] = bias && c < width ? bias[channel + c] : 0;
      const float *weights =
          reinterpret_cast<const float *>(packed.bytes.data()) +
          (group * s.panels + panel) * s.k * kPanel;
      for (int64_t i = 0; i < count; i += kTileRows) {
        int tile = int(std::min<int64_t>(kTileRows, count - i));
        loops.gemmF32(tile, rows + i, weights, s.k, init, acc);
        for (int r = 0; r < tile; ++r)
          store(first + i + r, channel, width, acc + r * kPanel);
      }
    }
  }

  void store(int64_t pixel, int64_t channel, int64_t width, float *acc) {
    const float *other = p.epilogue.flags & kResidualFlag
                             ? outputRow<float>(residual, s, pixel) + channel
                             : nullptr;
    epilogueF32(acc, width, p.epilogue, other);
    std::memcpy(outputRow<float>(out, s, pixel) + channel, acc,
                width * sizeof(float));
  }

  const ConvParams &p;
  View out, in, residual;
  Shape s;
  const MatrixLoops &loops;
  const PackedWeights &packed;
  const float *bias;
  Context &context;
};

// [OC][k] rows to panels [group][panel][k][16], columns past the end zero.
template <typename T>
void packPanels(const Shape &s, const T *weights, int64_t inner, T *to) {
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t panel = 0; panel < s.panels; ++panel)
      for (int64_t k = 0; k < s.k; ++k)
        for (int64_t c = 0; c < kPanel; ++c) {
          int64_t channel = panel * kPanel + c;
          if (channel >= s.ocg)
            continue;
          int64_t at =
              (k / inner * kPanel + c) * inner + k % inner; // pairs for i8
          to[(g * s.panels + panel) * (s.k + s.k % inner) * kPanel + at] =
              weights[(g * s.ocg + channel) * s.k + k];
        }
}

} // namespace

void packConv2d(const Command &command, const MemoryMap &memory,
                PackedWeights *out) {
  View weights = viewOf(command, 2, memory);
  Shape s(shapeOf(command, 0), shapeOf(command, 1), weights,
          command.params.conv);
  bool f32 = weights.dtype() == DType::kF32;
  int64_t perPanel = f32 ? s.k * sizeof(float) : 2 * s.pairs;
  out->bytes.assign(s.groups * s.panels * perPanel * kPanel, 0);
  if (f32)
    packPanels<float>(s, weights.as<float>(), 1,
                      reinterpret_cast<float *>(out->bytes.data()));
  else
    packPanels<int8_t>(s, weights.as<int8_t>(), 2,
                       reinterpret_cast<int8_t *>(out->bytes.data()));
}

void runConv2d(const Command &command, Context &context) {
  if (command.operands[1].dtype == DType::kF32)
    ConvF32(command, context).run();
  else
    ConvI8(command, context).run();
}

} // namespace npu::rt
