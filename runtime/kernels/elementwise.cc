// Binary, unary, LUT and conversion commands.
#include <cstring>

#include "runtime/kernels/families.h"
#include "runtime/kernels/iterate.h"
#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"
#include "runtime/kernels/vectorise.h"

namespace npu::rt {

namespace {

// Calls body(row offsets, first element, count) over all elements, in pieces
// large enough to be worth a thread.
template <int N, typename F>
void forEachRow(const Loop<N> &loop, ThreadPool &pool, const F &body) {
  constexpr int64_t kPiece = 16384;
  int64_t inner = loop.inner(), rows = loop.rows();
  if (inner >= 2 * kPiece) {
    int64_t pieces = (inner + kPiece - 1) / kPiece;
    pool.parallelFor(rows * pieces, [&](int64_t i, int) {
      int64_t from = i % pieces * kPiece;
      body(loop.offsets(i / pieces), from, std::min(kPiece, inner - from));
    });
    return;
  }
  int64_t step = std::max<int64_t>(1, kPiece / inner);
  pool.parallelFor((rows + step - 1) / step, [&](int64_t i, int) {
    for (int64_t row = i * step; row < std::min(rows, (i + 1) * step); ++row)
      body(loop.offsets(row), 0, inner);
  });
}

template <int N> struct Strided {
  std::array<View, N> views;
  Loop<N> loop;
  Strided(const Command &command, const MemoryMap &memory)
      : views(make(command, memory)), loop(pointers(views)) {}
  static std::array<View, N> make(const Command &command,
                                  const MemoryMap &memory) {
    std::array<View, N> out;
    for (int i = 0; i < N; ++i)
      out[i] = viewOf(command, i, memory);
    return out;
  }
  static std::array<const View *, N> pointers(const std::array<View, N> &v) {
    std::array<const View *, N> out;
    for (int i = 0; i < N; ++i)
      out[i] = &v[i];
    return out;
  }
};

// One quantised result before rounding.
float binaryI8(const BinaryParams &p, int a, int b) {
  float x = float(a - p.a_zp), y = float(b - p.b_zp);
  switch (p.kind) {
  case BinaryKind::kAdd:
    return x * p.a_mul + y * p.b_mul;
  case BinaryKind::kSub:
    return x * p.a_mul - y * p.b_mul;
  case BinaryKind::kMul:
    return (x * y) * p.a_mul;
  case BinaryKind::kDiv:
    if (y == 0)
      return x == 0 ? 0 : x < 0 ? -INFINITY : INFINITY;
    return (x * p.a_mul) / y;
  case BinaryKind::kMin:
    return std::min(x * p.a_mul, y * p.b_mul);
  case BinaryKind::kMax:
    return std::max(x * p.a_mul, y * p.b_mul);
  case BinaryKind::kPrelu:
    return x < 0 ? (x * y) * p.b_mul : x * p.a_mul;
  case BinaryKind::kPow:
    break;
  }
  return 0;
}

// kSa, kSb: the inputs' strides, 0 or 1.
template <BinaryKind kKind, int kSa, int kSb>
void denseI8(const BinaryParams &params, Isa isa, int8_t *out, const int8_t *a,
             const int8_t *b, int64_t count) {
  vectorise(isa, [&]() NPU_INLINE {
    BinaryParams p = params;
    p.kind = kKind; // a constant, so that the switch above folds
    int8_t *to = out;
    const int8_t *x = a, *y = b;
    const int64_t n = count; // as all of these: a store may hit no capture
    NPU_NO_OVERLAP
    for (int64_t i = 0; i < n; ++i)
      to[i] = int8_t(roundClamp(binaryI8(p, x[i * kSa], y[i * kSb]), p.out_zp,
                                p.lo, p.hi));
  });
}

template <BinaryKind kKind>
void rowI8(BinaryParams p, Isa isa, const int8_t *lut, int8_t *out, int64_t so,
           const int8_t *a, int64_t sa, const int8_t *b, int64_t sb,
           int64_t count) {
  p.kind = kKind;
  if (so == 1 && sa <= 1 && sb <= 1 && sa + sb > 0) {
    if (sa + sb == 2)
      denseI8<kKind, 1, 1>(p, isa, out, a, b, count);
    else if (sa == 1)
      denseI8<kKind, 1, 0>(p, isa, out, a, b, count);
    else
      denseI8<kKind, 0, 1>(p, isa, out, a, b, count);
    if (lut)
      matrixLoops(isa).lookUp(out, count, lut, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    int32_t q =
        roundClamp(binaryI8(p, a[i * sa], b[i * sb]), p.out_zp, p.lo, p.hi);
    out[i * so] = lut ? lut[q + 128] : int8_t(q);
  }
}

float binaryF32(BinaryKind kind, float x, float y) {
  switch (kind) {
  case BinaryKind::kAdd:
    return x + y;
  case BinaryKind::kSub:
    return x - y;
  case BinaryKind::kMul:
    return x * y;
  case BinaryKind::kDiv:
    return x / y;
  case BinaryKind::kMin:
    return std::min(x, y);
  case BinaryKind::kMax:
    return std::max(x, y);
  case BinaryKind::kPow:
    return y == 2 ? x * x : std::pow(x, y);
  case BinaryKind::kPrelu:
    return x < 0 ? x * y : x;
  }
  return 0;
}

template <BinaryKind kKind>
void rowF32(const BinaryParams &p, float *out, int64_t so, const float *a,
            int64_t sa, const float *b, int64_t sb, int64_t count) {
  if (so == 1 && sa == 1 && sb == 1 && p.function == Function::kIdentity) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = binaryF32(kKind, a[i], b[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i * so] = apply(p.function, binaryF32(kKind, a[i * sa], b[i * sb]),
                        p.alpha, p.beta);
}

// Wrapping, so in the unsigned type.
template <typename T> T binaryInt(BinaryKind kind, T x, T y) {
  using U = std::make_unsigned_t<T>;
  switch (kind) {
  case BinaryKind::kAdd:
    return T(U(x) + U(y));
  case BinaryKind::kSub:
    return T(U(x) - U(y));
  case BinaryKind::kMul:
    return T(U(x) * U(y));
  case BinaryKind::kDiv:
    return y == 0 ? 0 : y == -1 ? T(U(0) - U(x)) : x / y;
  case BinaryKind::kMin:
    return std::min(x, y);
  case BinaryKind::kMax:
    return std::max(x, y);
  case BinaryKind::kPrelu:
    return x < 0 ? T(U(x) * U(y)) : x;
  case BinaryKind::kPow:
    break;
  }
  return 0;
}

template <BinaryKind kKind>
void binaryOfKind(const Command &command, Context &context) {
  const MemoryMap &memory = *context.memory;
  const BinaryParams &p = command.params.binary;
  Strided<3> s(command, memory);
  const int8_t *lut =
      p.flags & kLutFlag ? auxOf<int8_t>(command, 2, memory) : nullptr;
  int64_t so = s.loop.innerStride(0), sa = s.loop.innerStride(1),
          sb = s.loop.innerStride(2);
  forEachRow(
      s.loop, *context.pool,
      [&](const std::array<int64_t, 3> &at, int64_t from, int64_t count) {
        int64_t o = at[0] + from * so, a = at[1] + from * sa,
                b = at[2] + from * sb;
        auto run = [&](auto zero, auto row) {
          using T = decltype(zero);
          row(s.views[0].template as<T>() + o, s.views[1].template as<T>() + a,
              s.views[2].template as<T>() + b);
        };
        auto integers = [&](auto *out, const auto *x, const auto *y) {
          for (int64_t i = 0; i < count; ++i)
            out[i * so] = binaryInt(kKind, x[i * sa], y[i * sb]);
        };
        switch (s.views[0].dtype()) {
        case DType::kI8:
          return run(
              int8_t{}, [&](int8_t *out, const int8_t *x, const int8_t *y) {
                rowI8<kKind>(p, context.isa, lut, out, so, x, sa, y, sb, count);
              });
        case DType::kF32:
          return run(0.0f, [&](float *out, const float *x, const float *y) {
            rowF32<kKind>(p, out, so, x, sa, y, sb, count);
          });
        case DType::kI32:
          return run(int32_t{}, integers);
        default:
          return run(int64_t{}, integers);
        }
      });
}

template <typename From, typename To> To castNumber(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (!(x == x))
      return 0;
    double low = double(std::numeric_limits<To>::min());
    double high = double(std::numeric_limits<To>::max());
    double value = std::trunc(double(x));
    if (value <= low)
      return std::numeric_limits<To>::min();
    if (value >= high)
      return std::numeric_limits<To>::max();
    return To(value);
  }
  return To(x);
}

// A byte of a boolean tensor: anything but 0 is true. Not `bool`, which must
// not hold other bytes than 0 and 1.
struct Bool {
  uint8_t byte;
};

template <typename From, typename To> To castValue(From x) {
  if constexpr (std::is_same_v<From, Bool>)
    return castValue<uint8_t, To>(x.byte != 0);
  else if constexpr (std::is_same_v<To, Bool>)
    return Bool{uint8_t(x != 0)};
  else
    return castNumber<From, To>(x);
}

template <typename T> struct Range {
  static constexpr int32_t lo = std::numeric_limits<T>::min();
  static constexpr int32_t hi = std::numeric_limits<T>::max();
};

template <typename From, typename To>
NPU_INLINE inline void convertDense(ConvertParams p, To *out, const From *in,
                                    int64_t count) {
  constexpr bool kNarrow = std::is_integral_v<To> && sizeof(To) <= 2;
  if constexpr (std::is_same_v<From, Bool> || sizeof(From) == 8) {
    return; // refused by validateCommand
  } else if constexpr (std::is_floating_point_v<From> && kNarrow) {
    NPU_NO_OVERLAP
    for (int64_t i = 0; i < count; ++i)
      out[i] = To(
          roundClamp(in[i] / p.scale, p.out_zp, Range<To>::lo, Range<To>::hi));
  } else if constexpr (kNarrow) {
    NPU_NO_OVERLAP
    for (int64_t i = 0; i < count; ++i)
      out[i] = To(roundClamp(float(int64_t(in[i]) - p.in_zp) * p.scale,
                             p.out_zp, Range<To>::lo, Range<To>::hi));
  } else if constexpr (std::is_same_v<To, float> && sizeof(From) <= 2) {
    NPU_NO_OVERLAP
    for (int64_t i = 0; i < count; ++i)
      out[i] = float(int32_t(in[i]) - p.in_zp) * p.scale;
  } else if constexpr (std::is_same_v<To, float>) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = float(int64_t(in[i]) - p.in_zp) * p.scale;
  }
}

// Values that do not lie side by side pass through a buffer where they do.
template <typename From, typename To>
void convertRow(const ConvertParams &p, Isa isa, To *out, int64_t so,
                const From *in, int64_t si, int64_t count) {
  if (!p.quantize) {
    for (int64_t i = 0; i < count; ++i)
      out[i * so] = castValue<From, To>(in[i * si]);
    return;
  }
  constexpr int64_t kChunk = 256;
  From values[kChunk];
  To results[kChunk];
  int64_t step = so == 1 && si == 1 ? count : kChunk;
  for (int64_t at = 0; at < count; at += step) {
    int64_t n = std::min(step, count - at);
    const From *from = in + at * si;
    To *to = out + at * so;
    for (int64_t i = 0; si != 1 && i < n; ++i)
      values[i] = from[i * si];
    const From *x = si == 1 ? from : values;
    To *y = so == 1 ? to : results;
    vectorise(isa, [&]() NPU_INLINE { convertDense<From, To>(p, y, x, n); });
    for (int64_t i = 0; so != 1 && i < n; ++i)
      to[i * so] = results[i];
  }
}

template <typename F> void withType(DType type, const F &f) {
  switch (type) {
  case DType::kI8:
    return f(int8_t{});
  case DType::kU8:
    return f(uint8_t{});
  case DType::kBool:
    return f(Bool{});
  case DType::kI16:
    return f(int16_t{});
  case DType::kI32:
    return f(int32_t{});
  case DType::kI64:
    return f(int64_t{});
  case DType::kF32:
    return f(float{});
  case DType::kF16: // refused by validateCommand
    return;
  }
}

} // namespace

void runBinary(const Command &command, Context &context) {
  switch (command.params.binary.kind) {
  case BinaryKind::kAdd:
    return binaryOfKind<BinaryKind::kAdd>(command, context);
  case BinaryKind::kSub:
    return binaryOfKind<BinaryKind::kSub>(command, context);
  case BinaryKind::kMul:
    return binaryOfKind<BinaryKind::kMul>(command, context);
  case BinaryKind::kDiv:
    return binaryOfKind<BinaryKind::kDiv>(command, context);
  case BinaryKind::kMin:
    return binaryOfKind<BinaryKind::kMin>(command, context);
  case BinaryKind::kMax:
    return binaryOfKind<BinaryKind::kMax>(command, context);
  case BinaryKind::kPow:
    return binaryOfKind<BinaryKind::kPow>(command, context);
  case BinaryKind::kPrelu:
    return binaryOfKind<BinaryKind::kPrelu>(command, context);
  }
}

void runUnary(const Command &command, Context &context) {
  const UnaryParams &p = command.params.unary;
  Strided<2> s(command, *context.memory);
  int64_t so = s.loop.innerStride(0), si = s.loop.innerStride(1);
  forEachRow(
      s.loop, *context.pool,
      [&](const std::array<int64_t, 2> &at, int64_t from, int64_t count) {
        int64_t o = at[0] + from * so, a = at[1] + from * si;
        if (s.views[0].dtype() == DType::kI32) {
          auto *out = s.views[0].as<int32_t>() + o;
          auto *in = s.views[1].as<int32_t>() + a;
          for (int64_t i = 0; i < count; ++i) {
            int64_t x = in[i * si];
            if (p.function == Function::kNeg)
              x = -x;
            else if (p.function == Function::kAbs)
              x = x < 0 ? -x : x;
            else // kClip, in double: every i32 is exact
              x = castValue<double, int32_t>(std::min(
                  std::max(double(x), double(p.alpha)), double(p.beta)));
            out[i * so] = int32_t(x);
          }
          return;
        }
        auto *out = s.views[0].as<float>() + o;
        auto *in = s.views[1].as<float>() + a;
        for (int64_t i = 0; i < count; ++i)
          out[i * so] = apply(p.function, in[i * si], p.alpha, p.beta);
      });
}

void runLut(const Command &command, Context &context) {
  Strided<2> s(command, *context.memory);
  const int8_t *table = auxOf<int8_t>(command, 0, *context.memory);
  const MatrixLoops &loops = matrixLoops(context.isa);
  int64_t so = s.loop.innerStride(0), si = s.loop.innerStride(1);
  forEachRow(
      s.loop, *context.pool,
      [&](const std::array<int64_t, 2> &at, int64_t from, int64_t count) {
        auto *out = s.views[0].as<int8_t>() + at[0] + from * so;
        auto *in = s.views[1].as<int8_t>() + at[1] + from * si;
        if (so == 1 && si == 1)
          return loops.lookUp(in, count, table, out);
        for (int64_t i = 0; i < count; ++i)
          out[i * so] = table[in[i * si] + 128];
      });
}

void runConvert(const Command &command, Context &context) {
  const ConvertParams &p = command.params.convert;
  Strided<2> s(command, *context.memory);
  int64_t so = s.loop.innerStride(0), si = s.loop.innerStride(1);
  forEachRow(
      s.loop, *context.pool,
      [&](const std::array<int64_t, 2> &at, int64_t from, int64_t count) {
        withType(s.views[1].dtype(), [&](auto x) {
          withType(s.views[0].dtype(), [&](auto y) {
            using From = decltype(x);
            using To = decltype(y);
            convertRow(p, context.isa, s.views[0].as<To>() + at[0] + from * so,
                       so, s.views[1].as<From>() + at[1] + from * si, si,
                       count);
          });
        });
      });
}

} // namespace npu::rt
