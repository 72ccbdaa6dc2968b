#include <cmath>
#include <limits>

#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

//===- Pools --------------------------------------------------------------===//

Array poolReference(const Case &c) {
  const PoolParams &p = c.command.params.pool;
  Array out = c.arrays[0];
  const Array &in = c.arrays[1];
  bool f32 = out.type == DType::kF32;
  forEachIndex(out.dims, [&](const Index &at) {
    double sum = 0, most = -HUGE_VAL;
    int64_t inside = 0;
    for (int64_t ky = 0; ky < p.kernel[0]; ++ky)
      for (int64_t kx = 0; kx < p.kernel[1]; ++kx) {
        int64_t y = at[1] * p.stride[0] - p.pad[0] + ky * p.dilation[0];
        int64_t x = at[2] * p.stride[1] - p.pad[1] + kx * p.dilation[1];
        if (y < 0 || y >= in.dims[1] || x < 0 || x >= in.dims[2])
          continue;
        Index from = {at[0], y, x, at[3]};
        double v = f32 ? in.at<float>(from) : in.at<int8_t>(from);
        sum += f32 ? v : v - p.in_zp;
        most = std::max(most, v);
        ++inside;
      }
    int64_t count = std::max<int64_t>(
        1, p.count_include_pad ? p.kernel[0] * p.kernel[1] : inside);
    if (p.kind == PoolKind::kMax) {
      if (f32)
        out.at<float>(at) = float(most);
      else
        out.at<int8_t>(at) =
            int8_t(std::min<double>(p.hi, std::max<double>(p.lo, most)));
    } else if (f32) {
      out.at<float>(at) = float(sum / double(count));
    } else {
      float multiplier = p.multiplier / float(count);
      out.at<int8_t>(at) =
          int8_t(quantizeI8(float(sum) * multiplier, p.out_zp, p.lo, p.hi));
    }
  });
  return out;
}

TEST(Pool2d, AllKinds) {
  Rng rng(1);
  for (DType type : {DType::kI8, DType::kF32})
    for (PoolKind kind : {PoolKind::kMax, PoolKind::kAverage})
      for (int i = 0; i < 80 && !HasFailure(); ++i) {
        SCOPED_TRACE(::testing::Message() << "kind " << int(kind));
        Case c = poolCase(rng, type, kind);
        Array expected = poolReference(c);
        check(c, expected, 1e-5);
      }
}

//===- Reductions ---------------------------------------------------------===//

// The reduced elements of each output, as exact integers or doubles.
template <typename T, typename F>
void reduceEach(Case &c, Array &out, const F &store) {
  const Array &in = c.arrays[1];
  forEachIndex(out.dims, [&](const Index &at) {
    std::vector<int64_t> dims = in.dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (!(c.command.params.reduce.axes >> d & 1))
        dims[d] = 1;
    std::vector<T> values;
    forEachIndex(dims, [&](const Index &inner) {
      Index from = at;
      for (size_t d = 0; d < dims.size(); ++d)
        from[d] += inner[d];
      values.push_back(in.at<T>(from));
    });
    store(at, values);
  });
}

template <typename Acc, typename T>
Acc reduceRef(ReduceKind kind, const std::vector<T> &values) {
  Acc acc = kind == ReduceKind::kProd ? 1
            : kind == ReduceKind::kMax || kind == ReduceKind::kMin
                ? Acc(values[0])
                : Acc(0);
  for (T v : values) {
    Acc x = Acc(v);
    switch (kind) {
    case ReduceKind::kMean:
    case ReduceKind::kSum:
      acc += x;
      break;
    case ReduceKind::kMax:
      acc = x > acc ? x : acc;
      break;
    case ReduceKind::kMin:
      acc = x < acc ? x : acc;
      break;
    case ReduceKind::kProd:
      acc *= x;
      break;
    case ReduceKind::kSumSquare:
      acc += x * x;
      break;
    }
  }
  return acc;
}

// Integer products wrap: only the low bits count, so unsigned is exact.
template <typename T> T integerRef(ReduceKind kind, const std::vector<T> &v) {
  if (kind == ReduceKind::kMean) // truncates
    return T(reduceRef<int64_t>(kind, v) / int64_t(v.size()));
  if (kind == ReduceKind::kProd || kind == ReduceKind::kSumSquare)
    return T(reduceRef<uint64_t>(kind, v));
  return T(reduceRef<int64_t>(kind, v));
}

