//===- Equalize.cc - npu-equalize -----------------------------------------===//
//
// A tensor has one scale, so a channel of small values has few levels. Its
// producer multiplies such a channel by a factor, its consumers divide by it.
//
//===----------------------------------------------------------------------===//

#include "passes/quantization/Passes.h"

#include "mlir/IR/Remarks.h"
#include "passes/quantization/ChannelRegions.h"
#include "passes/quantization/Types.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUEQUALIZEPASS
#include "passes/quantization/Passes.h.inc"

namespace {

/// A channel may grow to this share of its tensor's range: calibration did not
/// see its largest values.
constexpr double kFill = 0.8;
/// Smaller factors are not worth it.
constexpr double kLeast = 1.1;
/// The root mean square of a channel as a share of its extent, roughly.
constexpr double kRms = 1.0 / 6;

class Equalizer {
public:
  Equalizer(const ChannelRegion &region, double maxFactor)
      : region(region), factors(region.channels, maxFactor) {}

  /// True if something was changed.
  bool run() {
    if (!limitByRanges())
      return false;
    for (ClipOp clip : region.clips)
      limitByClip(clip);
    balance();
    for (double &f : factors)
      f = f < kLeast ? 1 : f;
    if (llvm::all_of(factors, [](double f) { return f == 1; }))
      return false;
    apply();
    return true;
  }
  double largest() const {
    return *std::max_element(factors.begin(), factors.end());
  }
  int64_t changed() const {
    return llvm::count_if(factors, [](double f) { return f > 1; });
  }

private:
  bool limitByRanges();
  void limitByClip(ClipOp clip);
  void balance();
  void addNoise(Operation *consumer, MutableArrayRef<double> rounding,
                MutableArrayRef<double> weights);
  void apply();
  void updateAttributes(Value tensor);

