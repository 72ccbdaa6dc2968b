// Pools, reductions, softmax and arg max.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels/families.h"
#include "runtime/kernels/iterate.h"
#include "runtime/kernels/numerics.h"
#include "runtime/kernels/vectorise.h"

namespace npu::rt {

namespace {

// Integers wrap.
template <typename T> T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else
    return a + b;
}
template <typename T> T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(std::make_unsigned_t<T>(a) * std::make_unsigned_t<T>(b));
  else
    return a * b;
}

struct Window {
  int64_t y0, y1, x0, x1; ///< kernel taps inside the input
  int64_t inside() const { return (y1 - y0) * (x1 - x0); }
};

// Taps k in [from, to) with 0 <= start + k * dilation < size.
void clip(int64_t start, int64_t kernel, int64_t dilation, int64_t size,
          int64_t *from, int64_t *to) {
  *from = start < 0 ? (-start + dilation - 1) / dilation : 0;
  *to = start >= size
            ? 0
            : std::min(kernel, (size - start + dilation - 1) / dilation);
  *to = std::max(*to, *from);
}

template <typename T, typename Acc, typename Store>
void poolRows(const Command &command, Context &context, Acc identity,
              const Store &store) {
  const PoolParams &p = command.params.pool;
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  int64_t channels = out.dim(3), oh = out.dim(1);
  context.pool->parallelFor(out.dim(0) * oh, [&](int64_t row, int thread) {
    int64_t n = row / oh, y = row % oh;
    auto *acc = reinterpret_cast<Acc *>(
        context.scratch[thread].get(channels * sizeof(Acc)));
    int64_t top = y * p.stride[0] - p.pad[0];
    for (int64_t x = 0; x < out.dim(2); ++x) {
      int64_t left = x * p.stride[1] - p.pad[1];
      Window w;
      clip(top, p.kernel[0], p.dilation[0], in.dim(1), &w.y0, &w.y1);
      clip(left, p.kernel[1], p.dilation[1], in.dim(2), &w.x0, &w.x1);
      std::fill_n(acc, channels, identity);
      for (int64_t ky = w.y0; ky < w.y1; ++ky)
        for (int64_t kx = w.x0; kx < w.x1; ++kx) {
          const T *from = in.as<T>() + n * in.stride(0) +
                          (top + ky * p.dilation[0]) * in.stride(1) +
                          (left + kx * p.dilation[1]) * in.stride(2);
          vectorise(context.isa, [&]() NPU_INLINE {
            Acc *sums = acc;
            const T *values = from;
            if (p.kind == PoolKind::kMax)
              for (int64_t c = 0; c < channels; ++c)
                sums[c] = values[c] > sums[c] ? Acc(values[c]) : sums[c];
            else
              for (int64_t c = 0; c < channels; ++c)
                sums[c] = add<Acc>(sums[c], values[c]);
          });
        }
      // With padding counted, the window ends where the padded input does.
      int64_t count = w.inside();
      if (p.count_include_pad) {
        int64_t bottom =
            std::min<int64_t>(top + int64_t(p.kernel[0]) * p.dilation[0],
                              in.dim(1) + int64_t(p.pad[2]));
        int64_t right = std::min<int64_t>(
            left + int64_t(p.kernel[1]) * p.dilation[1], in.dim(2) + p.pad[3]);
        count = ((bottom - top + p.dilation[0] - 1) / p.dilation[0]) *
                ((right - left + p.dilation[1] - 1) / p.dilation[1]);
      }
      store(acc, channels, w.inside(), std::max<int64_t>(1, count),
            out.as<T>() + n * out.stride(0) + y * out.stride(1) +
                x * out.stride(2));
    }
  });
}

} // namespace

