//===- ranges.cc - From statistics to a quantisation range ----------------===//
//
// Entropy: the search of S. Migacz, "8-bit Inference with TensorRT" (GTC 2017),
// carried over to an asymmetric grid:
// - the window is [lo, hi] around zero with 256 levels (there: |x| <= T with
//   128), and the two ends are searched separately;
// - P is the histogram inside the window with the clipped counts added to the
//   end bins, Q the window without them, merged to levels and spread over each
//   level's non-empty bins; a window under 256 bins is not tried;
// - exact zeros are left out: the grid holds zero exactly, so they lose
//   nothing, and after a relu their number would drown the rest.
// With prefix sums a window costs 256 logarithms instead of 2,048.
//
//===----------------------------------------------------------------------===//
#include "passes/quantization/calibration/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace npu::calibration {
namespace {

constexpr int kLevels = 256;
constexpr double kSteps = kLevels - 1;
/// Candidates for one end of a range, as fractions of the full range.
constexpr int kCandidates = 128;

Range fullRange(const TensorStats &stats) {
  return {std::min(0.0, double(stats.min)), std::max(0.0, double(stats.max))};
}

/// The counts without exact zeros.
std::vector<double> countsWithoutZeros(const TensorStats &stats) {
  const Histogram &h = stats.histogram;
  std::vector<double> counts(h.counts().begin(), h.counts().end());
  double zeroBin = std::floor((0 - h.low()) / h.width());
  if (stats.zeros && zeroBin >= 0 && zeroBin < Histogram::kBins) {
    double &c = counts[static_cast<size_t>(zeroBin)];
    c = std::max(0.0, c - double(stats.zeros));
  }
  return counts;
}

/// Squared error of a range in constant time. Moments are about `low`, in bins.
class SquaredError {
public:
  explicit SquaredError(const TensorStats &stats)
      : low(stats.histogram.low()), width(stats.histogram.width()),
        total(double(stats.count)) {
    std::vector<double> counts = countsWithoutZeros(stats);
    sums.resize(counts.size() + 1);
    for (size_t i = 0; i < counts.size(); ++i) {
      double u = i + 0.5, c = counts[i];
      sums[i + 1] = {sums[i][0] + c, sums[i][1] + c * u,
                     sums[i][2] + c * u * u};
    }
  }

  double operator()(Range r) const {
    double a = (r.min - low) / width, b = (r.max - low) / width;
    // A bin is clipped when its centre is outside.
    size_t first = edge(a + 0.5), last = edge(b + 0.5);
    const auto &all = sums.back();
    double below = distance(sums[first][0], sums[first][1], sums[first][2], a);
    double above = distance(all[0] - sums[last][0], all[1] - sums[last][1],
                            all[2] - sums[last][2], b);
    double inside = std::max(0.0, sums[last][0] - sums[first][0]);
    double step = (r.max - r.min) / kSteps / width;
    return (below + above + inside * step * step / 12) * width * width / total;
  }

private:
  static double distance(double s0, double s1, double s2, double at) {
    return std::max(0.0, s2 - 2 * at * s1 + at * at * s0);
  }
  size_t edge(double bins) const {
    return static_cast<size_t>(
        std::min(std::max(std::floor(bins), 0.0), double(sums.size() - 1)));
  }

  double low, width, total;
  std::vector<std::array<double, 3>> sums;
};

class Divergence {
public:
  explicit Divergence(const TensorStats &stats)
      : low(stats.histogram.low()), width(stats.histogram.width()),
        counts(countsWithoutZeros(stats)), sums(counts.size() + 1) {
    for (size_t i = 0; i < counts.size(); ++i)
      sums[i + 1] = {sums[i][0] + counts[i], sums[i][1] + (counts[i] > 0),
                     sums[i][2] + xlogx(counts[i])};
  }

  double operator()(Range r) const {
    // The window in bins; it may reach beyond the histogram to hold zero.
    double start = std::floor((r.min - low) / width + 0.5);
    double end = std::floor((r.max - low) / width + 0.5);
    int first = clampBin(start), last = clampBin(end);
    double raw = sums[last][0] - sums[first][0], total = sums.back()[0];
    if (raw <= 0 || end - start < 1)
      return total > 0 ? std::numeric_limits<double>::infinity() : 0;
    double below = sums[first][0], above = total - sums[last][0];
    double pLogP = sums[last][2] - sums[first][2];
    pLogP += endCorrection(first, last, below, above);
    double pLogQ = 0;
    int from = first;
    for (int level = 1; level <= kLevels; ++level) {
      int to = clampBin(std::floor(start + (end - start) * level / kLevels));
      to = std::min(to, last);
      pLogQ += levelTerm(from, to, first, last, below, above);
      from = to;
    }
    return (pLogP - pLogQ) / total - std::log(total) + std::log(raw);
  }

private:
  static double xlogx(double x) { return x > 0 ? x * std::log(x) : 0; }

