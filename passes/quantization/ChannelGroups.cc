//===- ChannelGroups.cc - Which channels share a scale --------------------===//

#include "passes/quantization/ChannelGroups.h"

#include <limits>

namespace npu {

static double stepOf(Interval range) { return (range.max - range.min) / 255; }

/// log2 of the step below which a channel loses nothing; a channel of zeros
/// never does.
static double finest(const ChannelSignal &channel) {
  double step = stepOf(channel.range);
  return step > 0 ? std::log2(std::max(step, channel.audible))
                  : std::numeric_limits<double>::infinity();
}

double bitsLost(llvm::ArrayRef<ChannelSignal> channels) {
  if (channels.empty())
    return 0;
  Interval hull;
  for (const ChannelSignal &channel : channels)
    hull = hull.hull(channel.range);
  double step = std::log2(stepOf(hull)), sum = 0;
  for (const ChannelSignal &channel : channels)
    sum += std::max(0.0, step - finest(channel));
  return sum / channels.size();
}

Partition partitionChannels(llvm::ArrayRef<ChannelSignal> channels,
                            size_t maxGroups, double gain) {
  size_t n = channels.size();
  Partition result{{0}, bitsLost(channels)};
  maxGroups = std::min(maxGroups, n);
  if (result.loss < gain || maxGroups < 2)
    return result;
  std::vector<std::vector<double>> loss(n, std::vector<double>(n + 1, 0));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a + 1; b <= n; ++b)
      loss[a][b] = bitsLost(channels.slice(a, b - a)) * (b - a);
  // best[end]: least loss of the channels before `end`; from[groups][end]: the
  // start of the last group then.
  std::vector<double> best = loss[0];
  std::vector<std::vector<size_t>> from(2, std::vector<size_t>(n + 1, 0));
  for (size_t groups = 2; groups <= maxGroups; ++groups) {
    std::vector<double> next(n + 1, std::numeric_limits<double>::infinity());
    from.emplace_back(n + 1, 0);
    for (size_t end = groups; end <= n; ++end)
      for (size_t start = groups - 1; start < end; ++start)
        if (best[start] + loss[start][end] < next[end]) {
          next[end] = best[start] + loss[start][end];
          from[groups][end] = start;
        }
    best = std::move(next);
    if (best[n] / n > result.loss - gain)
      break;
    result = {std::vector<size_t>(groups), best[n] / n};
    for (size_t g = groups, end = n; g > 0; --g)
      end = result.starts[g - 1] = from[g][end];
  }
  return result;
}

} // namespace npu
