// The matrix loops for AVX-512 with VNNI: one register holds a row of a tile.
// vpdpwssd adds two products of 16 bits to a sum of 32, wrapping: the integers
// of the other loops. Float sums run over k in the same order, fused as with
// AVX2, and so have the same bits. The remaining loops are AVX2's.
#include <immintrin.h>

#include "runtime/kernels/epilogue_avx2.h"
#include "runtime/kernels/matrix.h"

namespace npu::rt {
namespace {

/// Weights of two k for all columns: 32 bytes as 16 bits.
inline __m512i loadPair(const int8_t *b) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)b));
}

inline __m512i broadcastPair(const int16_t *a) {
  int32_t pair;
  __builtin_memcpy(&pair, a, sizeof(pair));
  return _mm512_set1_epi32(pair);
}

/// Two sums a row, of even and odd pairs, hide the latency.
template <int kRows>
inline void accumulate(const int16_t *a, int64_t stride, const int8_t *b,
                       int64_t pairs, const int32_t *init,
                       __m512i (&sum)[kRows]) {
  __m512i odd[kRows];
  for (int r = 0; r < kRows; ++r) {
    sum[r] = _mm512_loadu_si512(init);
    odd[r] = _mm512_setzero_si512();
  }
  int64_t k = 0;
  for (; k + 2 <= pairs; k += 2, b += 4 * kPanel) {
    __m512i b0 = loadPair(b), b1 = loadPair(b + 2 * kPanel);
    for (int r = 0; r < kRows; ++r) {
      const int16_t *x = a + r * stride + 2 * k;
      sum[r] = _mm512_dpwssd_epi32(sum[r], broadcastPair(x), b0);
      odd[r] = _mm512_dpwssd_epi32(odd[r], broadcastPair(x + 2), b1);
    }
  }
  if (k < pairs) {
    __m512i b0 = loadPair(b);
    for (int r = 0; r < kRows; ++r)
      sum[r] = _mm512_dpwssd_epi32(sum[r],
                                   broadcastPair(a + r * stride + 2 * k), b0);
  }
  for (int r = 0; r < kRows; ++r)
    sum[r] = _mm512_add_epi32(sum[r], odd[r]);
}

/// The first rounding of the epilogue. Clamped before it is rounded, which is
/// the same: the bounds are integers.
class Scaler {
public:
  explicit Scaler(const Epilogue &p)
      : low(_mm512_set1_ps(float(p.lo - p.mid_zp))),
        high(_mm512_set1_ps(float(p.hi - p.mid_zp))),
        zero(_mm512_set1_epi32(p.mid_zp)) {}
  __m128i operator()(__m512i sum, __m512 multiplier) const {
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), multiplier);
    x = _mm512_min_ps(_mm512_max_ps(x, low), high);
    return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(x), zero));
  }

private:
  __m512 low, high;
  __m512i zero;
};

template <int kRows> struct Gemm {
  static void i8(const int16_t *a, int64_t stride, const int8_t *b,
                 int64_t pairs, const int32_t *init, int32_t *acc) {
    __m512i sum[kRows];
    accumulate<kRows>(a, stride, b, pairs, init, sum);
    for (int r = 0; r < kRows; ++r)
      _mm512_storeu_si512(acc + r * kPanel, sum[r]);
  }

  static void tile(const int16_t *a, int64_t stride, const int8_t *b,
                   int64_t pairs, const EpilogueI8 &epilogue,
                   const TileI8 &tile) {
    __m512i sum[kRows];
    accumulate<kRows>(a, stride, b, pairs, tile.init, sum);
    Scaler scale(*epilogue.params);
    __m512 multipliers = _mm512_loadu_ps(tile.multipliers);
    __m128i q[kRows];
    Requantizer requantizer(epilogue);
    bool wide = epilogue.wide();
    for (int r = 0; r < kRows; ++r)
      q[r] = wide ? requantizer.scaleWide(_mm512_castsi512_si256(sum[r]),
                                          _mm512_extracti64x4_epi64(sum[r], 1),
                                          _mm256_loadu_ps(tile.multipliers),
                                          _mm256_loadu_ps(tile.multipliers + 8))
                  : scale(sum[r], multipliers);
    if (epilogue.lut && !wide)
      lookUpVectors(q, kRows, epilogue.lut);
    if (epilogue.params->flags & kResidualFlag)
      for (int r = 0; r < kRows; ++r)
        q[r] = requantizer.add(q[r], loadBytes(tile.residual[r], tile.width));
    for (int r = 0; r < kRows; ++r)
      storeBytes(tile.out[r], q[r], tile.width);
  }

  static void f32(const float *const *a, const float *b, int64_t count,
                  const float *init, float *acc) {
    __m512 sum[kRows];
    for (int r = 0; r < kRows; ++r)
      sum[r] = _mm512_loadu_ps(init);
    for (int64_t k = 0; k < count; ++k, b += kPanel) {
      __m512 b0 = _mm512_loadu_ps(b);
      for (int r = 0; r < kRows; ++r)
        sum[r] = _mm512_fmadd_ps(_mm512_set1_ps(a[r][k]), b0, sum[r]);
    }
    for (int r = 0; r < kRows; ++r)
      _mm512_storeu_ps(acc + r * kPanel, sum[r]);
  }
};

/// Calls `call` with the number of rows as a constant.
template <typename Call> inline void dispatch(int rows, Call call) {
  switch (rows) {
  case 6:
    return call(Gemm<6>());
  case 5:
    return call(Gemm<5>());
  case 4:
    return call(Gemm<4>());
  case 3:
    return call(Gemm<3>());
  case 2:
    return call(Gemm<2>());
  default:
    return call(Gemm<1>());
  }
}

void gemmI8(int rows, const int16_t *a, int64_t stride, const int8_t *b,
            int64_t pairs, const int32_t *init, int32_t *acc) {
  dispatch(rows, [&](auto gemm) { gemm.i8(a, stride, b, pairs, init, acc); });
}

void gemmTileI8(int rows, const int16_t *a, int64_t stride, const int8_t *b,
                int64_t pairs, const EpilogueI8 &epilogue, const TileI8 &tile) {
  dispatch(rows,
           [&](auto gemm) { gemm.tile(a, stride, b, pairs, epilogue, tile); });
}

void gemmF32(int rows, const float *const *a, const float *b, int64_t k,
             const float *init, float *acc) {
  dispatch(rows, [&](auto gemm) { gemm.f32(a, b, k, init, acc); });
}

MatrixLoops loops() {
  MatrixLoops l = kAvx2Loops;
  l.gemmI8 = gemmI8;
  l.gemmTileI8 = gemmTileI8;
  l.gemmF32 = gemmF32;
  return l;
}

} // namespace

const MatrixLoops kAvx512Loops = loops();

} // namespace npu::rt
