//===- host_model.h - Host segments in ONNX Runtime -------------*- C++ -*-===//
//
// What the NPU has no kernel for runs in ONNX Runtime, whose library is loaded
// when the first host segment needs it: HostOptions::library if given, else
// the environment variable NPU_ONNXRUNTIME, else libonnxruntime.so.1 beside
// the program, else wherever the dynamic loader finds it.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_HOST_HOST_MODEL_H
#define RUNTIME_HOST_HOST_MODEL_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/queue/command.h"

namespace npu::rt {

struct HostOptions {
  std::string library; ///< path of ONNX Runtime's library; "": see above
  int threads = 1;     ///< 0: one per CPU
};

/// ONNX's number (TensorProto.DataType) of an element type, and back.
int toOnnxType(DType type);
std::optional<DType> fromOnnxType(int type);

/// Its version, or Unavailable with what to do if the library is not there.
absl::StatusOr<std::string> hostRuntimeVersion(const std::string &library = "");

struct HostTensorInfo {
  std::string name;
  int type = 0;               ///< TensorProto.DataType; 0: no tensor
  std::vector<int64_t> shape; ///< -1 where unknown
};

/// A tensor with its contents.
struct HostArray {
  int type = 0;
  std::vector<int64_t> shape;
  std::string bytes;
};

/// A loaded ONNX model; one run at a time.
class HostModel {
public:
  /// `what` names the model in errors.
  static absl::StatusOr<std::unique_ptr<HostModel>>
  load(absl::string_view bytes, const std::string &what,
       const HostOptions &options);
  ~HostModel();

  const std::vector<HostTensorInfo> &inputs() const { return inputs_; }
  const std::vector<HostTensorInfo> &outputs() const { return outputs_; }

  /// Runs on the caller's memory. All shapes must be static; each pointer has
  /// room for its tensor.
  absl::Status run(const std::vector<uint8_t *> &inputs,
                   const std::vector<uint8_t *> &outputs);
  /// Runs and returns the results, whatever their shapes.
  absl::StatusOr<std::vector<HostArray>>
  evaluate(const std::vector<HostArray> &inputs);

private:
  struct Impl;
  HostModel();
  std::unique_ptr<Impl> impl_;
  std::vector<HostTensorInfo> inputs_, outputs_;
};

} // namespace npu::rt

#endif // RUNTIME_HOST_HOST_MODEL_H
