// The loops for AVX2 and FMA. -ffp-contract=off: fused multiply-add only where
// it is written, in the float loops; the quantised ones must match the
// portable ones bit for bit.
#include <immintrin.h>

#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {

template <int kRows>
static void gemmI8Rows(const int16_t *a, int64_t stride, const int8_t *b,
                       int64_t pairs, const int32_t *init, int32_t *acc) {
  __m256i sum[kRows][2];
  for (int r = 0; r < kRows; ++r)
    for (int h = 0; h < 2; ++h)
      sum[r][h] = _mm256_loadu_si256((const __m256i *)(init + 8 * h));
  for (int64_t k = 0; k < pairs; ++k, b += 2 * kPanel) {
    __m256i b0 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)b));
    __m256i b1 =
        _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(b + 16)));
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, a + r * stride + 2 * k, sizeof(pair));
      __m256i x = _mm256_set1_epi32(pair);
      sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(x, b0));
      sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(x, b1));
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int h = 0; h < 2; ++h)
      _mm256_storeu_si256((__m256i *)(acc + r * kPanel + 8 * h), sum[r][h]);
}

static void gemmI8(int rows, const int16_t *a, int64_t stride, const int8_t *b,
                   int64_t pairs, const int32_t *init, int32_t *acc) {
  switch (rows) {
  case 6:
    return gemmI8Rows<6>(a, stride, b, pairs, init, acc);
  case 5:
    return gemmI8Rows<5>(a, stride, b, pairs, init, acc);
  case 4:
    return gemmI8Rows<4>(a, stride, b, pairs, init, acc);
  case 3:
    return gemmI8Rows<3>(a, stride, b, pairs, init, acc);
  case 2:
    return gemmI8Rows<2>(a, stride, b, pairs, init, acc);
  default:
    return gemmI8Rows<1>(a, stride, b, pairs, init, acc);
  }
}

template <int kRows>
static void gemmF32Rows(const float *const *a, const float *b, int64_t count,
                        const float *init, float *acc) {
  __m256 sum[kRows][2];
  const float *row[kRows];
  for (int r = 0; r < kRows; ++r) {
    row[r] = a[r];
    for (int h = 0; h < 2; ++h)
      sum[r][h] = _mm256_loadu_ps(init + 8 * h);
  }
  for (int64_t k = 0; k < count; ++k, b += kPanel) {
    __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
    for (int r = 0; r < kRows; ++r) {
      __m256 x = _mm256_broadcast_ss(row[r] + k);
      sum[r][0] = _mm256_fmadd_ps(x, b0, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(x, b1, sum[r][1]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int h = 0; h < 2; ++h)
      _mm256_storeu_ps(acc + r * kPanel + 8 * h, sum[r][h]);
}

static void gemmF32(int rows, const float *const *a, const float *b, int64_t k,
                    const float *init, float *acc) {
  switch (rows) {
  case 6:
    return gemmF32Rows<6>(a, b, k, init, acc);
  case 5:
    return gemmF32Rows<5>(a, b, k, init, acc);
  case 4:
    return gemmF32Rows<4>(a, b, k, init, acc);
  case 3:
    return gemmF32Rows<3>(a, b, k, init, acc);
  case 2:
    return gemmF32Rows<2>(a, b, k, init, acc);
  default:
    return gemmF32Rows<1>(a, b, k, init, acc);
  }
}

// clamp(round(x)), x and bounds relative to the zero point.
static __m256i roundClamp8(__m256 x, __m256 low, __m256 high) {
  return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(x, low), high));
}

// 16 i32 in two registers to 16 i8 in order; the values fit.
static __m128i narrow(__m256i a, __m256i b) {
  __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words),
                         _mm256_extracti128_si256(words, 1));
}

static void requantize(const int32_t *acc, int64_t count, int64_t channel,
                       const EpilogueI8 &epilogue, const int8_t *residual,
                       int8_t *out) {
  const Epilogue &p = *epilogue.params;
  bool perChannel = p.flags & kPerChannelScale;
  const float *multiplier = epilogue.multipliers + (perChannel ? channel : 0);
  __m256 low = _mm256_set1_ps(float(p.lo - p.mid_zp));
  __m256 high = _mm256_set1_ps(float(p.hi - p.mid_zp));
  __m256i zero = _mm256_set1_epi32(p.mid_zp);
  __m256 scale = _mm256_set1_ps(*multiplier);
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m256i q[2];
    for (int h = 0; h < 2; ++h) {
      __m256 x = _mm256_cvtepi32_ps(
          _mm256_loadu_si256((const __m256i *)(acc + i + 8 * h)));
      if (perChannel)
        scale = _mm256_loadu_ps(multiplier + i + 8 * h);
      q[h] = _mm256_add_epi32(roundClamp8(_mm256_mul_ps(x, scale), low, high),
                              zero);
    }
    if (!epilogue.lut && !residual) {
      _mm_storeu_si128((__m128i *)(out + i), narrow(q[0], q[1]));
      continue;
    }
    alignas(32) int8_t bytes[16];
    _mm_store_si128((__m128i *)bytes, narrow(q[0], q[1]));
    if (epilogue.lut)
      for (int j = 0; j < 16; ++j)
        bytes[j] = epilogue.lut[bytes[j] + 128];
    if (residual) {
      __m256 low2 = _mm256_set1_ps(float(p.lo2 - p.out_zp));
      __m256 high2 = _mm256_set1_ps(float(p.hi2 - p.out_zp));
      for (int h = 0; h < 2; ++h) {
        __m256i self = _mm256_sub_epi32(_mm256_cvtepi8_epi32(_mm_loadl_epi64(
                                            (const __m128i *)(bytes + 8 * h))),
                                        _mm256_set1_epi32(p.res_mid_zp));
        __m256i other =
            _mm256_sub_epi32(_mm256_cvtepi8_epi32(_mm_loadl_epi64(
                                 (const __m128i *)(residual + i + 8 * h))),
                             _mm256_set1_epi32(p.res_zp));
        __m256 x = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(self),
                                               _mm256_set1_ps(p.scale_self)),
                                 _mm256_mul_ps(_mm256_cvtepi32_ps(other),
                                               _mm256_set1_ps(p.scale_res)));
        q[h] = _mm256_add_epi32(roundClamp8(x, low2, high2),
                                _mm256_set1_epi32(p.out_zp));
      }
      _mm_store_si128((__m128i *)bytes, narrow(q[0], q[1]));
    }
    _mm_storeu_si128((__m128i *)(out + i), _mm_load_si128((__m128i *)bytes));
  }
  if (i < count)
    kPortableLoops.requantize(acc + i, count - i, channel + i, epilogue,
                              residual ? residual + i : nullptr, out + i);
}

