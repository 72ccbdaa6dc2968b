//===- ChannelGroups.h - Which channels share a scale -----------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_CHANNELGROUPS_H
#define PASSES_QUANTIZATION_CHANNELGROUPS_H

#include "passes/quantization/Intervals.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace npu {

/// One channel of a tensor that is rounded to 256 steps.
struct ChannelSignal {
  Interval range; ///< holds zero
  /// Rounding to smaller steps makes no difference where the tensor is used.
  double audible = 0;
};

/// Consecutive channels in groups: where each begins, and the bits lost: log2
/// of a group's step over the step of the channel alone, averaged.
struct Partition {
  std::vector<size_t> starts;
  double loss = 0;
};

/// The bits lost by all channels with one scale.
double bitsLost(llvm::ArrayRef<ChannelSignal> channels);

/// The fewest groups, at most `maxGroups`, of which one more would gain less
/// than `gain` bits. Of each number of groups the best one, by dynamic
/// programming: O(maxGroups * channels^2).
Partition partitionChannels(llvm::ArrayRef<ChannelSignal> channels,
                            size_t maxGroups, double gain);

} // namespace npu

#endif // PASSES_QUANTIZATION_CHANNELGROUPS_H
