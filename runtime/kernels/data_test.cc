#include "runtime/kernels/testing_cases.h"
#include "gtest/gtest.h"

namespace npu::rt::testing {
namespace {

void copyElement(Array &out, const Index &to, const void *from) {
  int size = sizeOf(out.type);
  std::memcpy(out.bytes.data() + out.offset(to) * size, from, size);
}

const uint8_t *element(const Array &in, const Index &at) {
  return in.bytes.data() + in.offset(at) * sizeOf(in.type);
}

TEST(Dma, CopiesEveryTypeAndLayout) {
  Rng rng(1);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    Case c = randomCase(Opcode::kDma, rng);
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      copyElement(out, at, element(c.arrays[1], at));
    });
    check(c, out);
  }
}

TEST(Fill, WritesTheLowBytes) {
  Rng rng(2);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    Case c = randomCase(Opcode::kFill, rng);
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      copyElement(out, at, &c.command.params.fill.bits);
    });
    check(c, out);
  }
}

TEST(Gather, PicksAlongTheAxis) {
  Rng rng(3);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    Case c = randomCase(Opcode::kGather, rng);
    int axis = c.command.params.gather.axis;
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      Index from = at;
      from[axis] = c.aux<int32_t>(0)[at[axis]];
      copyElement(out, at, element(c.arrays[1], from));
    });
    check(c, out);
  }
}

TEST(Resize2d, Nearest) {
  Rng rng(4);
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    Case c = resizeCase(rng, DType(rng.pick(0, 7)), true);
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      copyElement(out, at,
                  element(c.arrays[1], {at[0], c.aux<ResizeTap>(0)[at[1]].i0,
                                        c.aux<ResizeTap>(1)[at[2]].i0, at[3]}));
    });
    check(c, out);
  }
}

template <typename T> float resizeAt(const Case &c, const Index &at) {
  const ResizeTap &h = c.aux<ResizeTap>(0)[at[1]];
  const ResizeTap &w = c.aux<ResizeTap>(1)[at[2]];
  int zero = c.command.params.resize.in_zp;
  auto row = [&](int64_t y) {
    float a = float(c.arrays[1].at<T>({at[0], y, w.i0, at[3]}) - zero);
    float b = float(c.arrays[1].at<T>({at[0], y, w.i1, at[3]}) - zero);
    float left = a * w.w0, right = b * w.w1;
    return left + right;
  };
  float top = row(h.i0) * h.w0, bottom = row(h.i1) * h.w1;
  return top + bottom;
}

// No sum of more than two products: floats are exact too.
TEST(Resize2d, Linear) {
  Rng rng(5);
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    Case c = resizeCase(rng, i % 2 ? DType::kF32 : DType::kI8, false);
    const ResizeParams &p = c.command.params.resize;
    Array out = c.arrays[0];
    forEachIndex(out.dims, [&](const Index &at) {
      if (i % 2)
        out.at<float>(at) = resizeAt<float>(c, at);
      else
        out.at<int8_t>(at) = int8_t(
            quantizeI8(resizeAt<int8_t>(c, at) * p.multiplier, p.out_zp));
    });
    check(c, out);
  }
}

} // namespace
} // namespace npu::rt::testing
