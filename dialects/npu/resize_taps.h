//===- resize_taps.h - Which inputs a resized element reads -----*- C++ -*-===//
//
// ONNX's Resize along one axis, as a list of taps. No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECTS_NPU_RESIZE_TAPS_H
#define DIALECTS_NPU_RESIZE_TAPS_H

#include "runtime/queue/command.h"

#include <cstdint>
#include <vector>

namespace npu {

// In the order of the dialect's enums.
enum class CoordinateRule {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kHalfPixelSymmetric,
  kTfHalfPixelForNN,
};
enum class NearestRule { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

/// Taps of a resize from `in` to `out` elements with ONNX's rules; `scale` is
/// output over input. Linear interpolation, or the nearest element.
std::vector<rt::ResizeTap> linearTaps(int64_t in, int64_t out, float scale,
                                      CoordinateRule coordinates);
std::vector<rt::ResizeTap> nearestTaps(int64_t in, int64_t out, float scale,
                                       CoordinateRule coordinates,
                                       NearestRule nearest);

} // namespace npu

#endif // DIALECTS_NPU_RESIZE_TAPS_H