void runPool2d(const Command &command, Context &context) {
  const PoolParams &p = command.params.pool;
  bool isMax = p.kind == PoolKind::kMax;
  if (command.operands[0].dtype == DType::kF32) {
    float identity = isMax ? -std::numeric_limits<float>::infinity() : 0;
    return poolRows<float, float>(
        command, context, identity,
        [&](const float *acc, int64_t n, int64_t, int64_t count, float *out) {
          for (int64_t c = 0; c < n; ++c)
            out[c] = isMax ? acc[c] : acc[c] / float(count);
        });
  }
  poolRows<int8_t, int32_t>(
      command, context, isMax ? -128 : 0,
      [&](const int32_t *acc, int64_t n, int64_t inside, int64_t count,
          int8_t *out) {
        float multiplier = p.multiplier / float(count);
        for (int64_t c = 0; c < n; ++c)
          out[c] = isMax ? int8_t(std::clamp(acc[c], p.lo, p.hi))
                         : int8_t(roundClamp(
                               float(wrapSub(
                                   acc[c], wrapMul(int32_t(inside), p.in_zp))) *
                                   multiplier,
                               p.out_zp, p.lo, p.hi));
      });
}

namespace {

// A reduction is two nested walks: over the output, and for each of its
// elements over the reduced dimensions.
struct Reduction {
  View out, in;
  int kept = 0, gone = 0;
  int64_t keptDims[kMaxRank], keptOut[kMaxRank], keptIn[kMaxRank];
  int64_t goneDims[kMaxRank], goneIn[kMaxRank];
  int64_t outputs = 1, inputs = 1;

