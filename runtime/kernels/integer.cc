// Binary commands on integers and booleans, comparisons, selection.
#include <cstring>

#include "runtime/kernels/numerics.h"
#include "runtime/kernels/rows.h"
#include "runtime/kernels/vectorise.h"

namespace npu::rt {

namespace {

// out[i] = f(a[i], b[i]); the loops over adjacent values are vector loops.
template <typename To, typename T, typename F>
void binaryRow(Isa isa, To *out, int64_t so, const T *a, int64_t sa, const T *b,
               int64_t sb, int64_t count, const F &function) {
  if (so != 1 || sa > 1 || sb > 1) {
    for (int64_t i = 0; i < count; ++i)
      out[i * so] = function(a[i * sa], b[i * sb]);
    return;
  }
  auto dense = [&](auto stepA, auto stepB) {
    vectorise(isa, [&]() NPU_INLINE {
      To *to = out;
      const T *x = a, *y = b;
      const int64_t n = count;
      NPU_NO_OVERLAP
      for (int64_t i = 0; i < n; ++i)
        to[i] = function(x[i * stepA], y[i * stepB]);
    });
  };
  using Zero = std::integral_constant<int, 0>;
  using One = std::integral_constant<int, 1>;
  if (sa && sb)
    dense(One{}, One{});
  else if (sa)
    dense(One{}, Zero{});
  else
    dense(Zero{}, One{}); // or both 0: one value is read again and again
}

// All of a command whose output elements are `To` and inputs `T`.
template <typename To, typename T, typename F>
void binaryRows(const Command &command, Context &context, const F &function) {
  Strided<3> s(command, *context.memory);
  int64_t so = s.loop.innerStride(0), sa = s.loop.innerStride(1),
          sb = s.loop.innerStride(2);
  bool one = sa == 0 && sb == 0;
  forEachRow(
      s.loop, *context.pool,
      [&](const std::array<int64_t, 3> &at, int64_t from, int64_t count) {
        To *out = s.views[0].template as<To>() + at[0] + from * so;
        const T *a = s.views[1].template as<T>() + at[1] + from * sa;
        const T *b = s.views[2].template as<T>() + at[2] + from * sb;
        if (one) {
          To value = function(*a, *b);
          for (int64_t i = 0; i < count; ++i)
            out[i * so] = value;
          return;
        }
        binaryRow(context.isa, out, so, a, sa, b, sb, count, function);
      });
}

//===- Arithmetic ---------------------------------------------------------===//

template <typename T> NPU_INLINE inline T divide(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if (y == 0)
    return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == -1)
      return T(U(0) - U(x));
  return x / y;
}

template <typename T> NPU_INLINE inline T remainder(T x, T y) {
  if constexpr (std::is_signed_v<T>)
    if (y == -1)
      return 0;
  return y == 0 ? 0 : x % y;
}

template <typename T> T power(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>)
    if (y < 0) // 1 / x, or less
      return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  U result = 1, base = U(x);
  for (U n = U(y); n; n >>= 1) {
    if (n & 1)
      result *= base;
    base *= base;
  }
  return T(result);
}

// Wrapping, so in the unsigned type.
template <BinaryKind kKind, typename T>
NPU_INLINE inline T integerOf(T x, T y) {
  using U = std::make_unsigned_t<T>;
  constexpr U kBits = sizeof(T) * 8;
  switch (kKind) {
  case BinaryKind::kAdd:
    return T(U(x) + U(y));
  case BinaryKind::kSub:
    return T(U(x) - U(y));
  case BinaryKind::kMul:
    return T(U(x) * U(y));
  case BinaryKind::kDiv:
    return divide(x, y);
  case BinaryKind::kMin:
    return std::min(x, y);
  case BinaryKind::kMax:
    return std::max(x, y);
  case BinaryKind::kPow:
    return power(x, y);
  case BinaryKind::kPrelu:
    return x < 0 ? T(U(x) * U(y)) : x;
  case BinaryKind::kRem:
    return remainder(x, y);
  case BinaryKind::kMod: {
    T r = remainder(x, y);
    return r != 0 && (r < 0) != (y < 0) ? T(r + y) : r;
  }
  case BinaryKind::kAnd:
    return x & y;
  case BinaryKind::kOr:
    return x | y;
  case BinaryKind::kXor:
    return x ^ y;
  case BinaryKind::kShl:
    return U(y) < kBits ? T(U(x) << (U(y) & (kBits - 1))) : 0;
  case BinaryKind::kShr:
    return U(y) < kBits ? T(U(x) >> (U(y) & (kBits - 1))) : 0;
  }
  return 0;
}

