#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {

static void gemmI8(int rows, const int16_t *a, int64_t stride, const int8_t *b,
                   int64_t pairs, const int32_t *init, int32_t *acc) {
  for (int r = 0; r < rows; ++r) {
    int32_t *sum = acc + r * kPanel;
    for (int c = 0; c < kPanel; ++c)
      sum[c] = init[c];
    const int16_t *row = a + r * stride;
    for (int64_t k = 0; k < pairs; ++k)
      for (int c = 0; c < kPanel; ++c)
        sum[c] =
            wrapAdd(sum[c], row[2 * k] * b[(k * kPanel + c) * 2] +
                                row[2 * k + 1] * b[(k * kPanel + c) * 2 + 1]);
  }
}

static void gemmF32(int rows, const float *const *a, const float *b, int64_t k,
                    const float *init, float *acc) {
  for (int r = 0; r < rows; ++r) {
    float *sum = acc + r * kPanel;
    for (int c = 0; c < kPanel; ++c)
      sum[c] = init[c];
    for (int64_t i = 0; i < k; ++i)
      for (int c = 0; c < kPanel; ++c)
        sum[c] += a[r][i] * b[i * kPanel + c];
  }
}

static void requantize(const int32_t *acc, int64_t count, int64_t channel,
                       const EpilogueI8 &epilogue, const int8_t *residual,
                       int8_t *out) {
  const Epilogue &p = *epilogue.params;
  bool perChannel = p.flags & kPerChannelScale;
  int32_t middle = lutEntries(p.flags) / 2;
  for (int64_t i = 0; i < count; ++i) {
    float multiplier = epilogue.multipliers[perChannel ? channel + i : 0];
    int32_t q = roundClamp(float(acc[i]) * multiplier, p.mid_zp, p.lo, p.hi);
    if (epilogue.lut)
      q = epilogue.lut[q + middle];
    if (residual) {
      float self = float(q - p.res_mid_zp) * p.scale_self;
      float other = float(residual[i] - p.res_zp) * p.scale_res;
      q = roundClamp(self + other, p.out_zp, p.lo2, p.hi2);
    }
    out[i] = int8_t(q);
  }
}

static void depthwiseI8(const int8_t *const *taps, int count, int64_t channels,
                        const int16_t *weights, const int32_t *init,
                        int32_t *acc) {
  int64_t padded = (channels + 15) / 16 * 16;
  for (int64_t c = 0; c < channels; ++c)
    acc[c] = init[c];
  for (int t = 0; t < count; ++t)
    for (int64_t c = 0; c < channels; ++c)
      acc[c] = wrapAdd(acc[c], taps[t][c] *
                                   weights[((t / 2) * padded + c) * 2 + t % 2]);
}

static void gemmTileI8(int rows, const int16_t *a, int64_t stride,
                       const int8_t *b, int64_t pairs,
                       const EpilogueI8 &epilogue, const TileI8 &tile) {
  int32_t acc[kTileRows * kPanel];
  gemmI8(rows, a, stride, b, pairs, tile.init, acc);
  EpilogueI8 local = epilogue; // the tile's multipliers begin at its channel
  local.multipliers = tile.multipliers;
  bool add = epilogue.params->flags & kResidualFlag;
  for (int r = 0; r < rows; ++r)
    requantize(acc + r * kPanel, tile.width, 0, local,
               add ? tile.residual[r] : nullptr, tile.out[r]);
}

static void depthwiseRowI8(const DepthwiseRowI8 &row,
                           const EpilogueI8 &epilogue) {
  for (int64_t x = 0; x < row.pixels; ++x) {
    for (int64_t c = 0; c < row.channels; ++c)
      row.acc[c] = row.init[c];
    int64_t padded = (row.channels + 15) / 16 * 16;
    for (int t = 0; t < row.count; ++t) {
      const int8_t *in = row.taps[t] + x * row.step;
      const int16_t *w = row.weights + (t / 2) * padded * 2 + t % 2;
      for (int64_t c = 0; c < row.channels; ++c)
        row.acc[c] = wrapAdd(row.acc[c], in[c] * w[2 * c]);
    }
    requantize(row.acc, row.channels, 0, epilogue,
               row.residual ? row.residual + x * row.residualStep : nullptr,
               row.out + x * row.outStep);
  }
}

static void lookUp(const int8_t *in, int64_t count, const int8_t *table,
                   int8_t *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = table[in[i] + 128];
}

static void depthwiseF32(const float *const *taps, int count, int64_t channels,
                         const float *weights, const float *init, float *acc) {
  for (int64_t c = 0; c < channels; ++c)
    acc[c] = init[c];
  for (int t = 0; t < count; ++t)
    for (int64_t c = 0; c < channels; ++c)
      acc[c] += taps[t][c] * weights[t * channels + c];
}

static void widen(const int8_t *in, int64_t count, int zero, int16_t *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = int16_t(in[i] - zero);
}

const MatrixLoops kPortableLoops = {gemmI8,       gemmTileI8,  gemmF32,
                                    requantize,   depthwiseI8, depthwiseRowI8,
                                    depthwiseF32, widen,       lookUp};

Isa detectIsa() {
#if defined(__x86_64__)
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni"))
    return Isa::kAvx512;
  if (avx2)
    return Isa::kAvx2;
#endif
  return Isa::kPortable;
}

const MatrixLoops &matrixLoops(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512)
    return kAvx512Loops;
  if (isa == Isa::kAvx2)
    return kAvx2Loops;
#endif
  return kPortableLoops;
}

const char *isaName(Isa isa) {
  static const char *const names[] = {"portable", "AVX2", "AVX-512 VNNI"};
  return names[static_cast<int>(isa)];
}

} // namespace npu::rt