TEST(Reduce, AllKindsOfAllTypes) {
  Rng rng(2);
  for (int k = 0; k <= int(ReduceKind::kSumSquare); ++k)
    for (DType type : {DType::kI8, DType::kF32, DType::kI32, DType::kI64})
      for (int i = 0; i < 30 && !HasFailure(); ++i) {
        ReduceKind kind = ReduceKind(k);
        if (type == DType::kI8 && kind >= ReduceKind::kProd)
          continue;
        SCOPED_TRACE(::testing::Message()
                     << "kind " << k << " type " << int(type));
        Case c = reduceCase(rng, type, kind);
        const ReduceParams &p = c.command.params.reduce;
        Array out = c.arrays[0];
        if (type == DType::kF32)
          reduceEach<float>(c, out, [&](const Index &at, const auto &v) {
            double acc = reduceRef<double>(kind, v);
            out.at<float>(at) =
                float(kind == ReduceKind::kMean ? acc / double(v.size()) : acc);
          });
        else if (type == DType::kI32)
          reduceEach<int32_t>(c, out, [&](const Index &at, const auto &v) {
            out.at<int32_t>(at) = integerRef(kind, v);
          });
        else if (type == DType::kI64)
          reduceEach<int64_t>(c, out, [&](const Index &at, const auto &v) {
            out.at<int64_t>(at) = integerRef(kind, v);
          });
        else
          reduceEach<int8_t>(c, out, [&](const Index &at, const auto &v) {
            int64_t acc = reduceRef<int64_t>(kind, v);
            if (kind == ReduceKind::kMean || kind == ReduceKind::kSum) {
              float count = kind == ReduceKind::kMean ? float(v.size()) : 1.f;
              float m = p.multiplier / count;
              acc = quantizeI8(float(acc - int64_t(v.size()) * p.in_zp) * m,
                               p.out_zp, p.lo, p.hi);
            }
            out.at<int8_t>(at) = int8_t(acc);
          });
        check(c, out, 1e-5);
      }
}

//===- Softmax and arg max ------------------------------------------------===//

template <typename F> void forEachRow(const Array &in, const F &body) {
  std::vector<int64_t> dims = in.dims;
  dims.back() = 1;
  forEachIndex(dims, [&](const Index &at) {
    body(at, [at, last = in.dims.size() - 1](int64_t i) {
      Index index = at;
      index[last] = i;
      return index;
    });
  });
}

TEST(Softmax, F32) {
  Rng rng(3);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    Case c = softmaxCase(rng, DType::kF32, DType::kF32);
    Array out = c.arrays[0];
    const Array &in = c.arrays[1];
    int64_t n = in.dims.back();
    forEachRow(in, [&](const Index &, const auto &at) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += std::exp(double(in.at<float>(at(k))));
      for (int64_t k = 0; k < n; ++k)
        out.at<float>(at(k)) =
            float(std::exp(double(in.at<float>(at(k)))) / sum);
    });
    check(c, out, 1e-5);
  }
}

TEST(Softmax, I8) {
  Rng rng(4);
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    bool f32 = i % 2;
    Case c = softmaxCase(rng, DType::kI8, f32 ? DType::kF32 : DType::kI8);
    const SoftmaxParams &p = c.command.params.softmax;
    Array out = c.arrays[0];
    const Array &in = c.arrays[1];
    const float *table = c.aux<float>(0);
    int64_t n = in.dims.back();
    forEachRow(in, [&](const Index &, const auto &at) {
      int most = -128;
      for (int64_t k = 0; k < n; ++k)
        most = std::max<int>(most, in.at<int8_t>(at(k)));
      double sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += double(table[most - in.at<int8_t>(at(k))]);
      for (int64_t k = 0; k < n; ++k) {
        float x = table[most - in.at<int8_t>(at(k))] / float(sum);
        if (f32)
          out.at<float>(at(k)) = x;
        else
          out.at<int8_t>(at(k)) =
              int8_t(quantizeI8(x * p.multiplier, p.out_zp));
      }
    });
    check(c, out); // f32 too: bit for bit
  }
}

template <typename T> int64_t firstMaximum(const Array &in, const Index &row) {
  Index best = row;
  size_t last = in.dims.size() - 1;
  for (Index at = row; at[last] < in.dims[last]; ++at[last])
    if (in.at<T>(at) > in.at<T>(best))
      best = at;
  return best[last];
}

TEST(ArgMax, FirstMaximum) {
  Rng rng(5);
  for (DType type : {DType::kI8, DType::kF32, DType::kI32})
    for (DType result : {DType::kI32, DType::kI64})
      for (int i = 0; i < 30 && !HasFailure(); ++i) {
        Case c = argMaxCase(rng, type, result);
        Array out = c.arrays[0];
        const Array &in = c.arrays[1];
        if (type == DType::kI8) // equal values
          for (uint8_t &byte : c.arrays[1].bytes)
            byte &= 3;
        forEachIndex(out.dims, [&](const Index &at) {
          int64_t best = type == DType::kI8    ? firstMaximum<int8_t>(in, at)
                         : type == DType::kF32 ? firstMaximum<float>(in, at)
                                               : firstMaximum<int32_t>(in, at);
          if (result == DType::kI32)
            out.at<int32_t>(at) = int32_t(best);
          else
            out.at<int64_t>(at) = best;
        });
        check(c, out);
      }
}

} // namespace
} // namespace npu::rt::testing
