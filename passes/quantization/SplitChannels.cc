//===- SplitChannels.cc - npu-split-channels ------------------------------===//
//
// conv -> function -> depthwise conv works channel by channel after the first,
// so each group of channels can have tensors, and scales, of its own.
//
//===----------------------------------------------------------------------===//

#include "passes/quantization/Passes.h"

#include "mlir/IR/Remarks.h"
#include "passes/quantization/ChannelGroups.h"
#include "passes/quantization/ChannelRegions.h"
#include "passes/quantization/Types.h"

#include <numeric>

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUSPLITCHANNELSPASS
#include "passes/quantization/Passes.h.inc"

namespace {

/// A constant with its slices along `axis` in another order, or some of them.
Value pick(OpBuilder &b, Value constant, int64_t axis,
           ArrayRef<int64_t> slices) {
  std::vector<float> from = *constantFloats(constant), to;
  auto type = cast<RankedTensorType>(constant.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t inner = 1, count = shape[axis];
  for (size_t d = axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  for (size_t outer = 0; outer < from.size() / (inner * count); ++outer)
    for (int64_t slice : slices) {
      auto first = from.begin() + (outer * count + slice) * inner;
      to.insert(to.end(), first, first + inner);
    }
  shape[axis] = slices.size();
  auto picked = RankedTensorType::get(shape, type.getElementType());
  return ConstantOp::create(
      b, constant.getLoc(), picked,
      DenseElementsAttr::get(picked, ArrayRef<float>(to)));
}

/// The same choice among what is known of the channels of a result.
void pickAttributes(Operation *op, ArrayRef<int64_t> slices) {
  Builder b(op->getContext());
  for (const char *name : {kMeanAttr, kChannelRangeAttr}) {
    auto list = op->getAttrOfType<DenseF64ArrayAttr>(name);
    size_t each = name == StringRef(kMeanAttr) ? 1 : 2;
    if (!list)
      continue;
    SmallVector<double> picked;
    for (int64_t c : slices)
      for (size_t i = 0; i < each && c * each + i < list.size(); ++i)
        picked.push_back(list[c * each + i]);
    op->setAttr(name, b.getDenseF64ArrayAttr(picked));
  }
}

void pickOutputs(Operation *filter, ArrayRef<int64_t> slices) {
  OpBuilder b(filter);
  filter->setOperand(kFilterOperand, pick(b, filter->getOperand(kFilterOperand),
                                          filterAxis(filter), slices));
  if (Value bias = biasOf(filter))
    filter->setOperand(kBiasOperand, pick(b, bias, 0, slices));
}

/// conv (dense), functions, depthwise filter, functions: the tensors in
/// between have no other reader.
struct Chain {
  SmallVector<Operation *> ops;
  size_t depthwise = 0;
};

std::optional<Chain> chainOf(Operation *depthwise) {
  Chain chain;
  Operation *op = depthwise->getOperand(0).getDefiningOp();
  for (; op && op->hasOneUse() && isFunction(op);
       op = op->getOperand(0).getDefiningOp())
    chain.ops.insert(chain.ops.begin(), op);
  if (!op || !op->hasOneUse() || !isPlainFilter(op) ||
      isa<DepthwiseConv2DOp>(op))
    return std::nullopt;
  // Through the others, equalisation has made the channels alike.
  if (llvm::all_of(chain.ops, [](Operation *function) {
        return isClip(function) || isa<LeakyReluOp>(function);
      }))
    return std::nullopt;
  chain.ops.insert(chain.ops.begin(), op);
  chain.depthwise = chain.ops.size();
  chain.ops.push_back(depthwise);
  while (chain.ops.back()->hasOneUse() &&
         isFunction(*chain.ops.back()->user_begin()))
    chain.ops.push_back(*chain.ops.back()->user_begin());
  return chain;
}

struct Site {
  Chain chain;
  std::vector<ChannelSignal> signals;
  double loss = 0; ///< bits, as one group
};

/// What each channel ahead of the depthwise filter may lose.
std::optional<Site> siteOf(Operation *depthwise) {
  std::optional<Chain> chain = chainOf(depthwise);
  if (!chain)
    return std::nullopt;
  SmallVector<Interval> in =
      channelRanges(chain->ops[chain->depthwise - 1]->getResult(0));
  SmallVector<Interval> out = channelRanges(depthwise->getResult(0));
  if (in.empty() || out.empty())
    return std::nullopt;
  FilterIndex index(depthwise);
  std::vector<double> gain(in.size(), 0);
  auto filter = *constantFloats(depthwise->getOperand(kFilterOperand));
  for (size_t n = 0; n < filter.size(); ++n)
    gain[index.output(n)] += double(filter[n]) * filter[n];
  Site site{std::move(*chain), {}, 0};
  for (auto [c, range] : llvm::enumerate(in)) {
    Interval withZero{std::min(range.min, 0.0), std::max(range.max, 0.0)};
    // The filter makes of it less than rounding its result alone would.
    double audible =
        gain[c] > 0 ? (out[c].max - out[c].min) / 255 / std::sqrt(gain[c]) : 0;
    site.signals.push_back({withZero, audible});
  }
  site.loss = bitsLost(site.signals);
  return site;
}

class Splitter {
public:
  Splitter(const ChannelOrderRegion &region, int64_t maxGroups, double gain)
      : region(region), maxGroups(maxGroups), gain(gain) {}

  /// Reorders the region and splits its chains; calls `report` for each.
  void run(llvm::function_ref<void(const Site &, const Partition &)> report) {
    std::vector<Site> sites;
    for (Operation *depthwise : region.depthwise)
      if (std::optional<Site> site = siteOf(depthwise);
          site && site->loss >= gain)
        sites.push_back(std::move(*site));
    if (sites.empty())
      return;
    auto worst = std::max_element(
        sites.begin(), sites.end(),
        [](const Site &a, const Site &b) { return a.loss < b.loss; });
    SmallVector<int64_t> order(region.channels);
    std::iota(order.begin(), order.end(), 0);
    auto extent = [&](int64_t c) {
      return worst->signals[c].range.magnitude();
    };
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return std::make_pair(-extent(a), a) < std::make_pair(-extent(b), b);
    });
    std::vector<std::pair<Site *, Partition>> splits;
    for (Site &site : sites) {
      std::vector<ChannelSignal> sorted;
      for (int64_t c : order)
        sorted.push_back(site.signals[c]);
      Partition partition = partitionChannels(sorted, maxGroups, gain);
      if (partition.starts.size() > 1)
        splits.push_back({&site, std::move(partition)});
    }
    if (splits.empty())
      return;
    reorder(order);
    for (auto &[site, partition] : splits) {
      report(*site, partition);
      split(site->chain, partition);
    }
  }

private:
  void reorder(ArrayRef<int64_t> order);
  void split(const Chain &chain, const Partition &partition);

  const ChannelOrderRegion &region;
  int64_t maxGroups;
  double gain;
};

void Splitter::reorder(ArrayRef<int64_t> order) {
  for (Operation *op : region.producers)
    pickOutputs(op, order);
  for (Operation *op : region.depthwise)
    pickOutputs(op, order);
  for (Operation *op : region.consumers) {
    OpBuilder b(op);
    Value filter = op->getOperand(kFilterOperand);
    int64_t axis = cast<RankedTensorType>(filter.getType()).getRank() - 1;
    op->setOperand(kFilterOperand, pick(b, filter, axis, order));
  }
  for (OpOperand *constant : region.constants) {
    OpBuilder b(constant->getOwner());
    int64_t axis =
        cast<RankedTensorType>(constant->get().getType()).getRank() - 1;
    constant->set(pick(b, constant->get(), axis, order));
  }
  for (Value tensor : region.tensors)
    pickAttributes(tensor.getDefiningOp(), order);
}

/// The range of a group: that of its channels, as far as the method of
/// calibration does not clip the whole tensor there.
void narrowRange(Operation *part) {
  auto range = rangeAttribute(part->getResult(0));
  SmallVector<Interval> channels = channelRanges(part->getResult(0));
  if (!range || channels.empty())
    return;
  Interval group; // zero is always in it
  for (Interval channel : channels)
    group = group.hull(channel);
  group = {std::max(range->min, group.min), std::min(range->max, group.max)};
  if (group.min < group.max)
    part->setAttr(kRangeAttr,
                  Builder(part->getContext())
                      .getDenseF64ArrayAttr({group.min, group.max}));
}

void Splitter::split(const Chain &chain, const Partition &partition) {
  Operation *last = chain.ops.back();
  OpBuilder b(last);
  SmallVector<Value> parts;
  for (size_t g = 0; g < partition.starts.size(); ++g) {
    int64_t end = g + 1 < partition.starts.size() ? partition.starts[g + 1]
                                                  : region.channels;
    SmallVector<int64_t> slices;
    for (int64_t c = partition.starts[g]; c < end; ++c)
      slices.push_back(c);
    Value value = chain.ops.front()->getOperand(0);
    for (auto [i, op] : llvm::enumerate(chain.ops)) {
      Operation *part = b.clone(*op);
      part->setOperand(0, value);
      part->removeAttr("npu.tensor"); // it is not the whole tensor
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.back() = slices.size();
      part->getResult(0).setType(
          RankedTensorType::get(shape, type.getElementType()));
      if (isPlainFilter(op))
        pickOutputs(part, slices);
      pickAttributes(part, slices);
      if (i + 1 < chain.ops.size()) // the last ones are joined, at one scale
        narrowRange(part);
      value = part->getResult(0);
    }
    parts.push_back(value);
  }
  int64_t axis = cast<RankedTensorType>(parts[0].getType()).getRank() - 1;
  auto whole = ConcatOp::create(b, last->getLoc(), last->getResult(0).getType(),
                                parts, axis);
  for (const char *name :
       {"npu.tensor", kRangeAttr, kMeanAttr, kChannelRangeAttr})
    if (Attribute value = last->getAttr(name))
      whole->setAttr(name, value);
  last->getResult(0).replaceAllUsesWith(whole->getResult(0));
  for (Operation *op : llvm::reverse(chain.ops))
    op->erase();
}

struct NpuSplitChannels : impl::NpuSplitChannelsPassBase<NpuSplitChannels> {
  using NpuSplitChannelsPassBase::NpuSplitChannelsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    if (maxGroups < 1 || !(gain > 0)) {
      function.emitError("npu-split-channels: max-groups ")
          << int64_t(maxGroups) << " and gain " << double(gain)
          << " have to be at least 1 and above 0";
      return signalPassFailure();
    }
    for (const ChannelOrderRegion &region : findChannelOrderRegions(function))
      Splitter(region, maxGroups, gain).run(report);
    for (ConstantOp op : llvm::make_early_inc_range(
             function.getFunctionBody().front().getOps<ConstantOp>()))
      if (op->use_empty())
        op.erase();
  }

  static void report(const Site &site, const Partition &partition) {
    Operation *depthwise = site.chain.ops[site.chain.depthwise];
    std::string sizes;
    for (size_t g = 0; g < partition.starts.size(); ++g) {
      size_t end = g + 1 < partition.starts.size() ? partition.starts[g + 1]
                                                   : site.signals.size();
      sizes += (g ? ", " : "") + std::to_string(end - partition.starts[g]);
    }
    char bits[64];
    std::snprintf(bits, sizeof bits, "%.1f bits a channel, before %.1f",
                  partition.loss, site.loss);
    std::string text = "the input of '" + nodeName(depthwise->getLoc()) +
                       "' in groups of " + sizes +
                       " channels with scales of their own: they lose " + bits;
    remark::passed(
        depthwise->getLoc(),
        remark::RemarkOpts::name("split").category("npu-split-channels"))
        << text;
  }
};

} // namespace
} // namespace npu