  int clampBin(double bin) const {
    return static_cast<int>(
        std::min(std::max(bin, 0.0), double(counts.size())));
  }

  /// What adding the clipped counts to the end bins changes in sum(p log p).
  double endCorrection(int first, int last, double below, double above) const {
    double p = counts[first], q = counts[last - 1];
    if (first == last - 1)
      return xlogx(p + below + above) - xlogx(p);
    return xlogx(p + below) - xlogx(p) + xlogx(q + above) - xlogx(q);
  }

  /// P's mass in the level [from, to) times log Q there.
  double levelTerm(int from, int to, int first, int last, double below,
                   double above) const {
    if (from >= to)
      return 0;
    double mass = sums[to][0] - sums[from][0],
           filled = sums[to][1] - sums[from][1];
    double p = mass;
    if (from <= first && first < to && below > 0) {
      p += below;
      filled += counts[first] == 0;
    }
    if (from < last && last <= to && above > 0) {
      p += above;
      filled += counts[last - 1] == 0 && !(first == last - 1 && below > 0);
    }
    if (p <= 0)
      return 0;
    // Q empty where P is not: the usual small constant instead of infinity.
    return p * std::log(mass > 0 ? mass / filled : 1e-4);
  }

  double low, width;
  std::vector<double> counts;
  std::vector<std::array<double, 3>> sums; ///< counts, non-empty, c log c
};

/// Least cost over ranges inside `full`: first both ends together, then each
/// end by itself, twice. `admissible` filters candidates other than `full`.
template <typename Cost, typename Filter>
Range search(Range full, const Cost &cost, const Filter &admissible) {
  Range best = full;
  double least = cost(full);
  auto attempt = [&](Range r) {
    if (!admissible(r))
      return;
    double c = cost(r);
    if (c < least) {
      least = c;
      best = r;
    }
  };
  for (int k = kCandidates - 1; k > 0; --k) {
    double f = double(k) / kCandidates;
    attempt({full.min * f, full.max * f});
  }
  for (int round = 0; round < 2; ++round) {
    Range fixed = best;
    for (int k = kCandidates; k > 0 && full.max > 0; --k)
      attempt({fixed.min, full.max * k / kCandidates});
    fixed = best;
    for (int k = kCandidates; k > 0 && full.min < 0; --k)
      attempt({full.min * k / kCandidates, fixed.max});
  }
  return best;
}

/// The value below which `share` of all counts lie.
double quantile(const TensorStats &stats, double share) {
  const Histogram &h = stats.histogram;
  double target = share * double(h.total()), seen = 0;
  for (size_t i = 0; i < h.counts().size(); ++i) {
    double c = double(h.counts()[i]);
    if (c > 0 && seen + c >= target)
      return h.low() + h.width() * (i + (target - seen) / c);
    seen += c;
  }
  return stats.max;
}

Range percentileRange(const TensorStats &stats, double percentile) {
  double tail = (100 - std::min(std::max(percentile, 50.0), 100.0)) / 200;
  Range full = fullRange(stats);
  if (tail == 0)
    return full;
  return {std::min(0.0, std::max(full.min, quantile(stats, tail))),
          std::max(0.0, std::min(full.max, quantile(stats, 1 - tail)))};
}

} // namespace

absl::StatusOr<Method> parseMethod(const std::string &name) {
  for (Method m :
       {Method::kMinMax, Method::kPercentile, Method::kEntropy, Method::kMse})
    if (name == methodName(m))
      return m;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown calibration method \"", name,
                   "\"; use minmax, percentile, entropy or mse"));
}

const char *methodName(Method method) {
  switch (method) {
  case Method::kMinMax:
    return "minmax";
  case Method::kPercentile:
    return "percentile";
  case Method::kEntropy:
    return "entropy";
  case Method::kMse:
    return "mse";
  }
  return "?";
}

double meanSquaredError(const TensorStats &stats, Range range) {
  return stats.histogram.width() > 0 ? SquaredError(stats)(range) : 0;
}

double divergence(const TensorStats &stats, Range range) {
  return stats.histogram.width() > 0 ? Divergence(stats)(range) : 0;
}

Range chooseRange(const TensorStats &stats, const RangeOptions &options) {
  Range full = fullRange(stats);
  double width = stats.histogram.width();
  if (width <= 0 || full.min == full.max)
    return full; // constant
  switch (options.method) {
  case Method::kMinMax:
    return full;
  case Method::kPercentile:
    return percentileRange(stats, options.percentile);
  case Method::kEntropy:
    return search(full, Divergence(stats),
                  [&](Range r) { return r.max - r.min >= kLevels * width; });
  case Method::kMse:
    return search(full, SquaredError(stats), [](Range) { return true; });
  }
  return full;
}

} // namespace npu::calibration
