#include <cmath>
#include <limits>

#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

// command.h, BinaryParams, i8: the value before round.
float binaryI8(const BinaryParams &p, int a, int b) {
  float x = float(a - p.a_zp), y = float(b - p.b_zp);
  float xs = x * p.a_mul, ys = y * p.b_mul, xy = x * y;
  switch (p.kind) {
  case BinaryKind::kAdd:
    return xs + ys;
  case BinaryKind::kSub:
    return xs - ys;
  case BinaryKind::kMul:
    return xy * p.a_mul;
  case BinaryKind::kDiv:
    if (b == p.b_zp)
      return a == p.a_zp ? 0 : (a > p.a_zp ? 1 : -1) * HUGE_VALF;
    return xs / y;
  case BinaryKind::kMin:
    return xs < ys ? xs : ys;
  case BinaryKind::kMax:
    return xs > ys ? xs : ys;
  case BinaryKind::kPrelu:
    return a < p.a_zp ? xy * p.b_mul : xs;
  case BinaryKind::kPow:
    break;
  }
  return NAN;
}

double binaryF32(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::kAdd:
    return a + b;
  case BinaryKind::kSub:
    return a - b;
  case BinaryKind::kMul:
    return a * b;
  case BinaryKind::kDiv:
    return a / b;
  case BinaryKind::kMin:
    return a < b ? a : b;
  case BinaryKind::kMax:
    return a > b ? a : b;
  case BinaryKind::kPow:
    return std::pow(a, b);
  case BinaryKind::kPrelu:
    return a < 0 ? a * b : a;
  }
  return NAN;
}

// Exact in 128 bits, the low ones are kept.
template <typename T> T binaryInt(BinaryKind kind, T a, T b) {
  __int128 x = a, y = b;
  switch (kind) {
  case BinaryKind::kAdd:
    return T(x + y);
  case BinaryKind::kSub:
    return T(x - y);
  case BinaryKind::kMul:
    return T(x * y);
  case BinaryKind::kDiv:
    return y == 0 ? T(0) : T(x / y);
  case BinaryKind::kMin:
    return T(x < y ? x : y);
  case BinaryKind::kMax:
    return T(x > y ? x : y);
  default:
    return T(x < 0 ? x * y : x);
  }
}

void runBinary(DType type, BinaryKind kind, uint32_t seed) {
  Rng rng(seed);
  for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "kind " << int(kind) << " case " << i);
    Case c = binaryCase(rng, type, kind);
    const BinaryParams &p = c.command.params.binary;
    if (kind == BinaryKind::kPow)
      for (size_t at = 0; at < c.arrays[1].bytes.size(); at += 4)
        c.arrays[1].bytes[at + 3] &= 0x7f; // bases are not negative
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      const Array &a = c.arrays[1], &b = c.arrays[2];
      if (type == DType::kI8) {
        int q = quantizeI8(binaryI8(p, a.at<int8_t>(at), b.at<int8_t>(at)),
                           p.out_zp, p.lo, p.hi);
        out.at<int8_t>(at) =
            int8_t(p.flags & kLutFlag ? c.aux<int8_t>(2)[q + 128] : q);
      } else if (type == DType::kF32) {
        double x = binaryF32(kind, a.at<float>(at), b.at<float>(at));
        out.at<float>(at) = float(functionRef(p.function, x, p.alpha, p.beta));
      } else if (type == DType::kI32) {
        out.at<int32_t>(at) =
            binaryInt(kind, a.at<int32_t>(at), b.at<int32_t>(at));
      } else {
        out.at<int64_t>(at) =
            binaryInt(kind, a.at<int64_t>(at), b.at<int64_t>(at));
      }
    });
    check(c, out, 1e-5);
  }
}

