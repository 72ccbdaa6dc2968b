// The loops for AVX2 and FMA. -ffp-contract=off: fused multiply-add only where
// it is written, in the float loops; the quantised ones must match the
// portable ones bit for bit.
#include <immintrin.h>

#include "runtime/kernels/depthwise_avx2.h"
#include "runtime/kernels/epilogue_avx2.h"
#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {

template <int kRows>
static inline void accumulate(const int16_t *a, int64_t stride, const int8_t *b,
                              int64_t pairs, const int32_t *init,
                              __m256i (&sum)[kRows][2]) {
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
}

template <int kRows>
static void gemmI8Rows(const int16_t *a, int64_t stride, const int8_t *b,
                       int64_t pairs, const int32_t *init, int32_t *acc) {
  __m256i sum[kRows][2];
  accumulate<kRows>(a, stride, b, pairs, init, sum);
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
static void gemmTileRows(const int16_t *a, int64_t stride, const int8_t *b,
                         int64_t pairs, const EpilogueI8 &epilogue,
                         const TileI8 &tile) {
  __m256i sum[kRows][2];
  accumulate<kRows>(a, stride, b, pairs, tile.init, sum);
  Requantizer requantizer(epilogue);
  __m256 m0 = _mm256_loadu_ps(tile.multipliers);
  __m256 m1 = _mm256_loadu_ps(tile.multipliers + 8);
  __m128i q[kRows];
  bool wide = epilogue.wide();
  for (int r = 0; r < kRows; ++r)
    q[r] = wide ? requantizer.scaleWide(sum[r][0], sum[r][1], m0, m1)
                : requantizer.scale(sum[r][0], sum[r][1], m0, m1);
  if (epilogue.lut && !wide)
    lookUpVectors(q, kRows, epilogue.lut);
  if (epilogue.params->flags & kResidualFlag)
    for (int r = 0; r < kRows; ++r)
      q[r] = requantizer.add(q[r], loadBytes(tile.residual[r], tile.width));
  for (int r = 0; r < kRows; ++r)
    storeBytes(tile.out[r], q[r], tile.width);
}

static void gemmTileI8(int rows, const int16_t *a, int64_t stride,
                       const int8_t *b, int64_t pairs,
                       const EpilogueI8 &epilogue, const TileI8 &tile) {
  switch (rows) {
  case 6:
    return gemmTileRows<6>(a, stride, b, pairs, epilogue, tile);
  case 5:
    return gemmTileRows<5>(a, stride, b, pairs, epilogue, tile);
  case 4:
    return gemmTileRows<4>(a, stride, b, pairs, epilogue, tile);
  case 3:
    return gemmTileRows<3>(a, stride, b, pairs, epilogue, tile);
  case 2:
    return gemmTileRows<2>(a, stride, b, pairs, epilogue, tile);
  default:
    return gemmTileRows<1>(a, stride, b, pairs, epilogue, tile);
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
  auto sixteen = [&](int64_t i) {
    __m256i x =
        _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(in + i)));
    _mm256_storeu_si256((__m256i *)(out + i), _mm256_sub_epi16(x, z));
  };
  auto eight = [&](int64_t i) {
    __m128i x = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(in + i)));
    _mm_storeu_si128((__m128i *)(out + i),
                     _mm_sub_epi16(x, _mm256_castsi256_si128(z)));
  };
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    sixteen(i);
  if (i == count)
    return;
  // The rest: vectors that overlap what is done.
  if (count >= 16)
    return sixteen(count - 16);
  if (count >= 8) {
    eight(0);
    return eight(count - 8);
  }
  for (; i < count; ++i)
    out[i] = int16_t(in[i] - zero);
}

static void requantize(const int32_t *acc, int64_t count, int64_t channel,
                       const EpilogueI8 &epilogue, const int8_t *residual,
                       int8_t *out) {
  Requantizer requantizer(epilogue);
  bool perChannel = epilogue.params->flags & kPerChannelScale;
  const float *multiplier = epilogue.multipliers + (perChannel ? channel : 0);
  __m256 m0 = _mm256_set1_ps(*multiplier), m1 = m0;
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    if (perChannel) {
      m0 = _mm256_loadu_ps(multiplier + i);
      m1 = _mm256_loadu_ps(multiplier + i + 8);
    }
    __m256i a = _mm256_loadu_si256((const __m256i *)(acc + i));
    __m256i b = _mm256_loadu_si256((const __m256i *)(acc + i + 8));
    __m128i q = requantizer.bytes(a, b, m0, m1);
    if (residual)
      q = requantizer.add(q, loadBytes(residual + i, 16));
    _mm_storeu_si128((__m128i *)(out + i), q);
  }
  if (i < count)
    kPortableLoops.requantize(acc + i, count - i, channel + i, epilogue,
                              residual ? residual + i : nullptr, out + i);
}

static void lookUp(const int8_t *in, int64_t count, const int8_t *table,
                   int8_t *out) {
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    __m128i v[4];
    for (int j = 0; j < 4; ++j)
      v[j] = _mm_loadu_si128((const __m128i *)(in + i + 16 * j));
    lookUpVectors(v, 4, table);
    for (int j = 0; j < 4; ++j)
      _mm_storeu_si128((__m128i *)(out + i + 16 * j), v[j]);
  }
  for (; i < count; ++i)
    out[i] = table[in[i] + 128];
}

const MatrixLoops kAvx2Loops = {gemmI8,       gemmTileI8,  gemmF32,
                                requantize,   depthwiseI8, depthwiseRowI8,
                                depthwiseF32, widen,       lookUp};

} // namespace npu::rt
