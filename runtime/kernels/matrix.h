//===- matrix.h - Inner loops of the matrix engine --------------*- C++ -*-===//
//
// The drivers (conv.cc, depthwise.cc, matmul.cc) are the same for every
// instruction set; these loops are not. Integer loops give equal results.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_KERNELS_MATRIX_H
#define RUNTIME_KERNELS_MATRIX_H

#include <cstdint>

#include "runtime/kernels/context.h"

namespace npu::rt {

constexpr int kTileRows = 6; ///< rows of a register tile
constexpr int kPanel = 16;   ///< columns of a register tile and a weight panel

/// The quantised epilogue with its tables resolved; see command.h.
struct EpilogueI8 {
  const Epilogue *params;
  const float *multipliers; ///< one, or one a channel
  const int8_t *lut;        ///< lutEntries(params->flags) of them, or null

  bool wide() const { return params->flags & kWideLutFlag; }
};

/// A register tile on its way to memory: `width` channels from `channel` on.
struct TileI8 {
  const int32_t *init;      ///< kPanel sums to start from
  const float *multipliers; ///< kPanel of them
  int width;
  int8_t *out[kTileRows];
  const int8_t *residual[kTileRows]; ///< not read without kResidualFlag
};

/// `pixels` outputs of a row of a depthwise convolution, `step` values apart
/// in the input and `outStep` in the output and residual.
struct DepthwiseRowI8 {
  const int8_t *const *taps; ///< of the first pixel
  int count;                 ///< of taps
  int64_t pixels, step, channels;
  const int16_t *weights; ///< as depthwiseI8's
  const int32_t *init;
  int8_t *out;
  int64_t outStep;
  const int8_t *residual; ///< or null
  int64_t residualStep;
  int32_t *acc; ///< scratch for `channels` sums
};

struct MatrixLoops {
  /// acc[r][c] = init[c] + sum over k of a[r][k] * b[k][c], for `rows` rows of
  /// 2 * pairs values at `stride`; b is a panel [pairs][16][2].
  void (*gemmI8)(int rows, const int16_t *a, int64_t stride, const int8_t *b,
                 int64_t pairs, const int32_t *init, int32_t *acc);
  /// The same and the epilogue.
  void (*gemmTileI8)(int rows, const int16_t *a, int64_t stride,
                     const int8_t *b, int64_t pairs, const EpilogueI8 &epilogue,
                     const TileI8 &tile);
  /// gemmI8 in float; rows by pointer; b is a panel [k][16].
  void (*gemmF32)(int rows, const float *const *a, const float *b, int64_t k,
                  const float *init, float *acc);
  /// out[i] from acc[i] for `count` channels from `channel` on; `residual`
  /// may be null.
  void (*requantize)(const int32_t *acc, int64_t count, int64_t channel,
                     const EpilogueI8 &epilogue, const int8_t *residual,
                     int8_t *out);
  /// acc[c] = init[c] + sum over taps of in[tap][c] * weight[tap][c];
  /// weights [ceil(taps / 2)][channels rounded up to 16][2].
  void (*depthwiseI8)(const int8_t *const *taps, int count, int64_t channels,
                      const int16_t *weights, const int32_t *init,
                      int32_t *acc);
  void (*depthwiseRowI8)(const DepthwiseRowI8 &row, const EpilogueI8 &epilogue);
  void (*depthwiseF32)(const float *const *taps, int count, int64_t channels,
                       const float *weights, const float *init, float *acc);
  /// out = (in - zero) as i16.
  void (*widen)(const int8_t *in, int64_t count, int zero, int16_t *out);
  /// out[i] = table[in[i] + 128].
  void (*lookUp)(const int8_t *in, int64_t count, const int8_t *table,
                 int8_t *out);
};

const MatrixLoops &matrixLoops(Isa isa);
extern const MatrixLoops kPortableLoops;
#if defined(__x86_64__)
extern const MatrixLoops kAvx2Loops, kAvx512Loops;
#endif

} // namespace npu::rt

#endif // RUNTIME_KERNELS_MATRIX_H
