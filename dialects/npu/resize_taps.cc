//===- resize_taps.cc - Which inputs a resized element reads --------------===//

#include "dialects/npu/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace npu {

/// Where output element `x` lies in the input, in float32 as ONNX Runtime
/// computes it.
static float sourceCoordinate(int64_t x, int64_t in, int64_t out, float scale,
                              CoordinateRule rule) {
  auto fx = static_cast<float>(x);
  switch (rule) {
  case CoordinateRule::kAsymmetric:
    return fx / scale;
  case CoordinateRule::kHalfPixel:
    return (fx + 0.5f) / scale - 0.5f;
  case CoordinateRule::kPytorchHalfPixel:
    return out > 1 ? (fx + 0.5f) / scale - 0.5f : 0.0f;
  case CoordinateRule::kTfHalfPixelForNN:
    return (fx + 0.5f) / scale;
  case CoordinateRule::kAlignCorners:
    return out == 1
               ? 0.0f
               : fx * static_cast<float>(in - 1) / static_cast<float>(out - 1);
  case CoordinateRule::kHalfPixelSymmetric: {
    float adjustment =
        static_cast<float>(out) / (scale * static_cast<float>(in));
    float center = static_cast<float>(in) / 2;
    return center * (1 - adjustment) + (fx + 0.5f) / scale - 0.5f;
  }
  }
  return 0;
}

std::vector<rt::ResizeTap> linearTaps(int64_t in, int64_t out, float scale,
                                      CoordinateRule coordinates) {
  std::vector<rt::ResizeTap> taps(out);
  for (int64_t x = 0; x < out; ++x) {
    float source = out == in && scale == 1.0f
                       ? static_cast<float>(x)
                       : sourceCoordinate(x, in, out, scale, coordinates);
    source = std::max(0.0f, std::min(source, static_cast<float>(in - 1)));
    auto i0 = static_cast<int32_t>(source);
    int32_t i1 = std::min<int32_t>(i0 + 1, static_cast<int32_t>(in - 1));
    float w1 = i0 == i1 ? 0.5f : source - static_cast<float>(i0);
    float w0 = i0 == i1 ? 0.5f : static_cast<float>(i1) - source;
    taps[x] = {i0, i1, w0, w1};
  }
  return taps;
}

std::vector<rt::ResizeTap> nearestTaps(int64_t in, int64_t out, float scale,
                                       CoordinateRule coordinates,
                                       NearestRule nearest) {
  std::vector<rt::ResizeTap> taps(out);
  for (int64_t x = 0; x < out; ++x) {
    float source = out == in && scale == 1.0f
                       ? static_cast<float>(x)
                       : sourceCoordinate(x, in, out, scale, coordinates);
    float rounded = 0;
    switch (nearest) {
    case NearestRule::kRoundPreferFloor:
      rounded = std::ceil(source - 0.5f);
      break;
    case NearestRule::kRoundPreferCeil:
      rounded = std::floor(source + 0.5f);
      break;
    case NearestRule::kFloor:
      rounded = std::floor(source);
      break;
    case NearestRule::kCeil:
      rounded = std::ceil(source);
      break;
    }
    auto index = static_cast<int32_t>(
        std::max(0.0f, std::min(rounded, static_cast<float>(in - 1))));
    taps[x] = {index, index, 1.0f, 0.0f};
  }
  return taps;
}

} // namespace npu
