#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

// command.h, ConvParams: sum over the taps inside the input.
template <typename In, typename Acc>
Acc convAt(const Case &c, const Index &at) {
  const ConvParams &p = c.command.params.conv;
  const Array &in = c.arrays[1], &w = c.arrays[2];
  int64_t icg = w.dims[3], ocg = c.arrays[0].dims[3] / p.groups;
  Acc acc = 0;
  for (int64_t ky = 0; ky < w.dims[1]; ++ky)
    for (int64_t kx = 0; kx < w.dims[2]; ++kx)
      for (int64_t i = 0; i < icg; ++i) {
        int64_t y = at[1] * p.stride[0] - p.pad[0] + ky * p.dilation[0];
        int64_t x = at[2] * p.stride[1] - p.pad[1] + kx * p.dilation[1];
        if (y < 0 || y >= in.dims[1] || x < 0 || x >= in.dims[2])
          continue; // in - in_zp is 0
        Index from = {at[0], y, x, at[3] / ocg * icg + i};
        acc += Acc(Acc(in.at<In>(from)) - p.in_zp) *
               Acc(Acc(w.at<In>({at[3], ky, kx, i})) - p.w_zp);
      }
  return acc;
}

Array reference(const Case &c) {
  const Epilogue &e = c.command.params.conv.epilogue;
  Array out = c.arrays[0];
  forEachIndex(out.dims, [&](const Index &at) {
    if (out.type == DType::kF32) {
      const float *bias = c.aux<float>(0);
      double acc = convAt<float, double>(c, at) + (bias ? bias[at[3]] : 0);
      float r = e.flags & kResidualFlag ? c.arrays[3].at<float>(at) : 0;
      out.at<float>(at) =
          float(epilogueF32Ref(e, acc, e.flags & kResidualFlag ? &r : nullptr));
      return;
    }
    const int32_t *bias = c.aux<int32_t>(0);
    int32_t acc =
        wrap(convAt<int8_t, int64_t>(c, at) + (bias ? bias[at[3]] : 0));
    if (out.type == DType::kI32) {
      out.at<int32_t>(at) = acc;
      return;
    }
    int r = e.flags & kResidualFlag ? c.arrays[3].at<int8_t>(at) : 0;
    out.at<int8_t>(at) = int8_t(epilogueI8Ref(c, e, acc, at[3], r));
  });
  return out;
}

void run(uint32_t seed, DType in, DType out, int count) {
  Rng rng(seed);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "case " << i);
    Case c = convCase(rng, in, out, false);
    Array expected = reference(c);
    check(c, expected, 2e-5);
  }
}

TEST(Conv2d, I8) { run(1, DType::kI8, DType::kI8, 150); }
TEST(Conv2d, I8ToAccumulators) { run(2, DType::kI8, DType::kI32, 60); }
TEST(Conv2d, F32) { run(3, DType::kF32, DType::kF32, 100); }

// More pixels than a block and more panels than threads.
TEST(Conv2d, ManyBlocks) {
  Rng rng(4);
  Case c(Opcode::kConv2d);
  ConvParams &p = c.command.params.conv;
  p.stride[0] = p.stride[1] = p.dilation[0] = p.dilation[1] = p.groups = 1;
  p.in_zp = 3;
  std::fill(p.pad, p.pad + 4, 1);
  c.arrays[0] = randomArray(rng, DType::kI8, {1, 23, 29, 50});
  c.arrays[1] = randomArray(rng, DType::kI8, {1, 23, 29, 7});
  c.arrays[2] = randomArray(rng, DType::kI8, {50, 3, 3, 7});
  randomEpilogue(rng, c, p.epilogue, 50, true);
  Array expected = reference(c);
  check(c, expected);
}

// Sums past the end of int32 wrap.
TEST(Conv2d, BiasWraps) {
  Rng rng(5);
  Case c(Opcode::kConv2d);
  ConvParams &p = c.command.params.conv;
  p.stride[0] = p.stride[1] = p.dilation[0] = p.dilation[1] = p.groups = 1;
  c.arrays[0] = randomArray(rng, DType::kI32, {1, 2, 3, 17});
  c.arrays[1] = randomArray(rng, DType::kI8, {1, 2, 3, 33});
  c.arrays[2] = randomArray(rng, DType::kI8, {17, 1, 1, 33});
  c.table(0, std::vector<int32_t>(17, INT32_MAX));
  Array expected = reference(c);
  check(c, expected);
}

} // namespace
} // namespace npu::rt::testing
