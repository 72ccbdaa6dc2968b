#include <cmath>
#include <limits>

#include "runtime/kernels/testing_cases.h"
#include "runtime/support/half.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

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
  case DType::kU16:
    return a.at<uint16_t>(at);
  case DType::kU32:
    return a.at<uint32_t>(at);
  case DType::kU64:
    return double(a.at<uint64_t>(at));
  case DType::kF64:
    return a.at<double>(at);
  case DType::kF16:
    return halfToFloat(a.at<uint16_t>(at));
  case DType::kBF16:
    return bfloatToFloat(a.at<uint16_t>(at));
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
  case DType::kI64: // the largest double below 2^63, see put()
    return {-9223372036854775808.0, 9223372036854774784.0};
  case DType::kU16:
    return {0, 65535};
  case DType::kU32:
    return {0, UINT32_MAX};
  case DType::kU64: // the largest double below 2^64
    return {0, 18446744073709549568.0};
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
  if (a.type == DType::kF64) {
    a.at<double>(at) = value;
    return;
  }
  if (a.type == DType::kF16 || a.type == DType::kBF16) {
    a.at<uint16_t>(at) = a.type == DType::kF16 ? halfFromFloat(float(value))
                                               : bfloatFromFloat(float(value));
    return;
  }
  if (!wrapping)
    value = std::min(std::max(value, limits.lo), limits.hi);
  int64_t bits = value < 0 ? int64_t(value) : int64_t(uint64_t(value));
  if (!wrapping && sizeOf(a.type) == 8 && value == limits.hi)
    bits = a.type == DType::kI64 ? INT64_MAX : int64_t(UINT64_MAX);
  std::memcpy(&a.at<uint8_t>({}) + a.offset(at) * sizeOf(a.type), &bits,
              sizeOf(a.type)); // little endian: the low bytes
}

bool isReal(DType type) {
  return type == DType::kF16 || type == DType::kBF16 || type == DType::kF32 ||
         type == DType::kF64;
}

// What is not finite has a test of its own.
void makeFinite(Array &a) {
  if (a.type == DType::kF16 || a.type == DType::kBF16)
    for (size_t i = 0; i < a.bytes.size(); i += 2)
      a.bytes[i + 1] &= 0xbf; // the highest bit of the exponent
}

TEST(Convert, PlainCasts) {
  Rng rng(11);
  for (int from = 0; from < kNumDTypes; ++from)
    for (int to = 0; to < kNumDTypes; ++to)
      for (int i = 0; i < 6 && !HasFailure(); ++i) {
        SCOPED_TRACE(::testing::Message() << from << " to " << to);
        DType in = DType(from), type = DType(to);
        Case c = convertCase(rng, in, type, false);
        makeFinite(c.arrays[1]);
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
            put(out, at, isReal(type) ? x : std::trunc(x), !isReal(in));
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