  Reduction(const Command &command, const MemoryMap &memory)
      : out(viewOf(command, 0, memory)), in(viewOf(command, 1, memory)) {
    for (int i = 0; i < in.rank(); ++i) {
      if (command.params.reduce.axes >> i & 1) {
        goneDims[gone] = in.dim(i);
        goneIn[gone++] = in.stride(i);
        inputs *= in.dim(i);
      } else {
        keptDims[kept] = in.dim(i);
        keptOut[kept] = out.stride(i);
        keptIn[kept++] = in.stride(i);
        outputs *= in.dim(i);
      }
    }
  }
  void offsets(int64_t index, int64_t *o, int64_t *i) const {
    *o = *i = 0;
    for (int d = kept - 1; d >= 0; --d) {
      int64_t x = index % keptDims[d];
      index /= keptDims[d];
      *o += x * keptOut[d];
      *i += x * keptIn[d];
    }
  }
  int64_t inner(int64_t index) const {
    int64_t i = 0;
    for (int d = gone - 1; d >= 0; --d) {
      i += index % goneDims[d] * goneIn[d];
      index /= goneDims[d];
    }
    return i;
  }
};

template <typename T, typename Acc> Acc identityOf(ReduceKind kind) {
  using Limits = std::numeric_limits<T>;
  switch (kind) {
  case ReduceKind::kMax:
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  case ReduceKind::kMin:
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  case ReduceKind::kProd:
    return 1;
  default:
    return 0;
  }
}

template <typename Acc>
NPU_INLINE inline Acc combine(ReduceKind kind, Acc acc, Acc x) {
  switch (kind) {
  case ReduceKind::kMean:
  case ReduceKind::kSum:
    return add(acc, x);
  case ReduceKind::kMax:
    return std::max(acc, x);
  case ReduceKind::kMin:
    return std::min(acc, x);
  case ReduceKind::kProd:
    return multiply(acc, x);
  case ReduceKind::kSumSquare:
    return add(acc, multiply(x, x));
  }
  return acc;
}

// f(kind as a constant): loops over it have no switch inside.
template <typename F> void withKind(ReduceKind kind, const F &f) {
  switch (kind) {
  case ReduceKind::kMean:
  case ReduceKind::kSum:
    return f(std::integral_constant<ReduceKind, ReduceKind::kSum>());
  case ReduceKind::kMax:
    return f(std::integral_constant<ReduceKind, ReduceKind::kMax>());
  case ReduceKind::kMin:
    return f(std::integral_constant<ReduceKind, ReduceKind::kMin>());
  case ReduceKind::kProd:
    return f(std::integral_constant<ReduceKind, ReduceKind::kProd>());
  case ReduceKind::kSumSquare:
    return f(std::integral_constant<ReduceKind, ReduceKind::kSumSquare>());
  }
}

// The last reduced dimension is walked without divisions.
template <typename T, typename Acc>
Acc reduceOne(ReduceKind kind, const Reduction &r, const T *in) {
  Acc acc = identityOf<T, Acc>(kind);
  int64_t run = r.gone ? r.goneDims[r.gone - 1] : 1;
  int64_t step = r.gone ? r.goneIn[r.gone - 1] : 0;
  withKind(kind, [&](auto constant) {
    for (int64_t i = 0; i < r.inputs; i += run) {
      const T *from = in + r.inner(i);
      for (int64_t j = 0; j < run; ++j)
        acc = combine<Acc>(constant, acc, from[j * step]);
    }
  });
  return acc;
}

// `count` outputs whose inputs lie side by side, in the same order each.
template <typename T, typename Acc>
void reduceColumns(ReduceKind kind, Isa isa, const Reduction &r, const T *in,
                   int64_t count, Acc *acc) {
  std::fill_n(acc, count, identityOf<T, Acc>(kind));
  withKind(kind, [&](auto constant) {
    for (int64_t i = 0; i < r.inputs; ++i) {
      const T *from = in + r.inner(i);
      vectorise(isa, [&]() NPU_INLINE {
        Acc *sums = acc;
        const T *values = from;
        const int64_t n = count;
        for (int64_t c = 0; c < n; ++c)
          sums[c] = combine<Acc>(constant, sums[c], Acc(values[c]));
      });
    }
  });
}

// A mean of integers truncates.
template <typename T>
int64_t reduceInteger(ReduceKind kind, const Reduction &r, const T *in) {
  int64_t acc = reduceOne<T, int64_t>(kind, r, in);
  return kind == ReduceKind::kMean ? acc / r.inputs : acc;
}

float finish(const ReduceParams &p, const Reduction &r, double acc) {
  return float(p.kind == ReduceKind::kMean ? acc / double(r.inputs) : acc);
}

int8_t finish(const ReduceParams &p, const Reduction &r, int32_t acc) {
  if (p.kind != ReduceKind::kMean && p.kind != ReduceKind::kSum)
    return int8_t(acc);
  int64_t count = p.kind == ReduceKind::kMean ? r.inputs : 1;
  float multiplier = p.multiplier / float(count);
  return int8_t(roundClamp(
      float(wrapSub(acc, wrapMul(int32_t(r.inputs), p.in_zp))) * multiplier,
      p.out_zp, p.lo, p.hi));
}

// Outputs [from, to) of f32 or i8.
template <typename T, typename Acc>
void reduceRange(const ReduceParams &p, Isa isa, const Reduction &r,
                 int64_t from, int64_t to) {
  const T *in = r.in.as<T>();
  T *out = r.out.as<T>();
  constexpr int64_t kMost = 64;
  bool columns = r.kept > 0 && r.gone > 0 && r.keptIn[r.kept - 1] == 1;
  for (int64_t at = from; at < to;) {
    int64_t o, i, n = 1;
    r.offsets(at, &o, &i);
    Acc acc[kMost];
    if (columns) {
      int64_t row = r.keptDims[r.kept - 1];
      n = std::min({kMost, to - at, row - at % row});
      reduceColumns<T, Acc>(p.kind, isa, r, in + i, n, acc);
    } else {
      acc[0] = reduceOne<T, Acc>(p.kind, r, in + i);
    }
    for (int64_t c = 0; c < n; ++c)
      out[o + c * (columns ? r.keptOut[r.kept - 1] : 0)] = finish(p, r, acc[c]);
    at += n;
  }
}

} // namespace

void runReduce(const Command &command, Context &context) {
  const ReduceParams &p = command.params.reduce;
  Reduction r(command, *context.memory);
  constexpr int64_t kStep = 64;
  int64_t pieces = (r.outputs + kStep - 1) / kStep;
  context.pool->parallelFor(pieces, [&](int64_t piece, int) {
    int64_t from = piece * kStep, to = std::min(r.outputs, from + kStep);
    DType type = r.out.dtype();
    if (type == DType::kF32)
      return reduceRange<float, double>(p, context.isa, r, from, to);
    if (type == DType::kI8)
      return reduceRange<int8_t, int32_t>(p, context.isa, r, from, to);
    for (int64_t at = from; at < to; ++at) {
      int64_t o, i;
      r.offsets(at, &o, &i);
      if (type == DType::kI32)
        r.out.as<int32_t>()[o] =
            int32_t(reduceInteger(p.kind, r, r.in.as<int32_t>() + i));
      else
        r.out.as<int64_t>()[o] =
            reduceInteger(p.kind, r, r.in.as<int64_t>() + i);
    }
  });
}

