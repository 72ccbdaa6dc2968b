//===- half.h - f16 and bf16 to and from f32 --------------------*- C++ -*-===//
#ifndef RUNTIME_SUPPORT_HALF_H
#define RUNTIME_SUPPORT_HALF_H

#include <cstdint>
#include <cstring>

namespace npu::rt {

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Exact; NaNs keep their payload.
inline float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31,
           mantissa = h & 1023;
  if (exponent == 0) // a multiple of 2^-24
    return sign ? -float(mantissa) / 16777216 : float(mantissa) / 16777216;
  exponent = exponent == 31 ? 255 : exponent + 112;
  return floatOf(sign | exponent << 23 | mantissa << 13);
}

/// To nearest, ties to even; what is too large becomes infinity.
inline uint16_t halfFromFloat(float value) {
  uint32_t bits = bitsOf(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return uint16_t(sign | 0x7e00);
  if (bits >= 0x477ff000) // 65520 and more
    return uint16_t(sign | 0x7c00);
  if (bits < 0x38800000) { // below 2^-14: multiples of 2^-24, rounded by adding
    float shifted = floatOf(bits) + 0.5f;
    return uint16_t(sign | (bitsOf(shifted) - bitsOf(0.5f)));
  }
  bits += 0xfff + (bits >> 13 & 1);
  return uint16_t(sign | (bits - 0x38000000) >> 13);
}

inline float bfloatToFloat(uint16_t b) { return floatOf(uint32_t(b) << 16); }

/// To nearest, ties to even.
inline uint16_t bfloatFromFloat(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace npu::rt

#endif // RUNTIME_SUPPORT_HALF_H
