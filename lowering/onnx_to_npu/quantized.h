//===- quantized.h - Scales and zero points of ONNX nodes -------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_QUANTIZED_H
#define LOWERING_ONNX_TO_NPU_QUANTIZED_H

#include "lowering/onnx_to_npu/filter.h"

namespace npu {

/// A scale and zero point input pair, as ONNX has it.
struct QuantInfo {
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  int type = 0; ///< TensorProto.DataType of the quantised tensor

  bool perTensor() const { return scales.size() == 1; }
  /// uint8 is held as int8, all values 128 less.
  int64_t shift() const { return type == onnx::TensorProto::UINT8 ? 128 : 0; }
};

/// Scale from input `scale` and zero point from input `zero` (may be absent:
/// 0) of a tensor whose entry, if it exists already, is `tensor`.
absl::StatusOr<QuantInfo> readQuantInfo(Importer &im, const Node &node,
                                        int scale, int zero,
                                        const Entry &tensor, int typeIfUnknown);

/// The type that a tensor with these is held in; scales along `axis` (of the
/// stored order) if there are several.
absl::StatusOr<mlir::Type> heldType(Importer &im, const QuantInfo &info,
                                    int64_t axis);

/// An integer tensor in its held type (per tensor), stored as it was.
absl::StatusOr<Entry> asHeld(Importer &im, const Entry &e,
                             const QuantInfo &info);
/// A constant of integers as a filter.
absl::StatusOr<Filter> heldFilter(const Entry &e, const QuantInfo &info,
                                  int64_t axis);

bool isQuantized(mlir::Value value);
/// INT8 or UINT8 if `e` is a value of plain integers of that type; else 0.
int integers8(const Entry &e);
/// The integers of a quantised tensor in the type that the model declares.
mlir::Value asIntegers(Importer &im, mlir::Value value, int onnxType);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_QUANTIZED_H
