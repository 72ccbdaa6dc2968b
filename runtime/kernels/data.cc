// Copies, fills, gather and resize.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/families.h"
#include "runtime/kernels/iterate.h"
#include "runtime/kernels/numerics.h"
#include "runtime/kernels/vectorise.h"

namespace npu::rt {

namespace {

template <typename T>
void copyRow(T *out, int64_t so, const T *in, int64_t si, int64_t n) {
  if (so == 1 && si == 1) {
    std::memmove(out, in, n * sizeof(T)); // a hostile program may overlap
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    out[i * so] = in[i * si];
}

template <typename T>
void copy(const View &out, const View &in, ThreadPool &pool) {
  Loop<2> loop({&out, &in});
  int64_t rows = loop.rows(), inner = loop.inner();
  int64_t step = std::max<int64_t>(1, 16384 / inner);
  pool.parallelFor((rows + step - 1) / step, [&](int64_t piece, int) {
    for (int64_t row = piece * step; row < std::min(rows, (piece + 1) * step);
         ++row) {
      std::array<int64_t, 2> at = loop.offsets(row);
      copyRow(out.as<T>() + at[0], loop.innerStride(0), in.as<T>() + at[1],
              loop.innerStride(1), inner);
    }
  });
}

template <typename F> void withSize(int size, const F &f) {
  switch (size) {
  case 1:
    return f(uint8_t{});
  case 2:
    return f(uint16_t{});
  case 4:
    return f(uint32_t{});
  default:
    return f(uint64_t{});
  }
}

} // namespace

void runDma(const Command &command, Context &context) {
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  withSize(sizeOf(out.dtype()),
           [&](auto zero) { copy<decltype(zero)>(out, in, *context.pool); });
}

void runFill(const Command &command, Context &context) {
  View out = viewOf(command, 0, *context.memory);
  Loop<1> loop({&out});
  withSize(sizeOf(out.dtype()), [&](auto zero) {
    using T = decltype(zero);
    T value = T(command.params.fill.bits);
    for (int64_t row = 0; row < loop.rows(); ++row) {
      T *to = out.as<T>() + loop.offsets(row)[0];
      for (int64_t i = 0; i < loop.inner(); ++i)
        to[i * loop.innerStride(0)] = value;
    }
  });
}

void runGather(const Command &command, Context &context) {
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  int axis = command.params.gather.axis;
  const auto *indices = auxOf<int32_t>(command, 0, *context.memory);
  // One copy a picked index, of the view without that dimension.
  Operand o = *out.operand, i = *in.operand;
  o.dims[axis] = i.dims[axis] = 1;
  int size = sizeOf(out.dtype());
  for (int64_t at = 0; at < out.dim(axis); ++at) {
    View to{out.data + at * out.stride(axis) * size, &o};
    View from{in.data + indices[at] * in.stride(axis) * size, &i};
    withSize(size,
             [&](auto zero) { copy<decltype(zero)>(to, from, *context.pool); });
  }
}

namespace {

template <typename T, typename Round>
void resizeLinear(const View &out, const View &in, const ResizeTap *rows,
                  const ResizeTap *columns, float zero, Context &context,
                  const Round &round) {
  int64_t oh = out.dim(1), channels = out.dim(3);
  context.pool->parallelFor(out.dim(0) * oh, [&](int64_t row, int) {
    int64_t n = row / oh, y = row % oh;
    const ResizeTap h = rows[y];
    const T *image = in.as<T>() + n * in.stride(0);
    for (int64_t x = 0; x < out.dim(2); ++x) {
      const ResizeTap w = columns[x];
      const T *v00 = image + h.i0 * in.stride(1) + w.i0 * in.stride(2);
      const T *v01 = image + h.i0 * in.stride(1) + w.i1 * in.stride(2);
      const T *v10 = image + h.i1 * in.stride(1) + w.i0 * in.stride(2);
      const T *v11 = image + h.i1 * in.stride(1) + w.i1 * in.stride(2);
      T *to = out.as<T>() + n * out.stride(0) + y * out.stride(1) +
              x * out.stride(2);
      vectorise(context.isa, [&]() NPU_INLINE {
        const T *a = v00, *b = v01, *c = v10, *d = v11;
        T *result = to;
        const float z = zero, w0 = w.w0, w1 = w.w1, h0 = h.w0, h1 = h.w1;
        const Round last = round;
        const int64_t n = channels;
        for (int64_t i = 0; i < n; ++i) {
          float t0 = (float(a[i]) - z) * w0 + (float(b[i]) - z) * w1;
          float t1 = (float(c[i]) - z) * w0 + (float(d[i]) - z) * w1;
          result[i] = last(t0 * h0 + t1 * h1);
        }
      });
    }
  });
}

} // namespace

void runResize2d(const Command &command, Context &context) {
  const ResizeParams &p = command.params.resize;
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  const auto *rows = auxOf<ResizeTap>(command, 0, *context.memory);
  const auto *columns = auxOf<ResizeTap>(command, 1, *context.memory);
  if (p.nearest) {
    int size = sizeOf(out.dtype());
    int64_t oh = out.dim(1), bytes = out.dim(3) * size;
    context.pool->parallelFor(out.dim(0) * oh, [&](int64_t row, int) {
      int64_t n = row / oh, y = row % oh;
      for (int64_t x = 0; x < out.dim(2); ++x)
        std::memmove(out.data + (n * out.stride(0) + y * out.stride(1) +
                                 x * out.stride(2)) *
                                    size,
                     in.data + (n * in.stride(0) + rows[y].i0 * in.stride(1) +
                                columns[x].i0 * in.stride(2)) *
                                   size,
                     bytes);
    });
    return;
  }
  if (out.dtype() == DType::kF32)
    resizeLinear<float>(out, in, rows, columns, 0, context,
                        [](float x) { return x; });
  else
    resizeLinear<int8_t>(out, in, rows, columns, float(p.in_zp), context,
                         [multiplier = p.multiplier, zero = p.out_zp](float x) {
                           return int8_t(
                               roundClamp(x * multiplier, zero, -128, 127));
                         });
}

} // namespace npu::rt
