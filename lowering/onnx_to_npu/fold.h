//===- fold.h - Evaluation of constant nodes --------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_FOLD_H
#define LOWERING_ONNX_TO_NPU_FOLD_H

#include "lowering/onnx_to_npu/importer.h"

namespace npu {

/// Larger results are left to the network, where they cost no compile time.
constexpr int64_t kMaxElements = int64_t{1} << 24;

/// What a node gives; null if it is not evaluated.
using Result = std::shared_ptr<Tensor>;

Result make(int type, Dims dims);
void push(Tensor &t, double value);
/// Element n of `from`, converted.
void pushFrom(Tensor &t, const Tensor &from, int64_t n);

/// NumPy's common shape; false if there is none, or it is too large.
bool broadcast(const Dims &a, const Dims &b, Dims *out);
/// Index into `dims` of element n of the broadcast `shape`.
int64_t source(int64_t n, const Dims &shape, const Dims &dims);

/// Functions of one or two elements.
Result foldElementwise(Importer &im, const Node &node);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_FOLD_H
