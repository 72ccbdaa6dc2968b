//===- depthwise_avx2.h - Entries of depthwise_avx2.cc ----------*- C++ -*-===//
#ifndef RUNTIME_KERNELS_DEPTHWISE_AVX2_H
#define RUNTIME_KERNELS_DEPTHWISE_AVX2_H

#include "runtime/kernels/matrix.h"

namespace npu::rt {

void depthwiseRowI8(const DepthwiseRowI8 &row, const EpilogueI8 &epilogue);
void depthwiseI8(const int8_t *const *taps, int count, int64_t channels,
                 const int16_t *weights, const int32_t *init, int32_t *acc);

} // namespace npu::rt

#endif // RUNTIME_KERNELS_DEPTHWISE_AVX2_H
