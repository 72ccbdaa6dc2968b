//===- tensors.h - Stored tensors against those of the runtime --*- C++ -*-===//
#ifndef TEST_CONFORMANCE_TENSORS_H
#define TEST_CONFORMANCE_TENSORS_H

#include "absl/status/statusor.h"
#include "lowering/onnx_to_npu/tensor.h"
#include "runtime/blob/blob.h"

namespace npu::conformance {

/// A stored tensor. `declared`: the model's type; bfloat16 is stored as uint16,
/// for want of the type in NumPy.
absl::StatusOr<TensorPtr> parseStored(const std::string &bytes, int declared);

/// Fills the memory of an input. Floating types of any width become f32; a
/// scalar may be held as one element.
absl::Status fill(const Tensor &tensor, const rt::TensorInfo &info,
                  uint8_t *data);

/// Compares as ONNX's own runner does: |a - b| <= atol + rtol * |b| with rtol
/// 1e-3, integers exactly. atol is 1e-7, or a millionth of the largest value
/// where that is more: sums that cancel depend on their order. What is computed
/// in f32 is rounded to the declared type first.
absl::Status compare(const Tensor &expected, const rt::TensorInfo &info,
                     const uint8_t *data);

} // namespace npu::conformance

#endif // TEST_CONFORMANCE_TENSORS_H