TEST(Binary, AllKindsOfAllTypes) {
  for (int kind = 0; kind < kNumBinaryKinds; ++kind)
    for (DType type : {DType::kI8, DType::kF32, DType::kI32, DType::kI64})
      if (BinaryKind(kind) != BinaryKind::kPow || type == DType::kF32)
        runBinary(type, BinaryKind(kind), uint32_t(kind * 8 + int(type)));
}

TEST(Binary, IntegersWrapAndDivideByZero) {
  for (BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul,
                          BinaryKind::kDiv}) {
    Rng rng(7);
    Case c(Opcode::kBinary);
    c.command.params.binary.kind = kind;
    for (int i = 0; i < 3; ++i)
      c.arrays[i] = randomArray(rng, DType::kI32, {5, 5});
    int32_t edge[] = {INT32_MIN, -1, 0, 3, INT32_MAX};
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      int32_t a = edge[at[0]], b = edge[at[1]];
      c.arrays[1].at<int32_t>(at) = a;
      c.arrays[2].at<int32_t>(at) = b;
      out.at<int32_t>(at) = binaryInt(kind, a, b);
    });
    check(c, out);
  }
}

TEST(Unary, EveryFunction) {
  Rng rng(8);
  for (int f = 0; f < kNumFunctions; ++f)
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      SCOPED_TRACE(::testing::Message() << "function " << f);
      Case c = unaryCase(rng, DType::kF32, Function(f));
      const UnaryParams &p = c.command.params.unary;
      if (Function(f) == Function::kLog || Function(f) == Function::kSqrt)
        for (size_t at = 0; at < c.arrays[1].bytes.size(); at += 4)
          c.arrays[1].bytes[at + 3] &= 0x7f;
      Array out = c.arrays[0];
      forEachIndex(out.dims, [&](const Index &at) {
        out.at<float>(at) = float(functionRef(
            p.function, c.arrays[1].at<float>(at), p.alpha, p.beta));
      });
      check(c, out, 1e-5);
    }
}

TEST(Unary, I32IsExact) {
  Rng rng(9);
  const int32_t values[] = {INT32_MIN, INT32_MIN + 1, -16777217, -3, 0,
                            3,         16777217,      INT32_MAX};
  for (Function f : {Function::kAbs, Function::kNeg, Function::kClip}) {
    Case c(Opcode::kUnary);
    UnaryParams &p = c.command.params.unary;
    p.function = f, p.alpha = -2e9f, p.beta = 2e9f;
    c.arrays[0] = randomArray(rng, DType::kI32, {8});
    c.arrays[1] = randomArray(rng, DType::kI32, {8});
    Array out = c.arrays[0];
    for (int64_t i = 0; i < 8; ++i) {
      int64_t x = values[i];
      c.arrays[1].at<int32_t>({i}) = values[i];
      out.at<int32_t>({i}) =
          f == Function::kClip
              ? int32_t(std::min<int64_t>(std::max<int64_t>(x, -2000000000),
                                          2000000000))
              : wrap(f == Function::kNeg || x < 0 ? -x : x);
    }
    check(c, out);
  }
}

TEST(Lut, LooksUp) {
  Rng rng(10);
  for (int i = 0; i < 40; ++i) {
    Case c = randomCase(Opcode::kLut, rng);
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      out.at<int8_t>(at) = c.aux<int8_t>(0)[c.arrays[1].at<int8_t>(at) + 128];
    });
    check(c, out);
  }
}

// Integers and floats as doubles: all but large i64 are exact.
double valueAt(const Array &a, const Index &at) {
  switch (a.type) {
  case DType::kI8:
    return a.at<int8_t>(at);
  case DType::kU8:
    return a.at<uint8_t>(at);
  case DType::kBool:
    return a.at<uint8_t>(at) != 0;
  case DType::kI16:
    return a.at<int16_t>(at);
  case DType::kI32:
    return a.at<int32_t>(at);
  case DType::kI64:
    return double(a.at<int64_t>(at));
  default:
    return a.at<float>(at);
  }
}

