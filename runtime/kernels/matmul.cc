// Products of two activations, and the vector engine's share of convolutions.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/families.h"
#include "runtime/kernels/iterate.h"
#include "runtime/kernels/matrix.h"
#include "runtime/kernels/numerics.h"

namespace npu::rt {

static void applyFunction(float *x, int64_t count, Function f, float a,
                          float b) {
  if (f == Function::kIdentity)
    return;
  if (f == Function::kClip) { // by far the most frequent
    for (int64_t i = 0; i < count; ++i)
      x[i] = std::min(std::max(x[i], a), b);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    x[i] = apply(f, x[i], a, b);
}

void epilogueF32(float *values, int64_t count, const Epilogue &e,
                 const float *residual) {
  applyFunction(values, count, e.function, e.alpha, e.beta);
  if (!residual)
    return;
  for (int64_t i = 0; i < count; ++i)
    values[i] = std::min(std::max(values[i] + residual[i], e.flo2), e.fhi2);
}

namespace {

// Offsets in elements of the last two dimensions' matrix number `batch`.
int64_t batchOffset(const View &v, int64_t batch) {
  int64_t offset = 0;
  for (int i = v.rank() - 3; i >= 0; --i) {
    offset += batch % v.dim(i) * v.stride(i);
    batch /= v.dim(i);
  }
  return offset;
}

struct Product {
  View out, a, b, residual;
  int r;
  int64_t m, n, k, batches = 1;
  Product(const Command &command, const MemoryMap &memory)
      : out(viewOf(command, 0, memory)), a(viewOf(command, 1, memory)),
        b(viewOf(command, 2, memory)), residual(viewOf(command, 3, memory)),
        r(out.rank()), m(out.dim(r - 2)), n(out.dim(r - 1)), k(a.dim(r - 1)) {
    for (int i = 0; i + 2 < r; ++i)
      batches *= out.dim(i);
  }
  template <typename T>
  T *at(const View &v, int64_t batch, int64_t i, int64_t j) const {
    return v.as<T>() + batchOffset(v, batch) + i * v.stride(r - 2) +
           j * v.stride(r - 1);
  }
};

// One piece is a panel of 16 columns of one matrix of the batch.
void matmulF32(const Product &p, const Command &command, Context &context) {
  const MatmulParams &params = command.params.matmul;
  const auto *bias = auxOf<float>(command, 0, *context.memory);
  const MatrixLoops &loops = matrixLoops(context.isa);
  int64_t panels = (p.n + kPanel - 1) / kPanel;
  bool rowsDense = p.a.stride(p.r - 1) == 1;
  context.pool->parallelFor(p.batches * panels, [&](int64_t piece, int thread) {
    int64_t batch = piece / panels, column = piece % panels * kPanel;
    int64_t width = std::min<int64_t>(kPanel, p.n - column);
    auto *panel = reinterpret_cast<float *>(context.scratch[thread].get(
        (p.k * kPanel + kTileRows * p.k) * sizeof(float)));
    float *copies = panel + p.k * kPanel;
    const float *b = p.at<float>(p.b, batch, 0, column);
    int64_t down = p.b.stride(p.r - 2), across = p.b.stride(p.r - 1);
    for (int64_t i = 0; i < p.k; ++i)
      for (int64_t j = 0; j < kPanel; ++j)
        panel[i * kPanel + j] = j < width ? b[i * down + j * across] : 0;
    alignas(64) float acc[kTileRows * kPanel], init[kPanel];
    for (int64_t j = 0; j < kPanel; ++j)
      init[j] = bias && j < width ? bias[column + j] : 0;
    for (int64_t i = 0; i < p.m; i += kTileRows) {
      int tile = int(std::min<int64_t>(kTileRows, p.m - i));
      const float *rows[kTileRows];
      for (int t = 0; t < tile; ++t) {
        rows[t] = p.at<float>(p.a, batch, i + t, 0);
        if (rowsDense)
          continue;
        for (int64_t x = 0; x < p.k; ++x)
          copies[t * p.k + x] = *p.at<float>(p.a, batch, i + t, x);
        rows[t] = copies + t * p.k;
      }
      loops.gemmF32(tile, rows, panel, p.k, init, acc);
      for (int t = 0; t < tile; ++t) {
        float residual[kPanel];
        bool add = params.epilogue.flags & kResidualFlag;
        for (int64_t j = 0; add && j < width; ++j)
          residual[j] = *p.at<float>(p.residual, batch, i + t, column + j);
        epilogueF32(acc + t * kPanel, width, params.epilogue,
                    add ? residual : nullptr);
        for (int64_t j = 0; j < width; ++j)
          *p.at<float>(p.out, batch, i + t, column + j) = acc[t * kPanel + j];
      }
    }
  });
}

void matmulI8(const Product &p, const Command &command, Context &context) {
  const MatmulParams &params = command.params.matmul;
  const auto *bias = auxOf<int32_t>(command, 0, *context.memory);
  const MatrixLoops &loops = matrixLoops(context.isa);
  EpilogueI8 epilogue{&params.epilogue,
                      auxOf<float>(command, 1, *context.memory),
                      params.epilogue.flags & kLutFlag
                          ? auxOf<int8_t>(command, 2, *context.memory)
                          : nullptr};
  int64_t panels = (p.n + kPanel - 1) / kPanel, pairs = (p.k + 1) / 2;
  context.pool->parallelFor(p.batches * panels, [&](int64_t piece, int thread) {
    int64_t batch = piece / panels, column = piece % panels * kPanel;
    int64_t width = std::min<int64_t>(kPanel, p.n - column);
    int64_t panelBytes = pairs * 2 * kPanel;
    uint8_t *memory = context.scratch[thread].get(
        panelBytes + kTileRows * pairs * 2 * sizeof(int16_t));
    auto *panel = reinterpret_cast<int8_t *>(memory);
    auto *rows = reinterpret_cast<int16_t *>(memory + panelBytes);
    std::memset(panel, 0, panelBytes);
    const int8_t *b = p.at<int8_t>(p.b, batch, 0, column);
    int64_t down = p.b.stride(p.r - 2), across = p.b.stride(p.r - 1);
    for (int64_t i = 0; i < p.k; ++i)
      for (int64_t j = 0; j < width; ++j)
        panel[(i / 2 * kPanel + j) * 2 + i % 2] = b[i * down + j * across];
    alignas(64) int32_t acc[kTileRows * kPanel], init[kPanel];
    for (int64_t j = 0; j < kPanel; ++j)
      init[j] = bias && j < width ? bias[column + j] : 0;
    for (int64_t i = 0; i < p.m; i += kTileRows) {
      int tile = int(std::min<int64_t>(kTileRows, p.m - i));
      std::memset(rows, 0, kTileRows * pairs * 2 * sizeof(int16_t));
      int32_t sums[kTileRows] = {};
      for (int t = 0; t < tile; ++t) {
        const int8_t *a = p.at<int8_t>(p.a, batch, i + t, 0);
        int16_t *row = rows + t * pairs * 2;
        int64_t step = p.a.stride(p.r - 1);
        if (step == 1)
          loops.widen(a, p.k, params.a_zp, row);
        for (int64_t x = 0; step != 1 && x < p.k; ++x)
          row[x] = int16_t(a[x * step] - params.a_zp);
        for (int64_t x = 0; params.b_zp && x < p.k; ++x)
          sums[t] = wrapAdd(sums[t], row[x]);
      }
      loops.gemmI8(tile, rows, pairs * 2, panel, pairs, init, acc);
      for (int t = 0; t < tile; ++t) {
        int32_t *row = acc + t * kPanel;
        for (int64_t j = 0; j < width; ++j)
          row[j] = wrapSub(row[j], wrapMul(params.b_zp, sums[t]));
        int8_t out[kPanel], residual[kPanel];
        bool add = params.epilogue.flags & kResidualFlag;
        for (int64_t j = 0; add && j < width; ++j)
          residual[j] = *p.at<int8_t>(p.residual, batch, i + t, column + j);
        if (p.out.dtype() != DType::kI32)
          loops.requantize(row, width, column, epilogue,
                           add ? residual : nullptr, out);
        for (int64_t j = 0; j < width; ++j) {
          if (p.out.dtype() == DType::kI32)
            *p.at<int32_t>(p.out, batch, i + t, column + j) = row[j];
          else
            *p.at<int8_t>(p.out, batch, i + t, column + j) = out[j];
        }
      }
    }
  });
}

} // namespace

void runMatmul(const Command &command, Context &context) {
  Product product(command, *context.memory);
  if (product.a.dtype() == DType::kF32)
    matmulF32(product, command, context);
  else
    matmulI8(product, command, context);
}

void runVectorMac(const Command &command, Context &context) {
  const VectorMacParams &p = command.params.vector_mac;
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  View weights = viewOf(command, 2, *context.memory);
  int64_t c = out.dim(3), rows = out.dim(0) * out.dim(1);
  context.pool->parallelFor(rows, [&](int64_t row, int) {
    int64_t n = row / out.dim(1), y = row % out.dim(1);
    for (int64_t x = 0; x < out.dim(2); ++x) {
      auto *to = out.as<int32_t>() + n * out.stride(0) + y * out.stride(1) +
                 x * out.stride(2);
      auto *from = in.as<int8_t>() + n * in.stride(0) + y * in.stride(1) +
                   x * in.stride(2);
      for (int64_t i = 0; i < c; ++i) {
        int32_t product =
            (from[i] - p.in_zp) * (weights.as<int8_t>()[i] - p.w_zp);
        to[i] = p.first ? product : wrapAdd(to[i], product);
      }
    }
  });
}

void runRequantize(const Command &command, Context &context) {
  const Epilogue &p = command.params.requantize.epilogue;
  View out = viewOf(command, 0, *context.memory);
  View in = viewOf(command, 1, *context.memory);
  View residual = viewOf(command, 3, *context.memory);
  bool add = p.flags & kResidualFlag;
  const auto *bias = auxOf<int32_t>(command, 0, *context.memory);
  EpilogueI8 epilogue{&p, auxOf<float>(command, 1, *context.memory),
                      p.flags & kLutFlag
                          ? auxOf<int8_t>(command, 2, *context.memory)
                          : nullptr};
  const MatrixLoops &loops = matrixLoops(context.isa);
  int last = out.rank() - 1;
  int64_t c = out.dim(last), rows = out.count() / c;
  context.pool->parallelFor(rows, [&](int64_t row, int thread) {
    int64_t o = 0, i = 0, r = 0;
    for (int d = last - 1, rest = int(row); d >= 0; --d) {
      int64_t index = rest % out.dim(d);
      rest /= int(out.dim(d));
      o += index * out.stride(d);
      i += index * in.stride(d);
      r += add ? index * residual.stride(d) : 0;
    }
    auto *acc = reinterpret_cast<int32_t *>(
        context.scratch[thread].get(c * sizeof(int32_t)));
    for (int64_t x = 0; x < c; ++x)
      acc[x] = wrapAdd(in.as<int32_t>()[i + x], bias ? bias[x] : 0);
    loops.requantize(acc, c, 0, epilogue,
                     add ? residual.as<int8_t>() + r : nullptr,
                     out.as<int8_t>() + o);
  });
}

} // namespace npu::rt
