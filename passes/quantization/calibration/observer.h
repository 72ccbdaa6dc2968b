//===- observer.h - Collects statistics of tensors --------------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CALIBRATION_OBSERVER_H
#define PASSES_QUANTIZATION_CALIBRATION_OBSERVER_H

#include <string>
#include <unordered_map>
#include <vector>

#include "passes/quantization/calibration/stats.h"

namespace npu::calibration {

/// Is shown every tensor of every sample; memory does not grow with samples.
class Observer {
public:
  /// Adds `n` values of tensor `name`. `channels` > 0 (the innermost
  /// dimension, it divides n) also collects the
  /// channels' means and extremes. Errors name the
  /// tensor: NaN or infinity, another number of channels than before.
  absl::Status observe(const std::string &name, const float *data, size_t n,
                       size_t channels = 0);

  /// What was seen, in the order in which tensors first appeared.
  CalibrationStats finish() const;

private:
  struct Entry {
    TensorStats stats;
    size_t channels = 0;
    std::vector<double> channelSums;
  };
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> index;
};

} // namespace npu::calibration

#endif // PASSES_QUANTIZATION_CALIBRATION_OBSERVER_H
