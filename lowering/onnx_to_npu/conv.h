//===- conv.h - What spatial operators share --------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_CONV_H
#define LOWERING_ONNX_TO_NPU_CONV_H

#include "lowering/onnx_to_npu/importer.h"

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

/// [O,I,KH,KW] (or 1-D) to [O,KH,KW,I], or [KH,KW,O*I] for depthwise.
std::vector<int8_t> reorderFilter8(const std::vector<int8_t> &in,
                                   const Dims &dims, bool depthwise);

absl::StatusOr<mlir::Value> buildConv(Importer &im, mlir::Value input,
                                      mlir::Value filter, mlir::Value bias,
                                      const Window &w, int64_t groups,
                                      bool depthwise, mlir::Type element);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_CONV_H