namespace {

void softmaxF32(const float *in, int64_t si, float *out, int64_t so,
                int64_t n) {
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; ++i)
    most = std::max(most, in[i * si]);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    float e = std::exp(in[i * si] - most);
    out[i * so] = e;
    sum += e;
  }
  float scale = float(1 / sum);
  for (int64_t i = 0; i < n; ++i)
    out[i * so] *= scale;
}

// The table, not exp(), so that every machine gives the same integers.
template <typename Out>
void softmaxI8(const SoftmaxParams &p, const float *table, const int8_t *in,
               int64_t si, Out *out, int64_t so, int64_t n) {
  int most = -128;
  for (int64_t i = 0; i < n; ++i)
    most = std::max<int>(most, in[i * si]);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += table[most - in[i * si]];
  float divisor = float(sum);
  for (int64_t i = 0; i < n; ++i) {
    float x = table[most - in[i * si]] / divisor;
    if constexpr (std::is_same_v<Out, float>)
      out[i * so] = x;
    else
      out[i * so] = int8_t(roundClamp(x * p.multiplier, p.out_zp, -128, 127));
  }
}

// Runs body(out offset, in offset) for each row along the last dimension.
template <typename F>
void forEachVector(const View &out, const View &in, ThreadPool &pool,
                   const F &body) {
  int last = in.rank() - 1;
  int64_t rows = in.count() / in.dim(last);
  int64_t step = std::max<int64_t>(1, 1024 / in.dim(last));
  pool.parallelFor((rows + step - 1) / step, [&](int64_t piece, int) {
    for (int64_t row = piece * step; row < std::min(rows, (piece + 1) * step);
         ++row) {
      int64_t o = 0, i = 0;
      for (int64_t d = last - 1, rest = row; d >= 0; --d) {
        o += rest % in.dim(d) * out.stride(d);
        i += rest % in.dim(d) * in.stride(d);
        rest /= in.dim(d);
      }
      body(o, i);
    }
  });
}

template <typename T> int64_t argMax(const T *in, int64_t stride, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (in[i * stride] > in[best * stride])
      best = i;
  return best;
}

} // namespace

void runSoftmax(const Command &command, Context &context) {
  const SoftmaxParams &p = command.params.softmax;
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  int last = in.rank() - 1;
  int64_t n = in.dim(last), so = out.stride(last), si = in.stride(last);
  const auto *table = auxOf<float>(command, 0, *context.memory);
  forEachVector(out, in, *context.pool, [&](int64_t o, int64_t i) {
    if (in.dtype() == DType::kF32)
      softmaxF32(in.as<float>() + i, si, out.as<float>() + o, so, n);
    else if (out.dtype() == DType::kF32)
      softmaxI8(p, table, in.as<int8_t>() + i, si, out.as<float>() + o, so, n);
    else
      softmaxI8(p, table, in.as<int8_t>() + i, si, out.as<int8_t>() + o, so, n);
  });
}

void runArgMax(const Command &command, Context &context) {
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  int last = in.rank() - 1;
  int64_t n = in.dim(last), si = in.stride(last);
  forEachVector(out, in, *context.pool, [&](int64_t o, int64_t i) {
    int64_t best;
    switch (in.dtype()) {
    case DType::kF32:
      best = argMax(in.as<float>() + i, si, n);
      break;
    case DType::kI8:
      best = argMax(in.as<int8_t>() + i, si, n);
      break;
    default:
      best = argMax(in.as<int32_t>() + i, si, n);
      break;
    }
    if (out.dtype() == DType::kI32)
      out.as<int32_t>()[o] = int32_t(best);
    else
      out.as<int64_t>()[o] = best;
  });
}

} // namespace npu::rt