// One channel block of 16, or its first `n` channels when reading 16 would
// leave the row.
static __m256i load16(const int8_t *in, int64_t n) {
  if (n >= 16)
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)in));
  alignas(16) int8_t bytes[16] = {};
  __builtin_memcpy(bytes, in, n);
  return _mm256_cvtepi8_epi16(_mm_load_si128((const __m128i *)bytes));
}

static void depthwiseI8(const int8_t *const *taps, int count, int64_t channels,
                        const int16_t *weights, const int32_t *init,
                        int32_t *acc) {
  int64_t padded = (channels + 15) / 16 * 16;
  for (int64_t c = 0; c < channels; c += 16) {
    int64_t n = channels - c;
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int t = 0; t < count; t += 2) {
      __m256i x = load16(taps[t] + c, n);
      __m256i y =
          t + 1 < count ? load16(taps[t + 1] + c, n) : _mm256_setzero_si256();
      const int16_t *w = weights + ((t / 2) * padded + c) * 2;
      // Weights of channels 0..7 and 8..15; bring the inputs to that order.
      __m256i even = _mm256_unpacklo_epi16(x, y); // 0-3, 8-11
      __m256i odd = _mm256_unpackhi_epi16(x, y);  // 4-7, 12-15
      __m256i first = _mm256_permute2x128_si256(even, odd, 0x20);
      __m256i second = _mm256_permute2x128_si256(even, odd, 0x31);
      low = _mm256_add_epi32(
          low,
          _mm256_madd_epi16(first, _mm256_loadu_si256((const __m256i *)w)));
      high = _mm256_add_epi32(
          high, _mm256_madd_epi16(
                    second, _mm256_loadu_si256((const __m256i *)(w + 16))));
    }
    if (n >= 16) {
      low = _mm256_add_epi32(low,
                             _mm256_loadu_si256((const __m256i *)(init + c)));
      high = _mm256_add_epi32(
          high, _mm256_loadu_si256((const __m256i *)(init + c + 8)));
      _mm256_storeu_si256((__m256i *)(acc + c), low);
      _mm256_storeu_si256((__m256i *)(acc + c + 8), high);
    } else {
      alignas(32) int32_t sums[16];
      _mm256_store_si256((__m256i *)sums, low);
      _mm256_store_si256((__m256i *)(sums + 8), high);
      for (int64_t i = 0; i < n; ++i)
        acc[c + i] = wrapAdd(init[c + i], sums[i]);
    }
  }
}

static void depthwiseF32(const float *const *taps, int count, int64_t channels,
                         const float *weights, const float *init, float *acc) {
  int64_t c = 0;
  for (; c + 8 <= channels; c += 8) {
    __m256 sum = _mm256_loadu_ps(init + c);
    for (int t = 0; t < count; ++t)
      sum = _mm256_fmadd_ps(_mm256_loadu_ps(taps[t] + c),
                            _mm256_loadu_ps(weights + t * channels + c), sum);
    _mm256_storeu_ps(acc + c, sum);
  }
  // Fused as above: a channel's bits do not depend on where a tile begins.
  for (; c < channels; ++c) {
    float sum = init[c];
    for (int t = 0; t < count; ++t)
      sum = __builtin_fmaf(taps[t][c], weights[t * channels + c], sum);
    acc[c] = sum;
  }
}

static void widen(const int8_t *in, int64_t count, int zero, int16_t *out) {
  __m256i z = _mm256_set1_epi16(int16_t(zero));
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256((__m256i *)(out + i),
                        _mm256_sub_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(
                                             (const __m128i *)(in + i))),
                                         z));
  for (; i < count; ++i)
    out[i] = int16_t(in[i] - zero);
}

const MatrixLoops kAvx2Loops = {gemmI8,      gemmF32,      requantize,
                                depthwiseI8, depthwiseF32, widen};

} // namespace npu::rt
