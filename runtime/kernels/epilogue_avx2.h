//===- epilogue_avx2.h - Sixteen sums to sixteen bytes ----------*- C++ -*-===//
//
// Parts of the AVX2 loops. Everything has internal linkage: no code for AVX2
// may be what the linker picks for the others.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_KERNELS_EPILOGUE_AVX2_H
#define RUNTIME_KERNELS_EPILOGUE_AVX2_H

#include <immintrin.h>

#include "runtime/kernels/matrix.h"

namespace npu::rt {
namespace {

// 16 i32 in two registers to 16 i8 in order; the values fit.
inline __m128i narrow(__m256i a, __m256i b) {
  __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words),
                         _mm256_extracti128_si256(words, 1));
}

/// The first `count` (at most 16) bytes and zeros; reads no others.
inline __m128i loadBytes(const int8_t *in, int64_t count) {
  if (count >= 16)
    return _mm_loadu_si128((const __m128i *)in);
  if (count == 8)
    return _mm_loadl_epi64((const __m128i *)in);
  alignas(16) int8_t bytes[16] = {};
  __builtin_memcpy(bytes, in, count);
  return _mm_load_si128((const __m128i *)bytes);
}

inline void storeBytes(int8_t *out, __m128i value, int64_t count) {
  if (count >= 16)
    return _mm_storeu_si128((__m128i *)out, value);
  if (count & 8) {
    _mm_storel_epi64((__m128i *)out, value);
    value = _mm_srli_si128(value, 8);
    out += 8;
  }
  if (count & 4) {
    int32_t word = _mm_cvtsi128_si32(value);
    __builtin_memcpy(out, &word, 4);
    value = _mm_srli_si128(value, 4);
    out += 4;
  }
  int32_t rest = _mm_cvtsi128_si32(value);
  for (int64_t i = 0; i < (count & 3); ++i)
    out[i] = int8_t(rest >> (8 * i));
}

/// Every byte of `v` replaced by table[byte + 128]: sixteen shuffles, each of
/// which gives zero for the bytes of other rows of the table.
inline void lookUpVectors(__m128i *v, int count, const int8_t *table) {
  const __m256i past = _mm256_set1_epi8(0x70), row = _mm256_set1_epi8(16);
  for (int i = 0; i < count; i += 2) {
    __m256i x = _mm256_castsi128_si256(v[i]);
    if (i + 1 < count)
      x = _mm256_inserti128_si256(x, v[i + 1], 1);
    x = _mm256_xor_si256(x, _mm256_set1_epi8(int8_t(0x80)));
    __m256i found = _mm256_setzero_si256();
    for (int t = 0; t < 16; ++t) {
      __m256i part = _mm256_broadcastsi128_si256(
          _mm_loadu_si128((const __m128i *)(table + 16 * t)));
      found = _mm256_or_si256(
          found, _mm256_shuffle_epi8(part, _mm256_adds_epu8(x, past)));
      x = _mm256_sub_epi8(x, row);
    }
    v[i] = _mm256_castsi256_si128(found);
    if (i + 1 < count)
      v[i + 1] = _mm256_extracti128_si256(found, 1);
  }
}

/// The arithmetic of an epilogue with its constants in registers.
class Requantizer {
public:
  explicit Requantizer(const EpilogueI8 &epilogue)
      : p(*epilogue.params), lut(epilogue.lut) {
    most = _mm256_set1_ps(32767);
    zero = _mm256_set1_epi16(int16_t(p.mid_zp));
    low = _mm_set1_epi8(int8_t(p.lo));
    high = _mm_set1_epi8(int8_t(p.hi));
  }
  /// Up to the table.
  __m128i scale(__m256i a, __m256i b, __m256 m0, __m256 m1) const {
    __m256i words = wordsOf(a, b, m0, m1);
    __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words),
                                    _mm256_extracti128_si256(words, 1));
    return _mm_min_epi8(_mm_max_epi8(bytes, low), high);
  }
  /// Through a table of kWideLut entries.
  __m128i scaleWide(__m256i a, __m256i b, __m256 m0, __m256 m1) const {
    __m256i words = wordsOf(a, b, m0, m1);
    words = _mm256_max_epi16(words, _mm256_set1_epi16(int16_t(p.lo)));
    words = _mm256_min_epi16(words, _mm256_set1_epi16(int16_t(p.hi)));
    alignas(32) int16_t index[16];
    _mm256_store_si256((__m256i *)index, words);
    alignas(16) int8_t bytes[16];
    for (int i = 0; i < 16; ++i)
      bytes[i] = lut[index[i] + kWideLut / 2];
    return _mm_load_si128((const __m128i *)bytes);
  }
  /// Whatever the epilogue has before its residual.
  __m128i bytes(__m256i a, __m256i b, __m256 m0, __m256 m1) const {
    if (p.flags & kWideLutFlag)
      return scaleWide(a, b, m0, m1);
    __m128i q = scale(a, b, m0, m1);
    if (lut)
      lookUpVectors(&q, 1, lut);
    return q;
  }
  /// The residual addition.
  __m128i add(__m128i q, __m128i residual) const {
    return narrow(addHalf(q, residual),
                  addHalf(_mm_srli_si128(q, 8), _mm_srli_si128(residual, 8)));
  }

private:
  static __m256 centred(__m128i bytes, int32_t zero) {
    return _mm256_cvtepi32_ps(
        _mm256_sub_epi32(_mm256_cvtepi8_epi32(bytes), _mm256_set1_epi32(zero)));
  }
  // Scaled, with the zero point, in order.
  __m256i wordsOf(__m256i a, __m256i b, __m256 m0, __m256 m1) const {
    __m256i words = _mm256_packs_epi32(round(a, m0), round(b, m1));
    return _mm256_permute4x64_epi64(_mm256_adds_epi16(words, zero), 0xd8);
  }
  // Too small for i32 becomes its least value, and so would too large: hence
  // the bound. Every step after this saturates on the same side.
  __m256i round(__m256i x, __m256 multiplier) const {
    return _mm256_cvtps_epi32(
        _mm256_min_ps(most, _mm256_mul_ps(_mm256_cvtepi32_ps(x), multiplier)));
  }
  __m256i addHalf(__m128i q, __m128i r) const {
    __m256 x = _mm256_add_ps(
        _mm256_mul_ps(centred(q, p.res_mid_zp), _mm256_set1_ps(p.scale_self)),
        _mm256_mul_ps(centred(r, p.res_zp), _mm256_set1_ps(p.scale_res)));
    x = _mm256_max_ps(x, _mm256_set1_ps(float(p.lo2 - p.out_zp)));
    x = _mm256_min_ps(x, _mm256_set1_ps(float(p.hi2 - p.out_zp)));
    return _mm256_add_epi32(_mm256_cvtps_epi32(x), _mm256_set1_epi32(p.out_zp));
  }

  const Epilogue &p;
  const int8_t *lut;
  __m256 most;
  __m256i zero;
  __m128i low, high;
};

} // namespace
} // namespace npu::rt

#endif // RUNTIME_KERNELS_EPILOGUE_AVX2_H