struct Limits {
  double lo, hi;
};
Limits limitsOf(DType type) {
  switch (type) {
  case DType::kI8:
    return {-128, 127};
  case DType::kI16:
    return {-32768, 32767};
  case DType::kI32:
    return {INT32_MIN, INT32_MAX};
  case DType::kI64: // the largest double below 2^63
    return {-9223372036854775808.0, 9223372036854774784.0};
  default:
    return {0, 255};
  }
}

void put(Array &a, const Index &at, double value, bool wrapping) {
  Limits limits = limitsOf(a.type);
  if (a.type == DType::kF32) {
    a.at<float>(at) = float(value);
    return;
  }
  if (!wrapping)
    value = std::min(std::max(value, limits.lo), limits.hi);
  int64_t bits = int64_t(value);
  std::memcpy(&a.at<uint8_t>({}) + a.offset(at) * sizeOf(a.type), &bits,
              sizeOf(a.type)); // little endian: the low bytes
}

constexpr DType kConvertible[] = {DType::kI8,  DType::kU8,  DType::kI16,
                                  DType::kI32, DType::kI64, DType::kF32,
                                  DType::kBool};

TEST(Convert, PlainCasts) {
  Rng rng(11);
  for (DType in : kConvertible)
    for (DType type : kConvertible)
      for (int i = 0; i < 6 && !HasFailure(); ++i) {
        SCOPED_TRACE(::testing::Message() << int(in) << " to " << int(type));
        Case c = convertCase(rng, in, type, false);
        if (in == DType::kF32) // beyond the range of the small types
          forEachIndex(c.arrays[1].dims, [&](const Index &at) {
            c.arrays[1].at<float>(at) *= i < 3 ? 100.f : 1e12f;
          });
        Array out = c.arrays[0];
        forEachIndex(out.dims, [&](const Index &at) {
          double x = valueAt(c.arrays[1], at);
          if (type == DType::kBool)
            out.at<uint8_t>(at) = x != 0;
          else
            put(out, at, type == DType::kF32 ? x : std::trunc(x),
                in != DType::kF32);
        });
        check(c, out);
      }
}

TEST(Convert, Quantising) {
  Rng rng(12);
  for (DType in :
       {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kF32})
    for (DType type : {DType::kI8, DType::kU8, DType::kI16, DType::kF32})
      for (int i = 0; i < 10 && !HasFailure(); ++i) {
        if (in == DType::kF32 && type == DType::kF32)
          continue;
        SCOPED_TRACE(::testing::Message() << int(in) << " to " << int(type));
        Case c = convertCase(rng, in, type, true);
        const ConvertParams &p = c.command.params.convert;
        Array out = c.arrays[0];
        forEachIndex(out.dims, [&](const Index &at) {
          float x = float(valueAt(c.arrays[1], at) -
                          (in == DType::kF32 ? 0 : p.in_zp));
          float scaled = in == DType::kF32 ? x / p.scale : x * p.scale;
          put(out, at,
              type == DType::kF32 ? double(scaled)
                                  : roundEven(scaled) + p.out_zp,
              false);
        });
        check(c, out);
      }
}

TEST(Convert, FloatsThatAreNoNumbers) {
  Rng rng(13);
  Case c(Opcode::kConvert);
  c.arrays[0] = randomArray(rng, DType::kI32, {4});
  c.arrays[1] = randomArray(rng, DType::kF32, {4});
  const float in[] = {NAN, INFINITY, -INFINITY, 3e9f};
  const int32_t want[] = {0, INT32_MAX, INT32_MIN, INT32_MAX};
  Array out = c.arrays[0];
  for (int64_t i = 0; i < 4; ++i) {
    c.arrays[1].at<float>({i}) = in[i];
    out.at<int32_t>({i}) = want[i];
  }
  check(c, out);
}

} // namespace
} // namespace npu::rt::testing
