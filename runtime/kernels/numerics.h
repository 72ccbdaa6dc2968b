//===- numerics.h - Scalar definitions shared by the kernels ----*- C++ -*-===//
#ifndef RUNTIME_KERNELS_NUMERICS_H
#define RUNTIME_KERNELS_NUMERICS_H

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/queue/command.h"

namespace npu::rt {

/// Two's complement arithmetic that wraps.
inline int32_t wrapAdd(int32_t a, int32_t b) {
  return int32_t(uint32_t(a) + uint32_t(b));
}
inline int32_t wrapSub(int32_t a, int32_t b) {
  return int32_t(uint32_t(a) - uint32_t(b));
}
inline int32_t wrapMul(int32_t a, int32_t b) {
  return int32_t(uint32_t(a) * uint32_t(b));
}

/// clamp(round(x) + zp, lo, hi), for any x: the clamp comes first, in float,
/// which is the same because its bounds are integers. These are below 2^22, so
/// that adding 1.5 * 2^23 leaves the rounded value in the low bits: unlike a
/// call of nearbyint(), loops of that become vector instructions.
inline int32_t roundClamp(float x, int32_t zp, int32_t lo, int32_t hi) {
  float low = float(lo - zp), high = float(hi - zp);
  x = x > low ? x : low; // NaN becomes low, as maxps does
  x = x < high ? x : high;
  float shifted = x + 12582912.0f;
  int32_t bits;
  __builtin_memcpy(&bits, &shifted, sizeof(bits));
  return wrapAdd(bits - 0x4b400000, zp);
}

/// The functions of kUnary and of float epilogues.
inline float apply(Function function, float x, float a, float b) {
  switch (function) {
  case Function::kIdentity:
    return x;
  case Function::kClip:
    return std::min(std::max(x, a), b);
  case Function::kLeakyRelu:
    return x < 0 ? a * x : x;
  case Function::kSigmoid:
    return 1 / (1 + std::exp(-x));
  case Function::kHardSigmoid:
    return std::max(0.0f, std::min(1.0f, a * x + b));
  case Function::kHardSwish:
    return x * std::max(0.0f, std::min(1.0f, x / 6 + 0.5f));
  case Function::kSwish:
    return x / (1 + std::exp(-a * x));
  case Function::kTanh:
    return std::tanh(x);
  case Function::kGelu:
    return 0.5f * x * (1 + std::erf(x * 0.70710678f));
  case Function::kGeluTanh:
    return 0.5f * x *
           (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
  case Function::kExp:
    return std::exp(x);
  case Function::kLog:
    return std::log(x);
  case Function::kSqrt:
    return std::sqrt(x);
  case Function::kReciprocal:
    return 1 / x;
  case Function::kAbs:
    return std::fabs(x);
  case Function::kNeg:
    return -x;
  case Function::kErf:
    return std::erf(x);
  case Function::kFloor:
    return std::floor(x);
  case Function::kCeil:
    return std::ceil(x);
  case Function::kRound:
    return std::nearbyintf(x);
  case Function::kElu:
    return x < 0 ? a * std::expm1(x) : x;
  case Function::kSoftplus:
    return std::max(x, 0.0f) + std::log1p(std::exp(-std::fabs(x)));
  case Function::kSin:
    return std::sin(x);
  case Function::kCos:
    return std::cos(x);
  case Function::kTan:
    return std::tan(x);
  case Function::kAsin:
    return std::asin(x);
  case Function::kAcos:
    return std::acos(x);
  case Function::kAtan:
    return std::atan(x);
  case Function::kSinh:
    return std::sinh(x);
  case Function::kCosh:
    return std::cosh(x);
  case Function::kAsinh:
    return std::asinh(x);
  case Function::kAcosh:
    return std::acosh(x);
  case Function::kAtanh:
    return std::atanh(x);
  case Function::kSign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  }
  return x;
}

} // namespace npu::rt

#endif // RUNTIME_KERNELS_NUMERICS_H
