//===- onnxruntime.h - The reference that nobody here wrote -----*- C++ -*-===//
//
// Runs ONNX models in ONNX Runtime through its C API, for tests and
// benchmarks. The library is loaded on demand.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_REFERENCE_ONNXRUNTIME_H
#define TEST_REFERENCE_ONNXRUNTIME_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace npu::reference {

/// A dense tensor. `type` is ONNX's element type (TensorProto.DataType).
struct Tensor {
  std::string name;
  int type = 1;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t count() const;
  /// Any numeric type as floats.
  std::vector<float> floats() const;
  static Tensor ofFloats(std::string name, std::vector<int64_t> shape,
                         const std::vector<float> &values);
};

struct ValueInfo {
  std::string name;
  int type;
  std::vector<int64_t> shape; ///< -1 where unknown
};

class Model {
public:
  /// `optimise`: graph optimisations as by default; off gives every node as
  /// it is written.
  static absl::StatusOr<std::unique_ptr<Model>>
  load(const std::string &path, int threads = 1, bool optimise = true);
  ~Model();

  const std::vector<ValueInfo> &inputs() const;
  const std::vector<ValueInfo> &outputs() const;
  /// Inputs by name in any order; all outputs in the model's order.
  absl::StatusOr<std::vector<Tensor>> run(const std::vector<Tensor> &inputs);

private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace npu::reference

#endif // TEST_REFERENCE_ONNXRUNTIME_H
