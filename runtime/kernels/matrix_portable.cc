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
  for (int64_t i = 0; i < count; ++i) {
    float multiplier = epilogue.multipliers[perChannel ? channel + i : 0];
    int32_t q = roundClamp(float(acc[i]) * multiplier, p.mid_zp, p.lo, p.hi);
    if (epilogue.lut)
      q = epilogue.lut[q + 128];
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

const MatrixLoops kPortableLoops = {gemmI8,      gemmF32,      requantize,
                                    depthwiseI8, depthwiseF32, widen};

Isa detectIsa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Isa::kAvx2;
#endif
  return Isa::kPortable;
}

const MatrixLoops &matrixLoops(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2)
    return kAvx2Loops;
#endif
  return kPortableLoops;
}

} // namespace npu::rt
