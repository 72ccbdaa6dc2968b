//===- volume.h - 3-D convolutions and pools --------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_VOLUME_H
#define LOWERING_ONNX_TO_NPU_VOLUME_H

#include <functional>

#include "lowering/onnx_to_npu/conv.h"

namespace npu {

/// Conv of [N,C,D,H,W] with a filter [O,C/groups,KD,KH,KW]: one 2-D
/// convolution with KD times the channels.
absl::Status conv3d(Importer &im, const Node &node, const Filter &filter);
/// ConvTranspose of the same with a filter [C,O/groups,KD,KH,KW]. The pads of
/// `w` are those of the attributes or of output_shape.
absl::Status convTranspose3d(Importer &im, const Node &node,
                             const Filter &filter, const Window &w);

/// Builds a 2-D pool of an NHWC value.
using PoolBuilder =
    std::function<absl::StatusOr<mlir::Value>(mlir::Value, const Window &)>;
/// A pool of [N,C,D,H,W] that can be done in the plane first, then in depth.
absl::Status pool3d(Importer &im, const Node &node, const PoolBuilder &build);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_VOLUME_H
