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
  case Function::kSin:
    return std::sin(x);
  case Function::kCos:
    return std::cos(x);
  case Function::kTan:
    return std::tan(x);
  case Function::kAsin:
    return std::asin(x);
  case Function::kAcos:
    return std::acos(x);
  case Function::kAtan:
    return std::atan(x);
  case Function::kSinh:
    return std::sinh(x);
  case Function::kCosh:
    return std::cosh(x);
  case Function::kAsinh:
    return std::asinh(x);
  case Function::kAcosh:
    return std::acosh(x);
  case Function::kAtanh:
    return std::atanh(x);
  case Function::kSign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
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

std::vector<int8_t> lookupTable(Function function, double alpha, double beta,
                                const QuantParams &in, const QuantParams &out) {
  int32_t middle = (in.within(rt::kLut) ? rt::kLut : rt::kWideLut) / 2;
  std::vector<int8_t> table;
  for (int32_t q = -middle; q < middle; ++q) {
    float x = static_cast<float>(q - in.zero_point) * in.scale;
    auto y = static_cast<float>(evaluate(function, x, alpha, beta));
    table.push_back(static_cast<int8_t>(quantize(y, out)));
  }
  return table;
}

std::vector<float> softmaxTable(float scale) {
  std::vector<float> table(256);
  for (int d = 0; d < 256; ++d)
    table[d] = static_cast<float>(std::exp(-d * static_cast<double>(scale)));
  return table;
}

} // namespace npu
