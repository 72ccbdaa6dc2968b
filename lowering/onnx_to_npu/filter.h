//===- filter.h - Constant filters, float or quantised ----------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_FILTER_H
#define LOWERING_ONNX_TO_NPU_FILTER_H

#include <optional>

#include "lowering/onnx_to_npu/importer.h"

namespace npu {

/// 8-bit integers with their meaning. uint8 is held as int8: values and zero
/// points are 128 less than ONNX's.
struct QuantizedConstant {
  std::vector<int8_t> storage;
  std::vector<double> scales; ///< one, or one per index along `axis`
  int64_t zeroPoint = 0;
  int64_t axis = -1; ///< -1: one scale
};

/// A constant filter in ONNX's order of dimensions.
struct Filter {
  Dims dims;
  TensorPtr floats; ///< null: `quantized` holds it
  QuantizedConstant quantized;
};

/// A float constant, or what DequantizeLinear makes of an 8-bit one.
std::optional<Filter> filterOf(const Entry &e);

/// The value of a filter with `dims`, element n being element source[n] of the
/// original. Scales along the original's dimension `from` go along `to`. A
/// quantised one is dequantised if `toFloat`.
absl::StatusOr<mlir::Value> filterValue(Importer &im, const Filter &filter,
                                        const Dims &dims, const Dims &source,
                                        int64_t from, int64_t to, bool toFloat);

/// Orders for filterValue: of a convolution [O,I,KH,KW] to [O,KH,KW,I] or,
/// depthwise, [KH,KW,O*I]; and of a matrix, transposed or not.
Dims windowOrder(const Dims &dims, bool depthwise);
Dims matrixOrder(int64_t rows, int64_t columns, bool transpose);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_FILTER_H
