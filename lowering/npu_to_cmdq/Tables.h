//===- Tables.h - Lookup tables of commands ---------------------*- C++ -*-===//
//
// The tables that quantised commands read: computed in double (IEEE, to
// nearest even) from float32 inputs, so that every compilation gives the same
// bytes. No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_NPU_TO_CMDQ_TABLES_H
#define LOWERING_NPU_TO_CMDQ_TABLES_H

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/queue/command.h"

namespace npu {

/// `function` of `x` as command.h defines it, in double.
double evaluate(rt::Function function, double x, double alpha, double beta);

/// A per-tensor quantisation: real = scale * (q - zero_point).
struct QuantParams {
  float scale = 1;
  int32_t zero_point = 0;
  int32_t qmin = -128, qmax = 127;
  bool operator==(const QuantParams &other) const {
    return scale == other.scale && zero_point == other.zero_point &&
           qmin == other.qmin && qmax == other.qmax;
  }
  bool within(int32_t levels) const {
    return qmin >= -levels / 2 && qmax < levels / 2;
  }
};

/// round(x / scale) + zero_point, clamped to [qmin, qmax]; x may be infinite
/// (NaN gives the zero point).
int32_t quantize(float x, const QuantParams &params);

/// table[q + size / 2] = quantize(function(scale_in * (q - zp_in))) for all q
/// of i8, or of 10 bits (rt::kWideLut entries) if `in` has more than i8.
std::vector<int8_t> lookupTable(rt::Function function, double alpha,
                                double beta, const QuantParams &in,
                                const QuantParams &out);

/// table[d] = exp(-d * scale).
std::vector<float> softmaxTable(float scale);

} // namespace npu

#endif // LOWERING_NPU_TO_CMDQ_TABLES_H
