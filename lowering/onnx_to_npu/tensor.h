//===- tensor.h - Constant ONNX tensors -------------------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_TENSOR_H
#define LOWERING_ONNX_TO_NPU_TENSOR_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"

namespace npu {

using Dims = std::vector<int64_t>;

/// A constant: an initialiser, or the result of a folded node. Floating types
/// are held as f32 (f16, bf16 and f64 are converted), all others as i64.
struct Tensor {
  int type = onnx::TensorProto::FLOAT; ///< TensorProto.DataType as declared
  Dims dims;
  std::vector<float> f;
  std::vector<int64_t> i;

  bool isFloat() const;
  int64_t count() const;
  double at(int64_t n) const { return isFloat() ? f[n] : double(i[n]); }
  /// Values as integers (floats are truncated).
  std::vector<int64_t> integers() const;
  std::vector<float> floats() const;
};
using TensorPtr = std::shared_ptr<const Tensor>;

/// Is `type` one of the floating types that are held as f32?
bool isFloatType(int type);
/// Bytes of an element as stored; 0 for types without a fixed size.
int64_t elementSize(int type);
std::string typeName(int type);

/// product(dims); -1 for a negative dimension or an overflow.
int64_t elementCount(const Dims &dims);

/// Reads raw, typed and external data. `folder` is where external files are
/// looked up; they may not lie outside of it. Errors name the tensor: length
/// and dims that disagree, an unsupported type, a missing file, NaN
/// when `numbers` are asked for.
absl::StatusOr<TensorPtr> readTensor(const onnx::TensorProto &proto,
                                     const std::string &folder, bool numbers);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_TENSOR_H
