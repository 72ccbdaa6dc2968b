// Depthwise convolution for AVX2: blocks of 16 channels, two taps at a time.
#include <immintrin.h>

#include "runtime/kernels/depthwise_avx2.h"
#include "runtime/kernels/epilogue_avx2.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {
namespace {

struct Sums {
  __m256i low, high; ///< channels 0..7 and 8..15
};

// Adds the products of two taps of 16 channels.
inline void addPair(Sums &s, __m128i x, __m128i y, const int16_t *weights) {
  __m256i first = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(x, y));
  __m256i second = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(x, y));
  __m256i w0 = _mm256_loadu_si256((const __m256i *)weights);
  __m256i w1 = _mm256_loadu_si256((const __m256i *)(weights + 16));
  s.low = _mm256_add_epi32(s.low, _mm256_madd_epi16(first, w0));
  s.high = _mm256_add_epi32(s.high, _mm256_madd_epi16(second, w1));
}

// kTaps: their number if it is known, for an unrolled loop; 0: `count`.
template <int kTaps, bool kWhole>
inline Sums block(const int8_t *const *taps, int count, int64_t offset,
                  int64_t n, const int16_t *weights, int64_t pairStride,
                  Sums s) {
  auto load = [&](int t) {
    return loadBytes(taps[t] + offset, kWhole ? 16 : n);
  };
  const int total = kTaps ? kTaps : count;
  int t = 0;
  for (; t + 1 < total; t += 2)
    addPair(s, load(t), load(t + 1), weights + t / 2 * pairStride);
  if (t < total)
    addPair(s, load(t), _mm_setzero_si128(), weights + t / 2 * pairStride);
  return s;
}

Sums loadSums(const int32_t *init, int64_t n) {
  alignas(32) int32_t values[16] = {};
  __builtin_memcpy(values, init, n * sizeof(int32_t));
  return {_mm256_load_si256((const __m256i *)values),
          _mm256_load_si256((const __m256i *)(values + 8))};
}

// All pixels of one block of channels [c, c + n), n at most 16.
template <int kTaps, bool kWhole>
void column(const DepthwiseRowI8 &row, const EpilogueI8 &epilogue, int64_t c,
            int64_t n) {
  Requantizer requantizer(epilogue);
  bool perChannel = epilogue.params->flags & kPerChannelScale;
  alignas(32) float multipliers[16] = {};
  for (int64_t i = 0; i < n; ++i)
    multipliers[i] = epilogue.multipliers[perChannel ? c + i : 0];
  __m256 m0 = _mm256_load_ps(multipliers), m1 = _mm256_load_ps(multipliers + 8);
  Sums init = loadSums(row.init + c, n);
  int64_t pairStride = (row.channels + 15) / 16 * 32;
  const int8_t *taps[kTaps ? kTaps : 1];
  for (int t = 0; t < kTaps; ++t)
    taps[t] = row.taps[t];
  for (int64_t x = 0; x < row.pixels; ++x) {
    Sums s = block<kTaps, kWhole>(kTaps ? taps : row.taps, row.count,
                                  x * row.step + c, n, row.weights + 2 * c,
                                  pairStride, init);
    __m128i q = requantizer.bytes(s.low, s.high, m0, m1);
    if (row.residual)
      q = requantizer.add(
          q, loadBytes(row.residual + x * row.residualStep + c, n));
    storeBytes(row.out + x * row.outStep + c, q, kWhole ? 16 : n);
  }
}

template <int kTaps>
void columns(const DepthwiseRowI8 &row, const EpilogueI8 &epilogue) {
  int64_t c = 0;
  for (; c + 16 <= row.channels; c += 16)
    column<kTaps, true>(row, epilogue, c, 16);
  if (c == row.channels)
    return;
  // The last block may overlap the one before it, unless the residual lies
  // where the output does.
  if (c > 0 && !row.residual)
    column<kTaps, true>(row, epilogue, row.channels - 16, 16);
  else
    column<kTaps, false>(row, epilogue, c, row.channels - c);
}

} // namespace

void depthwiseRowI8(const DepthwiseRowI8 &row, const EpilogueI8 &epilogue) {
  if (row.count == 9)
    columns<9>(row, epilogue);
  else if (row.count == 25)
    columns<25>(row, epilogue);
  else
    columns<0>(row, epilogue);
}

void depthwiseI8(const int8_t *const *taps, int count, int64_t channels,
                 const int16_t *weights, const int32_t *init, int32_t *acc) {
  int64_t pairStride = (channels + 15) / 16 * 32;
  for (int64_t c = 0; c < channels; c += 16) {
    int64_t n = std::min<int64_t>(16, channels - c);
    Sums s = block<0, false>(taps, count, c, n, weights + 2 * c, pairStride,
                             loadSums(init + c, n));
    alignas(32) int32_t sums[16];
    _mm256_store_si256((__m256i *)sums, s.low);
    _mm256_store_si256((__m256i *)(sums + 8), s.high);
    __builtin_memcpy(acc + c, sums, n * sizeof(int32_t));
  }
}

} // namespace npu::rt
