//===- session_runner.h - A session fed by datasets -------------*- C++ -*-===//
#ifndef TOOLS_NPU_SESSION_RUNNER_H
#define TOOLS_NPU_SESSION_RUNNER_H

#include "passes/quantization/calibration/runner.h"
#include "runtime/api/session.h"

namespace npu {

/// Converts floats to `type` (rounding, saturating) or back.
void fromFloats(const float *in, int64_t count, rt::DType type, uint8_t *out);
void toFloats(const uint8_t *in, int64_t count, rt::DType type, float *out);

/// Runs a program on the software NPU; its inputs come from a dataset.
class SessionRunner : public calibration::FloatRunner {
public:
  static absl::StatusOr<std::unique_ptr<SessionRunner>>
  create(std::shared_ptr<const rt::Blob> blob,
         const rt::DeviceOptions &options);

  /// Fills the inputs and runs; `tap` (may be null) sees inputs and taps.
  absl::Status run(const std::vector<calibration::InputTensor> &inputs,
                   const Tap &tap) override;
  size_t outputs() const { return blob_->outputs().size(); }
  /// Output `i` of the last run.
  std::vector<float> output(size_t i);
  rt::Session &session() { return *session_; }

private:
  std::shared_ptr<const rt::Blob> blob_;
  std::unique_ptr<rt::Session> session_;
  std::vector<float> scratch_;
};

} // namespace npu

#endif // TOOLS_NPU_SESSION_RUNNER_H
