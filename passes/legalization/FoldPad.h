//===- FoldPad.h - Padding operators into windows ---------------*- C++ -*-===//
#ifndef PASSES_LEGALIZATION_FOLDPAD_H
#define PASSES_LEGALIZATION_FOLDPAD_H

#include "dialects/npu/NPU.h"

namespace npu {

/// Moves `npu.pad` into the convolutions and pools that read it, where they
/// mean the same by padding.
void foldPads(mlir::Operation *root);

} // namespace npu

#endif // PASSES_LEGALIZATION_FOLDPAD_H