template <BinaryKind kKind>
void integerOfKind(const Command &command, Context &context) {
  auto run = [&](auto zero) {
    using T = decltype(zero);
    binaryRows<T, T>(command, context, [](T x, T y) NPU_INLINE {
      return integerOf<kKind>(x, y);
    });
  };
  switch (command.operands[0].dtype) {
  case DType::kI32:
    return run(int32_t{});
  case DType::kI64:
    return run(int64_t{});
  case DType::kU64:
    return run(uint64_t{});
  default: // kBool: see validate.cc
    binaryRows<uint8_t, uint8_t>(
        command, context, [](uint8_t x, uint8_t y) NPU_INLINE {
          return uint8_t(integerOf<kKind, int>(x != 0, y != 0));
        });
  }
}

//===- Comparison ---------------------------------------------------------===//

template <CompareKind kKind>
void compareOfKind(const Command &command, Context &context) {
  auto run = [&](auto zero) {
    using T = decltype(zero);
    binaryRows<uint8_t, T>(command, context, [](T x, T y) NPU_INLINE {
      return uint8_t(kKind == CompareKind::kEqual  ? x == y
                     : kKind == CompareKind::kLess ? x < y
                                                   : x <= y);
    });
  };
  switch (command.operands[1].dtype) {
  case DType::kF32:
    return run(float{});
  case DType::kI32:
    return run(int32_t{});
  case DType::kI64:
    return run(int64_t{});
  default:
    return run(uint64_t{});
  }
}

//===- Selection ----------------------------------------------------------===//

template <typename T> void selectOf(const Command &command, Context &context) {
  Strided<4> s(command, *context.memory);
  int64_t so = s.loop.innerStride(0), sc = s.loop.innerStride(1),
          sa = s.loop.innerStride(2), sb = s.loop.innerStride(3);
  forEachRow(
      s.loop, *context.pool,
      [&](const std::array<int64_t, 4> &at, int64_t from, int64_t count) {
        T *out = s.views[0].template as<T>() + at[0] + from * so;
        const auto *c = s.views[1].as<uint8_t>() + at[1] + from * sc;
        const T *a = s.views[2].template as<T>() + at[2] + from * sa;
        const T *b = s.views[3].template as<T>() + at[3] + from * sb;
        if (so == 1 && sc == 1 && sa == 1 && sb == 1)
          return vectorise(context.isa, [&]() NPU_INLINE {
            T *to = out;
            const uint8_t *pick = c;
            const T *x = a, *y = b;
            const int64_t n = count;
            NPU_NO_OVERLAP
            for (int64_t i = 0; i < n; ++i)
              to[i] = pick[i] ? x[i] : y[i];
          });
        for (int64_t i = 0; i < count; ++i)
          out[i * so] = c[i * sc] ? a[i * sa] : b[i * sb];
      });
}

} // namespace

void runBinaryInteger(const Command &command, Context &context) {
#define KIND(NAME)                                                             \
  case BinaryKind::NAME:                                                       \
    return integerOfKind<BinaryKind::NAME>(command, context);
  switch (command.params.binary.kind) {
    KIND(kAdd)
    KIND(kSub)
    KIND(kMul)
    KIND(kDiv)
    KIND(kMin)
    KIND(kMax)
    KIND(kPow)
    KIND(kPrelu)
    KIND(kRem)
    KIND(kMod)
    KIND(kAnd)
    KIND(kOr)
    KIND(kXor)
    KIND(kShl)
    KIND(kShr)
  }
#undef KIND
}

void runCompare(const Command &command, Context &context) {
  switch (command.params.compare.kind) {
  case CompareKind::kEqual:
    return compareOfKind<CompareKind::kEqual>(command, context);
  case CompareKind::kLess:
    return compareOfKind<CompareKind::kLess>(command, context);
  case CompareKind::kLessEqual:
    return compareOfKind<CompareKind::kLessEqual>(command, context);
  }
}

void runSelect(const Command &command, Context &context) {
  switch (sizeOf(command.operands[0].dtype)) {
  case 1:
    return selectOf<uint8_t>(command, context);
  case 2:
    return selectOf<uint16_t>(command, context);
  case 4:
    return selectOf<uint32_t>(command, context);
  default:
    return selectOf<uint64_t>(command, context);
  }
}

} // namespace npu::rt
