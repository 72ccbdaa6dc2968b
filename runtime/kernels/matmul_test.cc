#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

// Calls body(a, b) for the products of one element of the output.
template <typename T, typename F>
void forEachProduct(const Case &c, const Index &at, const F &body) {
  size_t r = c.arrays[0].dims.size();
  for (int64_t k = 0; k < c.arrays[1].dims[r - 1]; ++k) {
    Index a = at, b = at;
    a[r - 1] = k, b[r - 2] = k;
    body(c.arrays[1].at<T>(a), c.arrays[2].at<T>(b));
  }
}

void run(uint32_t seed, DType in, DType type, int count) {
  Rng rng(seed);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "case " << i);
    Case c = matmulCase(rng, in, type);
    const MatmulParams &p = c.command.params.matmul;
    Array out = c.arrays[0];
    bool residual = p.epilogue.flags & kResidualFlag;
    forEachIndex(out.dims, [&](const Index &at) {
      int64_t column = at[out.dims.size() - 1];
      if (type == DType::kF32) {
        const float *bias = c.aux<float>(0);
        double acc = bias ? bias[column] : 0;
        forEachProduct<float>(c, at, [&](double a, double b) { acc += a * b; });
        float r = residual ? c.arrays[3].at<float>(at) : 0;
        out.at<float>(at) =
            float(epilogueF32Ref(p.epilogue, acc, residual ? &r : nullptr));
        return;
      }
      const int32_t *bias = c.aux<int32_t>(0);
      int64_t acc = bias ? bias[column] : 0;
      forEachProduct<int8_t>(c, at, [&](int64_t a, int64_t b) {
        acc += (a - p.a_zp) * (b - p.b_zp);
      });
      if (type == DType::kI32)
        out.at<int32_t>(at) = wrap(acc);
      else
        out.at<int8_t>(at) =
            int8_t(epilogueI8Ref(c, p.epilogue, wrap(acc), column,
                                 residual ? c.arrays[3].at<int8_t>(at) : 0));
    });
    check(c, out, 2e-5);
  }
}

TEST(Matmul, I8) { run(1, DType::kI8, DType::kI8, 150); }
TEST(Matmul, I8ToAccumulators) { run(2, DType::kI8, DType::kI32, 60); }
TEST(Matmul, F32) { run(3, DType::kF32, DType::kF32, 100); }

TEST(VectorMac, Accumulates) {
  Rng rng(4);
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    Case c = randomCase(Opcode::kVectorMac, rng);
    const VectorMacParams &p = c.command.params.vector_mac;
    if (i % 4 == 0) // sums that wrap
      forEachIndex(c.arrays[0].dims, [&](const Index &at) {
        c.arrays[0].at<int32_t>(at) = i % 8 ? INT32_MAX : INT32_MIN;
      });
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      int64_t product = (c.arrays[1].at<int8_t>(at) - p.in_zp) *
                        (c.arrays[2].at<int8_t>({at[3]}) - p.w_zp);
      out.at<int32_t>(at) =
          wrap(product + (p.first ? 0 : int64_t(out.at<int32_t>(at))));
    });
    check(c, out);
  }
}

TEST(Requantize, AppliesTheEpilogue) {
  Rng rng(5);
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    Case c = randomCase(Opcode::kRequantize, rng);
    const Epilogue &e = c.command.params.requantize.epilogue;
    Array out = c.arrays[0];
    bool residual = e.flags & kResidualFlag;
    forEachIndex(out.dims, [&](const Index &at) {
      int64_t channel = at[out.dims.size() - 1];
      const int32_t *bias = c.aux<int32_t>(0);
      int64_t acc = c.arrays[1].at<int32_t>(at) + (bias ? bias[channel] : 0);
      out.at<int8_t>(at) = int8_t(epilogueI8Ref(
          c, e, wrap(acc), channel, residual ? c.arrays[3].at<int8_t>(at) : 0));
    });
    check(c, out);
  }
}

} // namespace
} // namespace npu::rt::testing
