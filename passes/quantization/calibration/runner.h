//===- runner.h - Calibrates a float model on a data set --------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CALIBRATION_RUNNER_H
#define PASSES_QUANTIZATION_CALIBRATION_RUNNER_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "passes/quantization/calibration/stats.h"

namespace npu::calibration {

/// One model input of one sample; `data` has the product of `shape` values in
/// row-major order, in the model's own layout.
struct InputTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> data;
};

/// A tensor as the running model shows it; dense, row-major.
struct TensorView {
  std::string name; ///< `npu.tensor`, or `npu.name` of an input
  const float *data = nullptr;
  std::vector<int64_t> shape;
};

/// Calibration samples. `get` may decode on demand.
class Dataset {
public:
  virtual ~Dataset() = default;
  virtual size_t size() const = 0;
  /// For messages: the file's name.
  virtual std::string name(size_t i) const = 0;
  virtual absl::StatusOr<std::vector<InputTensor>> get(size_t i) = 0;
  /// Digest of the samples' content, "" if unknown.
  virtual std::string digest() const { return ""; }
};

/// Runs the float model.
class FloatRunner {
public:
  virtual ~FloatRunner() = default;
  /// Is called once per tensor, in execution order, the inputs among them. An
  /// error ends the run, which returns it.
  using Tap = std::function<absl::Status(const TensorView &)>;
  virtual absl::Status run(const std::vector<InputTensor> &inputs,
                           const Tap &tap) = 0;
};

struct CalibrationOptions {
  /// Samples to use, evenly spread over the data set; 0: all.
  size_t maxSamples = 0;
  /// Collect channel means (bias correction needs them) and extremes
  /// (equalisation does).
  bool channelMeans = true;
  std::string modelHash;
};

/// Is called before the first sample with done = 0 and after each one. Return
/// false to cancel.
using Progress = std::function<bool(size_t done, size_t total)>;

/// Runs `runner` on the samples and collects the statistics of all tensors.
/// Errors name the sample: an empty data set, a sample that cannot be read,
/// NaN or infinity in a tensor, cancellation.
absl::StatusOr<CalibrationStats>
runCalibration(FloatRunner &runner, Dataset &dataset,
               const CalibrationOptions &options,
               const Progress &progress = {});

} // namespace npu::calibration

#endif // PASSES_QUANTIZATION_CALIBRATION_RUNNER_H
