// Conversions between element types.
#include <cstring>

#include "runtime/kernels/numerics.h"
#include "runtime/kernels/rows.h"
#include "runtime/kernels/vectorise.h"
#include "runtime/support/half.h"

namespace npu::rt {

namespace {

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

// Their bits; they are converted by way of f32.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

template <typename From, typename To> To castValue(From x) {
  if constexpr (std::is_same_v<From, Bool>)
    return castValue<uint8_t, To>(x.byte != 0);
  else if constexpr (std::is_same_v<From, Half>)
    return castValue<float, To>(halfToFloat(x.bits));
  else if constexpr (std::is_same_v<From, Brain>)
    return castValue<float, To>(bfloatToFloat(x.bits));
  else if constexpr (std::is_same_v<To, Bool>)
    return Bool{uint8_t(x != 0)};
  else if constexpr (std::is_same_v<To, Half>)
    return Half{halfFromFloat(castNumber<From, float>(x))};
  else if constexpr (std::is_same_v<To, Brain>)
    return Brain{bfloatFromFloat(castNumber<From, float>(x))};
  else
    return castNumber<From, To>(x);
}

template <typename T> struct Range {
  static constexpr int32_t lo = std::numeric_limits<T>::min();
  static constexpr int32_t hi = std::numeric_limits<T>::max();
};

template <typename T>
constexpr bool kQuantizes =
    std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> ||
    std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t> ||
    std::is_same_v<T, float>;

template <typename From, typename To>
NPU_INLINE inline void convertDense(ConvertParams p, To *out, const From *in,
                                    int64_t count) {
  constexpr bool kNarrow = std::is_integral_v<To> && sizeof(To) <= 2;
  if constexpr (!kQuantizes<From> || !kQuantizes<To>) {
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
  case DType::kF16:
    return f(Half{});
  case DType::kU16:
    return f(uint16_t{});
  case DType::kU32:
    return f(uint32_t{});
  case DType::kU64:
    return f(uint64_t{});
  case DType::kF64:
    return f(double{});
  case DType::kBF16:
    return f(Brain{});
  }
}

} // namespace

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
