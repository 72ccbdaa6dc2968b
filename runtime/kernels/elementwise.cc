// Binary, unary and LUT commands.
#include <cstring>

#include "runtime/kernels/families.h"
#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"
#include "runtime/kernels/rows.h"
#include "runtime/kernels/vectorise.h"

namespace npu::rt {

namespace {

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
  default: // refused by validateCommand
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
  case BinaryKind::kRem:
    return std::fmod(x, y);
  default: // refused by validateCommand
    break;
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
        if (s.views[0].dtype() == DType::kI8)
          return run(
              int8_t{}, [&](int8_t *out, const int8_t *x, const int8_t *y) {
                rowI8<kKind>(p, context.isa, lut, out, so, x, sa, y, sb, count);
              });
        run(0.0f, [&](float *out, const float *x, const float *y) {
          rowF32<kKind>(p, out, so, x, sa, y, sb, count);
        });
      });
}

// In double, where every i32 is exact; bounds beyond the range saturate.
int32_t clipI32(int64_t x, float low, float high) {
  double value = std::min(std::max(double(x), double(low)), double(high));
  return int32_t(
      std::min(std::max(std::trunc(value), -2147483648.0), 2147483647.0));
}

} // namespace

void runBinary(const Command &command, Context &context) {
  DType type = command.operands[0].dtype;
  if (type != DType::kI8 && type != DType::kF32)
    return runBinaryInteger(command, context);
#define KIND(NAME)                                                             \
  case BinaryKind::NAME:                                                       \
    return binaryOfKind<BinaryKind::NAME>(command, context);
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
  default: // refused by validateCommand
    return;
  }
#undef KIND
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
            else // kClip
              x = clipI32(x, p.alpha, p.beta);
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

} // namespace npu::rt
