//===- runner.cc - Calibrates a float model on a data set -----------------===//
#include "passes/quantization/calibration/runner.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "passes/quantization/calibration/observer.h"

namespace npu::calibration {
namespace {

absl::Status ofSample(const std::string &sample, const absl::Status &status) {
  return {status.code(), absl::StrCat("calibration sample ", sample, ": ",
                                      std::string(status.message()))};
}

} // namespace

absl::StatusOr<CalibrationStats>
runCalibration(FloatRunner &runner, Dataset &dataset,
               const CalibrationOptions &options, const Progress &progress) {
  const size_t size = dataset.size();
  if (size == 0)
    return absl::InvalidArgumentError(
        "the calibration data set is empty; give a folder with pictures or "
        ".npy/.npz files");
  const size_t total =
      options.maxSamples ? std::min(options.maxSamples, size) : size;
  auto proceed = [&](size_t done) {
    return !progress || progress(done, total);
  };

  Observer observer;
  auto tap = [&](const TensorView &view) {
    size_t n = 1;
    for (int64_t dim : view.shape)
      n *= static_cast<size_t>(dim);
    size_t channels = 0;
    if (options.channelMeans && !view.shape.empty())
      channels = static_cast<size_t>(view.shape.back());
    return observer.observe(view.name, view.data, n, channels);
  };
  for (size_t k = 0; k < total; ++k) {
    if (!proceed(k))
      return absl::CancelledError("calibration was cancelled");
    size_t i = k * size / total;
    absl::StatusOr<std::vector<InputTensor>> inputs = dataset.get(i);
    if (!inputs.ok())
      return ofSample(dataset.name(i), inputs.status());
    absl::Status status = runner.run(*inputs, tap);
    if (!status.ok())
      return ofSample(dataset.name(i), status);
  }
  proceed(total);
  CalibrationStats stats = observer.finish();
  stats.modelHash = options.modelHash;
  stats.datasetDigest = dataset.digest();
  stats.samples = static_cast<int64_t>(total);
  return stats;
}

} // namespace npu::calibration
