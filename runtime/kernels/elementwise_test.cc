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
  default:
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
  case BinaryKind::kRem:
    return a - b * std::trunc(a / b);
  default:
    break;
  }
  return NAN;
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
      } else {
        double x = binaryF32(kind, a.at<float>(at), b.at<float>(at));
        out.at<float>(at) = float(functionRef(p.function, x, p.alpha, p.beta));
      }
    });
    check(c, out, 1e-5);
  }
}

TEST(Binary, AllKinds) {
  for (int kind = 0; kind <= int(BinaryKind::kRem); ++kind)
    for (DType type : {DType::kI8, DType::kF32})
      if (kind < int(BinaryKind::kPow) ||
          BinaryKind(kind) == BinaryKind::kPrelu || type == DType::kF32)
        runBinary(type, BinaryKind(kind), uint32_t(kind * 8 + int(type)));
}

TEST(Unary, EveryFunction) {
  Rng rng(8);
  for (int f = 0; f < kNumFunctions; ++f)
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      SCOPED_TRACE(::testing::Message() << "function " << f);
      Case c = unaryCase(rng, DType::kF32, Function(f));
      const UnaryParams &p = c.command.params.unary;
      if (Function(f) == Function::kAsin || Function(f) == Function::kAcos ||
          Function(f) == Function::kAtanh)
        forEachIndex(c.arrays[1].dims, [&](const Index &at) {
          float &x = c.arrays[1].at<float>(at);
          x = std::fabs(x) < 1 ? x : 0.5f;
        });
      if (Function(f) == Function::kAcosh)
        forEachIndex(c.arrays[1].dims, [&](const Index &at) {
          float &x = c.arrays[1].at<float>(at);
          x = std::max(1.0f, std::fabs(x));
        });
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

} // namespace
} // namespace npu::rt::testing
