#include <cmath>
#include <limits>

#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

// Exact in 128 bits, the low ones are kept.
template <typename T> T powerOf(T a, T b) {
  if (b < 0)
    return a == 1 ? 1 : a == T(-1) ? (b % 2 ? T(-1) : 1) : 0;
  T result = 1;
  for (; b > 0; --b)
    result = T(__int128(result) * a);
  return result;
}

template <typename T> T binaryInt(BinaryKind kind, T a, T b) {
  __int128 x = a, y = b;
  using U = std::make_unsigned_t<T>;
  bool shifts = y >= 0 && y < int(sizeof(T) * 8);
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
  case BinaryKind::kPow:
    return powerOf(a, b);
  case BinaryKind::kPrelu:
    return T(x < 0 ? x * y : x);
  case BinaryKind::kRem:
    return y == 0 ? T(0) : T(x % y);
  case BinaryKind::kMod:
    return y == 0 ? T(0) : T((x % y + y) % y);
  case BinaryKind::kAnd:
    return a & b;
  case BinaryKind::kOr:
    return a | b;
  case BinaryKind::kXor:
    return a ^ b;
  case BinaryKind::kShl:
    return shifts ? T(x << int(y)) : T(0);
  case BinaryKind::kShr:
    return shifts ? T(U(a) >> int(y)) : T(0);
  }
  return 0;
}

template <typename T>
void runBinary(DType type, BinaryKind kind, uint32_t seed) {
  Rng rng(seed);
  for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "kind " << int(kind) << " case " << i);
    Case c = binaryCase(rng, type, kind);
    bool small = kind == BinaryKind::kPow || kind == BinaryKind::kShl ||
                 kind == BinaryKind::kShr;
    if (small)
      forEachIndex(c.arrays[2].dims, [&](const Index &at) {
        T &y = c.arrays[2].at<T>(at);
        y = T(y % 70);
      });
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      out.at<T>(at) =
          binaryInt(kind, c.arrays[1].at<T>(at), c.arrays[2].at<T>(at));
    });
    check(c, out);
  }
}

TEST(Integer, AllKindsOfAllTypes) {
  for (int kind = 0; kind < kNumBinaryKinds; ++kind) {
    runBinary<int32_t>(DType::kI32, BinaryKind(kind), uint32_t(kind));
    runBinary<int64_t>(DType::kI64, BinaryKind(kind), uint32_t(kind + 100));
    runBinary<uint64_t>(DType::kU64, BinaryKind(kind), uint32_t(kind + 200));
  }
}

template <typename T> void runEdges(DType type, std::vector<T> edge) {
  int64_t n = int64_t(edge.size());
  for (int k = 0; k < kNumBinaryKinds; ++k) {
    BinaryKind kind = BinaryKind(k);
    SCOPED_TRACE(::testing::Message() << "kind " << k);
    Rng rng(7);
    Case c(Opcode::kBinary);
    c.command.params.binary.kind = kind;
    for (int i = 0; i < 3; ++i)
      c.arrays[i] = randomArray(rng, type, {n, n});
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      T a = edge[at[0]], b = edge[at[1]];
      if (kind == BinaryKind::kPow && b > T(100))
        b = 3;
      c.arrays[1].at<T>(at) = a;
      c.arrays[2].at<T>(at) = b;
      out.at<T>(at) = binaryInt(kind, a, b);
    });
    check(c, out);
  }
}

TEST(Integer, WrapsAndDividesByZero) {
  runEdges<int32_t>(DType::kI32, {INT32_MIN, -1, 0, 1, 3, 31, 32, INT32_MAX});
  runEdges<int64_t>(DType::kI64, {INT64_MIN, -1, 0, 1, 3, 63, 64, INT64_MAX});
  runEdges<uint64_t>(DType::kU64,
                     {0, 1, 3, 63, 64, uint64_t(1) << 63, UINT64_MAX});
}

TEST(Integer, Booleans) {
  Rng rng(3);
  for (BinaryKind kind : {BinaryKind::kAnd, BinaryKind::kOr, BinaryKind::kXor})
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      Case c = binaryCase(rng, DType::kBool, kind);
      if (i % 2) // any byte but 0 is true
        for (uint8_t &byte : c.arrays[1].bytes)
          byte = uint8_t(byte ? rng.pick(1, 255) : 0);
      Array out = c.arrays[0];
      forEachIndex(out.dims, [&](const Index &at) {
        out.at<uint8_t>(at) =
            uint8_t(binaryInt<int32_t>(kind, c.arrays[1].at<uint8_t>(at) != 0,
                                       c.arrays[2].at<uint8_t>(at) != 0));
      });
      check(c, out);
    }
}

template <typename T> bool compareRef(CompareKind kind, T a, T b) {
  return kind == CompareKind::kEqual  ? !(a < b) && !(b < a) && a == a && b == b
         : kind == CompareKind::kLess ? b > a
                                      : b >= a;
}

template <typename T> void runCompare(DType type, std::vector<T> special) {
  Rng rng(5);
  for (int kind = 0; kind < kNumCompareKinds; ++kind)
    for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
      Case c = compareCase(rng, type, CompareKind(kind));
      for (int n = 1; n <= 2; ++n)
        forEachIndex(c.arrays[n].dims, [&](const Index &at) {
          if (rng.chance(60))
            c.arrays[n].at<T>(at) =
                special[rng.pick(0, int64_t(special.size()) - 1)];
        });
      Array out = c.arrays[0];
      forEachIndex(out.dims, [&](const Index &at) {
        out.at<uint8_t>(at) = compareRef(
            CompareKind(kind), c.arrays[1].at<T>(at), c.arrays[2].at<T>(at));
      });
      check(c, out);
    }
}

TEST(Compare, AllKindsOfAllTypes) {
  runCompare<float>(DType::kF32, {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1});
  runCompare<int32_t>(DType::kI32, {INT32_MIN, -1, 0, INT32_MAX});
  runCompare<int64_t>(DType::kI64, {INT64_MIN, -1, 0, INT64_MAX});
  runCompare<uint64_t>(DType::kU64, {0, 1, uint64_t(1) << 63, UINT64_MAX});
}

TEST(Select, AnyType) {
  Rng rng(6);
  for (int type = 0; type < kNumDTypes; ++type)
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      Case c = selectCase(rng, DType(type));
      for (uint8_t &byte : c.arrays[1].bytes)
        byte = uint8_t(byte ? rng.pick(1, 255) : 0);
      Array out = c.arrays[0];
      int64_t size = sizeOf(DType(type));
      forEachIndex(out.dims, [&](const Index &at) {
        const Array &from = c.arrays[c.arrays[1].at<uint8_t>(at) ? 2 : 3];
        std::copy_n(from.bytes.begin() + from.offset(at) * size, size,
                    out.bytes.begin() + out.offset(at) * size);
      });
      check(c, out);
    }
}

} // namespace
} // namespace npu::rt::testing
