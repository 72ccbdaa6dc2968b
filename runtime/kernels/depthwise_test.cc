#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

template <typename In, typename Acc> Acc sumAt(const Case &c, const Index &at) {
  const ConvParams &p = c.command.params.conv;
  const Array &in = c.arrays[1], &w = c.arrays[2];
  Acc acc = 0;
  for (int64_t ky = 0; ky < w.dims[0]; ++ky)
    for (int64_t kx = 0; kx < w.dims[1]; ++kx) {
      int64_t y = at[1] * p.stride[0] - p.pad[0] + ky * p.dilation[0];
      int64_t x = at[2] * p.stride[1] - p.pad[1] + kx * p.dilation[1];
      if (y < 0 || y >= in.dims[1] || x < 0 || x >= in.dims[2])
        continue;
      acc += Acc(Acc(in.at<In>({at[0], y, x, at[3]})) - p.in_zp) *
             Acc(Acc(w.at<In>({ky, kx, at[3]})) - p.w_zp);
    }
  return acc;
}

void run(uint32_t seed, DType in, DType type, int count) {
  Rng rng(seed);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "case " << i);
    Case c = convCase(rng, in, type, true);
    const Epilogue &e = c.command.params.conv.epilogue;
    Array out = c.arrays[0];
    bool residual = e.flags & kResidualFlag;
    forEachIndex(out.dims, [&](const Index &at) {
      if (type == DType::kF32) {
        const float *bias = c.aux<float>(0);
        double acc = sumAt<float, double>(c, at) + (bias ? bias[at[3]] : 0);
        float r = residual ? c.arrays[3].at<float>(at) : 0;
        out.at<float>(at) =
            float(epilogueF32Ref(e, acc, residual ? &r : nullptr));
        return;
      }
      const int32_t *bias = c.aux<int32_t>(0);
      int32_t acc =
          wrap(sumAt<int8_t, int64_t>(c, at) + (bias ? bias[at[3]] : 0));
      if (type == DType::kI32)
        out.at<int32_t>(at) = acc;
      else
        out.at<int8_t>(at) = int8_t(epilogueI8Ref(
            c, e, acc, at[3], residual ? c.arrays[3].at<int8_t>(at) : 0));
    });
    check(c, out, 2e-5);
  }
}

TEST(Depthwise, I8) { run(1, DType::kI8, DType::kI8, 150); }
TEST(Depthwise, I8ToAccumulators) { run(2, DType::kI8, DType::kI32, 60); }
TEST(Depthwise, F32) { run(3, DType::kF32, DType::kF32, 100); }

} // namespace
} // namespace npu::rt::testing