  const ChannelRegion &region;
  SmallVector<double> factors;
};

/// `f` such that f * value stays inside of `bound` (of the same sign).
double room(double bound, double value) {
  return value == 0 ? INFINITY : std::max(1.0, bound / value);
}

bool Equalizer::limitByRanges() {
  SmallVector<bool> alive(region.channels, false);
  for (Value tensor : region.tensors) {
    // It has the scale of what comes out of the clip.
    if (llvm::all_of(tensor.getUsers(), isClip))
      continue;
    auto range = rangeAttribute(tensor);
    SmallVector<Interval> channels = channelRanges(tensor);
    if (!range || channels.empty()) {
      Operation *op = tensor.getDefiningOp();
      if (hasFilter(op) || isBinary(op))
        return false;
      continue; // its values are the others'
    }
    for (auto [c, channel] : llvm::enumerate(channels)) {
      double fill = std::min(room(range->max, std::max(channel.max, 0.0)),
                             room(range->min, std::min(channel.min, 0.0)));
      alive[c] = alive[c] || std::isfinite(fill);
      factors[c] = std::min(factors[c], std::max(1.0, kFill * fill));
    }
  }
  for (auto [factor, isAlive] : llvm::zip(factors, alive))
    if (!isAlive)
      factor = 1;
  return true;
}

/// What calibration saw must pass as it did.
void Equalizer::limitByClip(ClipOp clip) {
  double low = clip.getMin().convertToFloat(),
         high = clip.getMax().convertToFloat();
  Operation *producer = clip.getInput().getDefiningOp();
  SmallVector<Interval> channels = channelRanges(clip.getInput());
  bool known = producer && !channels.empty() && low <= 0 && high >= 0;
  for (int64_t c = 0; c < region.channels; ++c) {
    if (!known) {
      factors[c] = 1;
      continue;
    }
    double up = room(high, std::max(channels[c].max, 0.0));
    double down =
        low == 0 ? INFINITY : room(low, std::min(channels[c].min, 0.0));
    factors[c] = std::min({factors[c], up, down});
  }
}

/// The expected squares of a consumer's errors at factor 1, by input channel:
/// from rounding activations (they shrink with the factor's square) and from
/// rounding weights (they grow with it; not where each input channel has a
/// weight scale of its own).
void Equalizer::addNoise(Operation *consumer, MutableArrayRef<double> rounding,
                         MutableArrayRef<double> weights) {
  Value input = consumer->getOperand(0);
  auto range = rangeAttribute(input),
       out = rangeAttribute(consumer->getResult(0));
  SmallVector<Interval> channels = channelRanges(input);
  auto filter = constantFloats(consumer->getOperand(kFilterOperand));
  if (!range || channels.empty() || !filter)
    return;
  double share = 1 / (out ? std::max(out->magnitude(), 1e-12) : 1);
  double step = (range->max - range->min) / 255 * share;
  FilterIndex index(consumer);
  std::vector<double> largest(index.outputs(), 0);
  for (size_t n = 0; n < filter->size(); ++n)
    largest[index.output(n)] =
        std::max(largest[index.output(n)], double(std::fabs((*filter)[n])));
  bool dense = !isa<DepthwiseConv2DOp>(consumer);
  for (size_t n = 0; n < filter->size(); ++n) {
    int64_t c = index.input(n);
    double x = kRms * (channels[c].max - channels[c].min) * share;
    double w = (*filter)[n], weightStep = largest[index.output(n)] / 127;
    rounding[c] += w * w * step * step;
    if (dense)
      weights[c] += x * x * weightStep * weightStep;
  }
}

/// The factor of least noise is (rounding / weights) ^ 1/4.
void Equalizer::balance() {
  std::vector<double> rounding(region.channels, 0), weights(rounding);
  for (Operation *consumer : region.consumers)
    addNoise(consumer, rounding, weights);
  for (int64_t c = 0; c < region.channels; ++c)
    if (weights[c] > 0)
      factors[c] = std::min(
          factors[c], std::max(1.0, std::pow(rounding[c] / weights[c], 0.25)));
}

Value scaled(OpBuilder &b, Value constant,
             llvm::function_ref<double(size_t)> factor) {
  std::vector<float> values = *constantFloats(constant);
  for (size_t n = 0; n < values.size(); ++n)
    values[n] = float(values[n] * factor(n));
  auto type = cast<RankedTensorType>(constant.getType());
  return ConstantOp::create(
      b, constant.getLoc(), type,
      DenseElementsAttr::get(type, ArrayRef<float>(values)));
}

void Equalizer::updateAttributes(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  Builder b(op->getContext());
  if (auto means = op->getAttrOfType<DenseF64ArrayAttr>(kMeanAttr);
      means && means.size() == region.channels) {
    SmallVector<double> list(means.asArrayRef());
    for (auto [mean, factor] : llvm::zip(list, factors))
      mean *= factor;
    op->setAttr(kMeanAttr, b.getDenseF64ArrayAttr(list));
  }
  SmallVector<Interval> channels = channelRanges(tensor);
  if (channels.empty())
    return;
  std::optional<Interval> range = rangeAttribute(tensor);
  SmallVector<double> list;
  for (auto [channel, factor] : llvm::zip(channels, factors)) {
    channel = {channel.min * factor, channel.max * factor};
    list.append({channel.min, channel.max});
    if (range && factor > 1)
      range = range->hull(channel);
  }
  op->setAttr(kChannelRangeAttr, b.getDenseF64ArrayAttr(list));
  if (range)
    op->setAttr(kRangeAttr, b.getDenseF64ArrayAttr({range->min, range->max}));
}

void Equalizer::apply() {
  for (Operation *op : region.producers) {
    OpBuilder b(op);
    FilterIndex index(op);
    op->setOperand(kFilterOperand,
                   scaled(b, op->getOperand(kFilterOperand),
                          [&](size_t n) { return factors[index.output(n)]; }));
    if (Value bias = biasOf(op))
      op->setOperand(kBiasOperand,
                     scaled(b, bias, [&](size_t n) { return factors[n]; }));
  }
  for (Operation *op : region.consumers) {
    OpBuilder b(op);
    FilterIndex index(op);
    op->setOperand(kFilterOperand,
                   scaled(b, op->getOperand(kFilterOperand), [&](size_t n) {
                     return 1 / factors[index.input(n)];
                   }));
  }
  for (Value tensor : region.tensors)
    updateAttributes(tensor);
}

struct NpuEqualize : impl::NpuEqualizePassBase<NpuEqualize> {
  using NpuEqualizePassBase::NpuEqualizePassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    if (!(maxFactor >= 1)) {
      function.emitError("npu-equalize: max-factor ")
          << double(maxFactor)
          << " is below 1; give 1 (nothing changes) or more";
      return signalPassFailure();
    }
    for (const ChannelRegion &region : findChannelRegions(function)) {
      Equalizer equalizer(region, maxFactor);
      if (equalizer.run())
        report(region, equalizer);
    }
    for (ConstantOp op : llvm::make_early_inc_range(
             function.getFunctionBody().front().getOps<ConstantOp>()))
      if (op->use_empty())
        op.erase();
  }

  void report(const ChannelRegion &region, const Equalizer &equalizer) {
    Operation *first = region.producers.front();
    std::string text = std::to_string(equalizer.changed()) + " of " +
                       std::to_string(region.channels) + " channels of '" +
                       nodeName(first->getLoc()) + "' scaled, at most by " +
                       std::to_string(equalizer.largest());
    remark::passed(
        first->getLoc(),
        remark::RemarkOpts::name("equalised").category("npu-equalize"))
        << text;
  }
};

} // namespace
} // namespace npu
