//===- conv.h - What spatial operators share --------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_CONV_H
#define LOWERING_ONNX_TO_NPU_CONV_H

#include "lowering/onnx_to_npu/filter.h"

namespace npu {

extern const Dims kNhwc; ///< the order in which spatial values are stored

/// kernel_shape, strides, dilations, pads (auto_pad and ceil_mode worked out)
/// as 2-D: a 1-D operator has height 1.
struct Window {
  Dims kernel, strides, dilations, pads, outputPads;
};
absl::StatusOr<Window> readWindow(const Node &node, const Dims &in,
                                  Dims kernel);

/// [N,C,H,W] or [N,C,W] as [N,H,W,C].
mlir::Value spatialInput(Importer &im, const Entry &e);
/// Binds output 0 to an NHWC value, of an operator whose input had `rank`.
void bindSpatial(Importer &im, const Node &node, mlir::Value value,
                 int64_t rank);

/// Weights [O,I,spatial...] seen as [O,I,KH,KW].
Dims filterDims(const Dims &dims);

/// What the attributes and the filter of a convolution say.
struct Convolution {
  Window window;
  int64_t groups = 1;
  bool depthwise = false;
  mlir::Value filter;
};
/// `in` is the input's shape; see filterValue for `toFloat`.
absl::StatusOr<Convolution> readConvolution(Importer &im, const Node &node,
                                            const Dims &in,
                                            const Filter &filter, bool toFloat);

/// Filter [N,K] of a constant matrix [K,N], or [N,K] when `transposed`.
absl::StatusOr<mlir::Value> matrixFilter(Importer &im, const Filter &b,
                                         bool transposed, bool toFloat);
/// `element` null: that of `x`.
absl::StatusOr<mlir::Value> fullyConnected(Importer &im, mlir::Value x,
                                           mlir::Value filter, mlir::Value bias,
                                           mlir::Type element);

absl::StatusOr<mlir::Value> buildConv(Importer &im, mlir::Value input,
                                      mlir::Value filter, mlir::Value bias,
                                      const Window &w, int64_t groups,
                                      bool depthwise, mlir::Type element);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_CONV_H
