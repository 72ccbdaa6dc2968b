// Depthwise convolution: per output pixel a list of input rows of C values,
// one per tap; taps outside the input point at a row of zero points.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/families.h"
#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {

namespace {

struct Shape {
  int64_t n, oh, ow, c, h, w, kh, kw;
  Shape(const View &out, const View &in, const View &weights)
      : n(out.dim(0)), oh(out.dim(1)), ow(out.dim(2)), c(out.dim(3)),
        h(in.dim(1)), w(in.dim(2)), kh(weights.dim(0)), kw(weights.dim(1)) {}
  int taps() const { return int(kh * kw); }
  int64_t padded() const { return (c + 15) / 16 * 16; }
};

template <typename T>
void fillTaps(const Shape &s, const View &in, const ConvParams &p, int64_t n,
              int64_t y, int64_t x, const T *outside, const T **taps) {
  const T *image = in.as<T>() + n * in.stride(0);
  for (int64_t ky = 0; ky < s.kh; ++ky) {
    int64_t iy = y * p.stride[0] - p.pad[0] + ky * p.dilation[0];
    bool rowInside = iy >= 0 && iy < s.h;
    for (int64_t kx = 0; kx < s.kw; ++kx) {
      int64_t ix = x * p.stride[1] - p.pad[1] + kx * p.dilation[1];
      *taps++ = rowInside && ix >= 0 && ix < s.w
                    ? image + iy * in.stride(1) + ix * in.stride(2)
                    : outside;
    }
  }
}

// Output columns [from, to) whose taps are all inside the input's width.
void insideColumns(const Shape &s, const ConvParams &p, int64_t *from,
                   int64_t *to) {
  int64_t extent = (s.kw - 1) * p.dilation[1] + 1;
  int64_t last = s.w - extent + p.pad[1]; // of x * stride
  *from = (p.pad[1] + p.stride[1] - 1) / p.stride[1];
  *to = last < 0 ? 0 : std::min(s.ow, last / p.stride[1] + 1);
}

template <typename T>
T *pixelOf(const View &view, int64_t n, int64_t y, int64_t x) {
  return view.as<T>() + n * view.stride(0) + y * view.stride(1) +
         x * view.stride(2);
}

// Rows of output per piece: enough pieces for the threads, none too small.
int64_t rowsPerPiece(const Shape &s, int threads) {
  int64_t rows = s.n * s.oh;
  return std::max<int64_t>(1, rows / (threads == 1 ? 1 : threads * 4));
}

// Memory of one thread: tap pointers, then three rows of channels.
template <typename T, typename Acc> struct Buffers {
  const T **taps;
  T *outside;
  Acc *init, *acc;
  int64_t outsideSize;
  /// `step`: from pixel to pixel in the input; the row outside is as long as
  /// a row of pixels.
  Buffers(Scratch &scratch, const Shape &s, int64_t step = 0) {
    int64_t pointers = (s.taps() * sizeof(T *) + 63) / 64 * 64;
    int64_t row = s.padded() * 4;
    outsideSize = s.c + (s.ow - 1) * step;
    uint8_t *memory = scratch.get(
        pointers + 2 * row + std::max<int64_t>(row, outsideSize * sizeof(T)));
    taps = reinterpret_cast<const T **>(memory);
    init = reinterpret_cast<Acc *>(memory + pointers);
    acc = reinterpret_cast<Acc *>(memory + pointers + row);
    outside = reinterpret_cast<T *>(memory + pointers + 2 * row);
  }
};

void runI8(const Command &command, Context &context) {
  const MemoryMap &memory = *context.memory;
  const ConvParams &p = command.params.conv;
  View out = viewOf(command, 0, memory), in = viewOf(command, 1, memory);
  View residual = viewOf(command, 3, memory);
  Shape s(out, in, viewOf(command, 2, memory));
  const PackedWeights &packed = packedWeights(command, context, packDepthwise);
  const auto *weights = reinterpret_cast<const int16_t *>(packed.bytes.data());
  const auto *bias = auxOf<int32_t>(command, 0, memory);
  const MatrixLoops &loops = matrixLoops(context.isa);
  EpilogueI8 epilogue{&p.epilogue, auxOf<float>(command, 1, memory),
                      p.epilogue.flags & kLutFlag
                          ? auxOf<int8_t>(command, 2, memory)
                          : nullptr};
  int64_t rows = s.n * s.oh, step = rowsPerPiece(s, context.pool->threads());
  context.pool->parallelFor((rows + step - 1) / step, [&](int64_t piece,
                                                          int thread) {
    Buffers<int8_t, int32_t> b(context.scratch[thread], s,
                               p.stride[1] * in.stride(2));
    std::memset(b.outside, p.in_zp, b.outsideSize);
    // sum (a - za) * w = sum a * w - za * sum w
    for (int64_t c = 0; c < s.c; ++c)
      b.init[c] = wrapSub(bias ? bias[c] : 0, wrapMul(p.in_zp, packed.sums[c]));
    for (int64_t row = piece * step; row < std::min(rows, (piece + 1) * step);
         ++row) {
      int64_t n = row / s.oh, y = row % s.oh;
      int64_t from, to;
      insideColumns(s, p, &from, &to);
      for (int64_t x = 0; x < s.ow;) {
        fillTaps(s, in, p, n, y, x, b.outside, b.taps);
        if (out.dtype() == DType::kI32) {
          loops.depthwiseI8(b.taps, s.taps(), s.c, weights, b.init,
                            pixelOf<int32_t>(out, n, y, x));
          ++x;
          continue;
        }
        bool add = p.epilogue.flags & kResidualFlag;
        DepthwiseRowI8 part;
        part.taps = b.taps, part.count = s.taps();
        part.pixels = x >= from && x < to ? to - x : 1;
        part.step = p.stride[1] * in.stride(2), part.channels = s.c;
        part.weights = weights, part.init = b.init, part.acc = b.acc;
        part.out = pixelOf<int8_t>(out, n, y, x), part.outStep = out.stride(2);
        part.residual = add ? pixelOf<int8_t>(residual, n, y, x) : nullptr;
        part.residualStep = add ? residual.stride(2) : 0;
        loops.depthwiseRowI8(part, epilogue);
        x += part.pixels;
      }
    }
  });
}

void runF32(const Command &command, Context &context) {
  const MemoryMap &memory = *context.memory;
  const ConvParams &p = command.params.conv;
  View out = viewOf(command, 0, memory), in = viewOf(command, 1, memory);
  View residual = viewOf(command, 3, memory);
  View weights = viewOf(command, 2, memory);
  Shape s(out, in, weights);
  const auto *bias = auxOf<float>(command, 0, memory);
  const MatrixLoops &loops = matrixLoops(context.isa);
  int64_t rows = s.n * s.oh, step = rowsPerPiece(s, context.pool->threads());
  context.pool->parallelFor(
      (rows + step - 1) / step, [&](int64_t piece, int thread) {
        Buffers<float, float> b(context.scratch[thread], s);
        for (int64_t c = 0; c < s.c; ++c) {
          b.outside[c] = 0;
          b.init[c] = bias ? bias[c] : 0;
        }
        for (int64_t row = piece * step;
             row < std::min(rows, (piece + 1) * step); ++row) {
          int64_t n = row / s.oh, y = row % s.oh;
          for (int64_t x = 0; x < s.ow; ++x) {
            fillTaps(s, in, p, n, y, x, b.outside, b.taps);
            float *to = pixelOf<float>(out, n, y, x);
            loops.depthwiseF32(b.taps, s.taps(), s.c, weights.as<float>(),
                               b.init, to);
            epilogueF32(to, s.c, p.epilogue,
                        p.epilogue.flags & kResidualFlag
                            ? pixelOf<float>(residual, n, y, x)
                            : nullptr);
          }
        }
      });
}

} // namespace

// [KH*KW][C] to [pairs of taps][C][2] i16, zero point taken off.
void packDepthwise(const Command &command, const MemoryMap &memory,
                   PackedWeights *out) {
  View weights = viewOf(command, 2, memory);
  if (weights.dtype() != DType::kI8)
    return;
  Shape s(shapeOf(command, 0), shapeOf(command, 1), weights);
  int zero = command.params.conv.w_zp;
  int64_t pairs = (s.taps() + 1) / 2;
  out->bytes.assign(pairs * s.padded() * 2 * sizeof(int16_t), 0);
  out->sums.assign(s.c, 0);
  auto *to = reinterpret_cast<int16_t *>(out->bytes.data());
  for (int64_t t = 0; t < s.taps(); ++t)
    for (int64_t c = 0; c < s.c; ++c) {
      int w = weights.as<int8_t>()[t * s.c + c] - zero;
      to[((t / 2) * s.padded() + c) * 2 + t % 2] = int16_t(w);
      out->sums[c] += w;
    }
}

void runDepthwise(const Command &command, Context &context) {
  if (command.operands[1].dtype == DType::kF32)
    runF32(command, context);
  else
    runI8(command, context);
}

} // namespace npu::rt
