//===- Tables.cc - Lookup tables of commands ------------------------------===//

#include "lowering/npu_to_cmdq/Tables.h"

#include <algorithm>
#include <cmath>

namespace npu {

using rt::Function;

static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double evaluate(Function function, double x, double a, double b) {
  switch (function) {
  case Function::kIdentity:
    return x;
  case Function::kClip:
    return std::min(std::max(x, a), b);
  case Function::kLeakyRelu:
    return x < 0 ? a * x : x;
  case Function::kSigmoid:
    return sigmoid(x);
  case Function::kHardSigmoid:
    return std::max(0.0, std::min(1.0, a * x + b));
  case Function::kHardSwish:
    return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
  case Function::kSwish:
    return x * sigmoid(a * x);
  case Function::kTanh:
    return std::tanh(x);
  case Function::kGelu:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Function::kGeluTanh: {
    double u =
        std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(u));
  }
  case Function::kExp:
    return std::exp(x);
  case Function::kLog:
    return std::log(x);
  case Function::kSqrt:
    return std::sqrt(x);
  case Function::kReciprocal:
    return 1 / x;
  case Function::kAbs:
    return std::fabs(x);
  case Function::kNeg:
    return -x;
  case Function::kErf:
    return std::erf(x);
  case Function::kFloor:
    return std::floor(x);
  case Function::kCeil:
    return std::ceil(x);
  case Function::kRound:
    return std::nearbyint(x);
  case Function::kElu:
    return x < 0 ? a * std::expm1(x) : x;
  case Function::kSoftplus:
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

int32_t quantize(float x, const QuantParams &params) {
  float q = std::nearbyint(x / params.scale);
  if (std::isnan(q))
    return params.zero_point;
  double shifted = static_cast<double>(q) + params.zero_point;
  return static_cast<int32_t>(
      std::min<double>(std::max<double>(shifted, params.qmin), params.qmax));
}

std::array<int8_t, 256> lookupTable(Function function, double alpha,
                                    double beta, const QuantParams &in,
                                    const QuantParams &out) {
  std::array<int8_t, 256> table;
  for (int32_t q = -128; q < 128; ++q) {
    float x = static_cast<float>(q - in.zero_point) * in.scale;
    auto y = static_cast<float>(evaluate(function, x, alpha, beta));
    table[q + 128] = static_cast<int8_t>(quantize(y, out));
  }
  return table;
}

std::vector<float> softmaxTable(float scale) {
  std::vector<float> table(256);
  for (int d = 0; d < 256; ++d)
    table[d] = static_cast<float>(std::exp(-d * static_cast<double>(scale)));
  return table;
}

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
