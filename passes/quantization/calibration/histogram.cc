//===- histogram.cc - Streaming histogram of activations ------------------===//
#include "passes/quantization/calibration/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

// The hot loops are plain C++ that vectorises; on x86-64 they exist twice and
// the better one is chosen at load time.
#if defined(__x86_64__) && defined(__clang__)
#define NPU_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define NPU_CLONES
#endif

namespace npu::calibration {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kBlock = 1024;
/// Below this a bin's reciprocal width would overflow float.
constexpr double kMinWidth = 1e-35;

struct LaneScan {
  float min[kLanes], max[kLanes], poison[kLanes];
  uint32_t zeros[kLanes];
};

// The lanes are locals: as memory of the caller they would be stored and
// loaded again for every value.
NPU_CLONES void scanLanes(const float *data, size_t blocks, LaneScan &out) {
  float min[kLanes], max[kLanes], poison[kLanes];
  uint32_t zeros[kLanes];
  for (size_t j = 0; j < kLanes; ++j) {
    min[j] = max[j] = data[j];
    poison[j] = 0;
    zeros[j] = 0;
  }
  for (size_t b = 0; b < blocks; ++b)
    for (size_t j = 0; j < kLanes; ++j) {
      float x = data[b * kLanes + j];
      min[j] = x < min[j] ? x : min[j];
      max[j] = x > max[j] ? x : max[j];
      // 0 * x is NaN exactly for NaN and infinities.
      poison[j] += x * 0.0f;
      zeros[j] += x == 0.0f;
    }
  std::copy_n(min, kLanes, out.min);
  std::copy_n(max, kLanes, out.max);
  std::copy_n(poison, kLanes, out.poison);
  std::copy_n(zeros, kLanes, out.zeros);
}

/// index[i] = bin of data[i], saturated to [0, kBins).
NPU_CLONES void binIndices(const float *data, size_t n, float low,
                           float inverse, uint16_t *index) {
  constexpr float last = Histogram::kBins - 1;
  for (size_t i = 0; i < n; ++i) {
    float t = (data[i] - low) * inverse;
    t = t < last ? t : last;
    t = t > 0.0f ? t : 0.0f;
    index[i] = static_cast<uint16_t>(static_cast<int32_t>(t));
  }
}

NPU_CLONES void addRows(const float *data, size_t rows, size_t period,
                        float *acc) {
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < period; ++c)
      acc[c] += data[r * period + c];
}

} // namespace

Scan scan(const float *data, size_t n) {
  Scan out;
  out.min = out.max = data[0];
  float poison = 0;
  // 32-bit lane counters: at most 2^31 steps at a time.
  constexpr size_t kStep = size_t(1) << 31;
  size_t blocks = n / kLanes;
  for (size_t done = 0; done < blocks;) {
    size_t now = std::min(blocks - done, kStep);
    LaneScan s;
    scanLanes(data + done * kLanes, now, s);
    for (size_t j = 0; j < kLanes; ++j) {
      out.min = std::min(out.min, s.min[j]);
      out.max = std::max(out.max, s.max[j]);
      poison += s.poison[j];
      out.zeros += s.zeros[j];
    }
    done += now;
  }
  for (size_t i = blocks * kLanes; i < n; ++i) {
    out.min = std::min(out.min, data[i]);
    out.max = std::max(out.max, data[i]);
    poison += data[i] * 0.0f;
    out.zeros += data[i] == 0.0f;
  }
  out.finite = poison == 0.0f;
  return out;
}

void addChannelSums(const float *data, size_t n, size_t channels,
                    double *sums) {
  // Few channels: several pixels make one row, so that the inner loop is long.
  size_t period = channels;
  while (period < 64 && period * 2 <= n && n % (period * 2) == 0)
    period *= 2;
  constexpr size_t kRun = 128; // rows summed in f32 before going to f64
  std::vector<float> acc(period);
  size_t rows = n / period;
  for (size_t r = 0; r < rows; r += kRun) {
    std::fill(acc.begin(), acc.end(), 0.0f);
    addRows(data + r * period, std::min(kRun, rows - r), period, acc.data());
    for (size_t c = 0; c < period; ++c)
      sums[c % channels] += acc[c];
  }
}

