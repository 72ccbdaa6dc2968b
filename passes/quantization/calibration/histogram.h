//===- histogram.h - Streaming histogram of activations ---------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CALIBRATION_HISTOGRAM_H
#define PASSES_QUANTIZATION_CALIBRATION_HISTOGRAM_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::calibration {

/// What one pass over the values finds out.
struct Scan {
  float min = 0, max = 0; ///< of the finite values; meaningless if !finite
  uint64_t zeros = 0;     ///< values that are exactly 0
  bool finite = true;     ///< no NaN and no infinity among them
};

/// Scans `n` > 0 values.
Scan scan(const float *data, size_t n);

/// Counts of values in kBins bins of equal width. The range grows with the
/// data by merging pairs of bins, so no count is ever split or interpolated,
/// and memory is constant. Until two different values were seen there are no
/// bins: all values equal `low()` and `width()` is 0.
class Histogram {
public:
  static constexpr int kBins = 2048;

  /// Adds `n` finite values whose smallest is `min` and largest is `max`.
  void add(const float *data, size_t n, float min, float max);

  /// Makes a histogram from stored parts. `counts` has kBins entries, or is
  /// empty when `width` is 0; then `total` values equal `low`.
  static Histogram fromParts(double low, double width,
                             std::vector<uint64_t> counts, uint64_t total);

  double low() const { return low_; }
  double width() const { return width_; }
  double high() const { return low_ + width_ * kBins; }
  uint64_t total() const { return total_; }
  /// kBins counts, or none when width() is 0.
  const std::vector<uint64_t> &counts() const { return counts_; }

private:
  void start(float min, float max);
  void cover(double min, double max);
  void count(const float *data, size_t n);
  int bin(double value) const;

  double low_ = 0, width_ = 0;
  uint64_t total_ = 0;
  std::vector<uint64_t> counts_;
};

/// sums[c] += data[r * channels + c] over all rows r; `n` is a multiple of
/// `channels`. Partial sums are f32 over short runs, the rest is f64.
void addChannelSums(const float *data, size_t n, size_t channels, double *sums);

/// The same for the smallest and largest value of each channel.
void widenChannels(const float *data, size_t n, size_t channels, float *min,
                   float *max);

} // namespace npu::calibration

#endif // PASSES_QUANTIZATION_CALIBRATION_HISTOGRAM_H
