//===- DepthwiseRewrites.h - Ways to run a grouped convolution --*- C++ -*-===//
//
// All of them give the same integers. A plan says what one of them costs; the
// rewrite does what the plan says.
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_LEGALIZATION_DEPTHWISEREWRITES_H
#define PASSES_LEGALIZATION_DEPTHWISEREWRITES_H

#include "passes/legalization/GroupedConv.h"

#include <string>

namespace npu {

enum class DepthwiseWay {
  kNative,    ///< the target's own depthwise or grouped kernel
  kDense,     ///< blocks of groups, zeros between the groups of a block
  kVectorMac, ///< a multiply-accumulate of a shifted input for every tap
  kExpand,    ///< input channels repeated, then the depthwise kernel
};
constexpr int kNumDepthwiseWays = 4;
const char *nameOf(DepthwiseWay way);

struct DepthwisePlan {
  DepthwiseWay way = DepthwiseWay::kNative;
  bool possible = false;
  std::string why;    ///< it is not possible
  double cycles = 0;  ///< of one core, operands at hand
  int64_t block = 0;  ///< kDense: groups in a block
  bool split = false; ///< kDense: one command a block, not one with groups
};

DepthwisePlan planDepthwise(const target::Target &target,
                            const GroupedConv &conv, DepthwiseWay way);

/// The new value of `conv.output`; the operator itself stays. `data` may be
/// null for a plan that does not touch the filter.
mlir::Value rewriteDepthwise(mlir::OpBuilder &b, const GroupedConv &conv,
                             const DepthwisePlan &plan, const FilterData *data);

/// Does the plan need the filter's elements?
bool needsFilter(const GroupedConv &conv, const DepthwisePlan &plan);

} // namespace npu

#endif // PASSES_LEGALIZATION_DEPTHWISEREWRITES_H