void widenChannels(const float *data, size_t n, size_t channels, float *min,
                   float *max) {
  // As above: several pixels make one row.
  size_t period = channels;
  while (period < 64 && period * 2 <= n && n % (period * 2) == 0)
    period *= 2;
  std::vector<float> low(data, data + period), high(low);
  for (size_t i = 0; i < n; i += period)
    for (size_t c = 0; c < period; ++c) {
      low[c] = std::min(low[c], data[i + c]);
      high[c] = std::max(high[c], data[i + c]);
    }
  for (size_t c = 0; c < period; ++c) {
    min[c % channels] = std::min(min[c % channels], low[c]);
    max[c % channels] = std::max(max[c % channels], high[c]);
  }
}

Histogram Histogram::fromParts(double low, double width,
                               std::vector<uint64_t> counts, uint64_t total) {
  Histogram h;
  h.low_ = low;
  h.width_ = width;
  h.counts_ = std::move(counts);
  h.total_ = total;
  return h;
}

int Histogram::bin(double value) const {
  double t = (value - low_) / width_;
  return static_cast<int>(std::min(std::max(t, 0.0), double(kBins - 1)));
}

void Histogram::add(const float *data, size_t n, float min, float max) {
  if (n == 0)
    return;
  if (counts_.empty()) {
    bool constant = min == max && (total_ == 0 || min == float(low_));
    if (constant) {
      low_ = min;
      total_ += n;
      return;
    }
    start(min, max);
  }
  cover(min, max);
  total_ += n;
  if (min == max)
    counts_[bin(min)] += n;
  else
    count(data, n);
}

/// The first range: that of the data with room to grow, except across zero
/// (the range of a relu stays at 0).
void Histogram::start(float min, float max) {
  uint64_t constants = total_;
  double constant = low_;
  double low = min, high = max;
  if (constants) {
    low = std::min(low, constant);
    high = std::max(high, constant);
  }
  double room = (high - low) / 4;
  if (low != 0)
    low = low > 0 ? std::max(0.0, low - room) : low - room;
  if (high != 0)
    high = high < 0 ? std::min(0.0, high + room) : high + room;
  low_ = low;
  width_ = std::max((high - low) / kBins, kMinWidth);
  counts_.assign(kBins, 0);
  if (constants)
    counts_[bin(constant)] += constants;
}

void Histogram::cover(double min, double max) {
  while (max > high()) {
    for (int i = 0; i < kBins / 2; ++i)
      counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + kBins / 2, counts_.end(), 0);
    width_ *= 2;
  }
  while (min < low_) {
    low_ -= width_ * kBins;
    for (int i = kBins - 1; i >= kBins / 2; --i) {
      int from = 2 * (i - kBins / 2);
      counts_[i] = counts_[from] + counts_[from + 1];
    }
    std::fill(counts_.begin(), counts_.begin() + kBins / 2, 0);
    width_ *= 2;
  }
}

void Histogram::count(const float *data, size_t n) {
  // Four tables: equal neighbours (zeros after a relu) would otherwise wait
  // for each other's store.
  std::array<std::array<uint32_t, kBins>, 4> tables;
  uint16_t index[kBlock];
  const float low = static_cast<float>(low_);
  const float inverse = static_cast<float>(1.0 / width_);
  constexpr size_t kFlush = size_t(1) << 31;
  for (size_t begin = 0; begin < n; begin += kFlush) {
    for (auto &table : tables)
      table.fill(0);
    size_t end = std::min(n, begin + kFlush);
    for (size_t i = begin; i < end; i += kBlock) {
      size_t m = std::min(kBlock, end - i);
      binIndices(data + i, m, low, inverse, index);
      size_t j = 0;
      for (; j + 4 <= m; j += 4) {
        ++tables[0][index[j]];
        ++tables[1][index[j + 1]];
        ++tables[2][index[j + 2]];
        ++tables[3][index[j + 3]];
      }
      for (; j < m; ++j)
        ++tables[0][index[j]];
    }
    for (int b = 0; b < kBins; ++b)
      counts_[b] +=
          uint64_t(tables[0][b]) + tables[1][b] + tables[2][b] + tables[3][b];
  }
}

} // namespace npu::calibration
