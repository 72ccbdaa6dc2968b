//===- FoldAffine.cc - npu-fold-affine ------------------------------------===//

#include "passes/legalization/Passes.h"

#include "passes/legalization/Constants.h"
#include "passes/legalization/FoldPad.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUFOLDAFFINEPASS
#include "passes/legalization/Passes.h.inc"

namespace {

/// y[.., c] = x[.., c] * scale[c] + offset[c].
struct Affine {
  SmallVector<double> scale, offset;

  explicit Affine(int64_t channels) : scale(channels, 1), offset(channels, 0) {}
  bool finite() const {
    return llvm::all_of(scale, [](double v) { return std::isfinite(v); }) &&
           llvm::all_of(offset, [](double v) { return std::isfinite(v); });
  }
  bool scales() const {
    return llvm::any_of(scale, [](double v) { return v != 1; });
  }
  bool shifts() const {
    return llvm::any_of(offset, [](double v) { return v != 0; });
  }
};

enum class Kind { kMul, kDiv, kAdd, kSub, kSubFrom };

/// `op` as one step of an affine chain.
struct Step {
  Operation *op = nullptr;
  Value through;      ///< the operand that is not constant
  unsigned index = 0; ///< of that operand
  Kind kind = Kind::kMul;
  SmallVector<float> values;
};

std::optional<Kind> kindOf(Operation *op, bool throughLhs) {
  using Result = std::optional<Kind>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([](MulOp) { return Kind::kMul; })
      .Case([](AddOp) { return Kind::kAdd; })
      .Case([&](SubOp) { return throughLhs ? Kind::kSub : Kind::kSubFrom; })
      .Case([&](DivOp) { return throughLhs ? Result(Kind::kDiv) : Result(); })
      .Default([](Operation *) { return Result(); });
}

std::optional<Step> stepOf(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      op->hasAttr("activation"))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.getElementType().isF32() || type.getRank() == 0)
    return std::nullopt;
  for (int i : {0, 1}) {
    Value through = op->getOperand(i);
    auto kind = kindOf(op, i == 0);
    if (!kind || through.getType() != type)
      continue;
    if (auto values = channelsOf(op->getOperand(1 - i), type.getShape().back()))
      return Step{op, through, static_cast<unsigned>(i), *kind,
                  std::move(*values)};
  }
  return std::nullopt;
}

void apply(const Step &step, Affine &affine) {
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    double v = step.values[step.values.size() == 1 ? 0 : c];
    double &scale = affine.scale[c], &offset = affine.offset[c];
    switch (step.kind) {
    case Kind::kMul:
      scale *= v;
      offset *= v;
      break;
    case Kind::kDiv:
      scale /= v;
      offset /= v;
      break;
    case Kind::kAdd:
      offset += v;
      break;
    case Kind::kSub:
      offset -= v;
      break;
    case Kind::kSubFrom:
      scale = -scale;
      offset = v - offset;
      break;
    }
  }
}

bool keepsChannels(ReshapeOp op) {
  ArrayRef<int64_t> in = tensorType(op.getInput()).getShape();
  return !in.empty() && !op.getShape().empty() &&
         in.back() == op.getShape().back();
}

/// The longest chain of steps after `start`; each value before the last has one
/// use. Reshapes that keep the channels may lie between the steps.
SmallVector<Step> chainAfter(Value start) {
  SmallVector<Step> steps;
  Value value = start;
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    if (auto step = stepOf(user)) {
      steps.push_back(std::move(*step));
    } else if (auto reshape = dyn_cast<ReshapeOp>(user);
               !reshape || !keepsChannels(reshape)) {
      break;
    }
    value = user->getResult(0);
  }
  return steps;
}

Affine total(ArrayRef<Step> steps, int64_t channels) {
  Affine affine(channels);
  for (const Step &step : steps)
    apply(step, affine);
  return affine;
}

/// Takes the steps out of the chain. Values between `producer` and the last
/// step are no longer the tensors they were named after.
void removeSteps(Operation *producer, ArrayRef<Step> steps) {
  for (const Step &step : steps) {
    // Steps before this one are gone: `step.through` may be, too.
    Value through = step.op->getOperand(step.index);
    Operation *before = through.getDefiningOp();
    for (Operation *op = before; op; op = op->getOperand(0).getDefiningOp()) {
      op->removeAttr("npu.tensor");
      if (op == producer)
        break;
    }
    if (before)
      moveTensorName(step.op, before);
    step.op->getResult(0).replaceAllUsesWith(through);
    step.op->erase();
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Scales weights along dimension `axis`; index c is scaled by
/// scale[first + c / period].
void scaleAlong(MutableArrayRef<float> weights, ArrayRef<int64_t> shape,
                int64_t axis, ArrayRef<double> scale, int64_t first,
                int64_t period) {
  int64_t inner = 1;
  for (int64_t d : shape.drop_front(axis + 1))
    inner *= d;
  for (size_t i = 0; i < weights.size(); ++i) {
    int64_t c = (static_cast<int64_t>(i) / inner) % shape[axis];
    weights[i] = static_cast<float>(weights[i] * scale[first + c / period]);
  }
}

template <typename Op> bool isPlainFloat(Op op) {
  return !op.getActivationAttr() && !op.getResidual() &&
         elementType(op.getInput()).isF32() &&
         elementType(op.getOutput()).isF32() &&
         op.getFilter().template getDefiningOp<ConstantOp>() &&
         (!op.getBias() || op.getBias().template getDefiningOp<ConstantOp>());
}

template <typename Op>
void setWeights(Op op, ArrayRef<float> weights,
                std::optional<ArrayRef<float>> bias) {
  OpBuilder b(op);
  op.getFilterMutable().assign(makeFloats(b, op.getFilter().getLoc(),
                                          tensorType(op.getFilter()).getShape(),
                                          weights));
  if (!bias)
    return;
  auto channels = static_cast<int64_t>(bias->size());
  op.getBiasMutable().assign(makeFloats(b, op.getLoc(), channels, *bias));
}

/// The steps after `op` into its weights and bias.
template <typename Op> bool foldBack(Op op) {
  auto filter = tensorType(op.getFilter());
  int64_t axis = isa<DepthwiseConv2DOp>(op) ? 2 : 0;
  int64_t channels = op.getOutput().getType().getShape().back();
  SmallVector<Step> steps;
  if (isPlainFloat(op))
    steps = chainAfter(op.getOutput());
  if (steps.empty())
    return false;
  Affine affine = total(steps, channels);
  if (!affine.finite())
    return false;
  auto weights = floatsOf(op.getFilter());
  std::optional<SmallVector<float>> bias(SmallVector<float>(channels, 0.0f));
  if (op.getBias())
    bias = floatsOf(op.getBias());
  if (!weights || !bias)
    return false;
  if (affine.scales())
    scaleAlong(*weights, filter.getShape(), axis, affine.scale, 0, 1);
  for (int64_t c = 0; c < channels; ++c)
    (*bias)[c] =
        static_cast<float>((*bias)[c] * affine.scale[c] + affine.offset[c]);
  if (op.getBias() || affine.shifts())
    setWeights(op, *weights, ArrayRef(*bias));
  else
    setWeights(op, *weights, std::nullopt);
  SmallVector<Operation *> merged{op};
  for (const Step &step : steps)
    merged.push_back(step.op);
  Location loc = fuseLocs(merged);
  removeSteps(op, steps);
  op->setLoc(loc);
  return true;
}

//===----------------------------------------------------------------------===//
// Into what follows
//===----------------------------------------------------------------------===//

/// How the input channels of a matrix operator meet its filter.
struct InputSide {
  int64_t axis;       ///< of the filter
  int64_t multiplier; ///< outputs of an input channel (depthwise)
  int64_t groups;
  bool padded; ///< an offset would not reach the border
};

std::optional<InputSide> inputSide(Operation *op) {
  using Result = std::optional<InputSide>;
  auto any = [](ArrayRef<int64_t> pads) {
    return llvm::any_of(pads, [](int64_t p) { return p != 0; });
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](Conv2DOp op) -> Result {
        if (!isPlainFloat(op))
          return {};
        return InputSide{3, 1, static_cast<int64_t>(op.getGroups()),
                         any(op.getPads())};
      })
      .Case([&](DepthwiseConv2DOp op) -> Result {
        if (!isPlainFloat(op))
          return {};
        int64_t m = tensorType(op.getFilter()).getDimSize(2) /
                    tensorType(op.getInput()).getDimSize(3);
        return InputSide{2, m, 1, any(op.getPads())};
      })
      .Case([&](TransposeConv2DOp op) -> Result {
        // Every output sees another set of taps: scales only.
        if (!isPlainFloat(op))
          return {};
        return InputSide{3, 1, static_cast<int64_t>(op.getGroups()), true};
      })
      .Case([&](FullyConnectedOp op) -> Result {
        if (!isPlainFloat(op))
          return {};
        return InputSide{1, 1, 1, false};
      })
      .Default([](Operation *) { return Result(); });
}

/// bias[oc] += sum of weights * offset of the input channel.
void addOffsets(SmallVectorImpl<float> &bias, ArrayRef<float> weights,
                const InputSide &side, ArrayRef<double> offset) {
  int64_t oc = bias.size(), count = weights.size();
  SmallVector<double> sums(bias.begin(), bias.end());
  if (side.axis == 2) { // depthwise: [KH,KW,C*M]
    for (int64_t i = 0; i < count; ++i)
      sums[i % oc] += weights[i] * offset[i % oc / side.multiplier];
  } else {
    int64_t perOutput = count / oc;
    int64_t ic = static_cast<int64_t>(offset.size()) / side.groups;
    for (int64_t i = 0; i < count; ++i) {
      int64_t o = i / perOutput, group = o / (oc / side.groups);
      sums[o] += weights[i] * offset[group * ic + i % ic];
    }
  }
  for (auto [to, sum] : llvm::zip(bias, sums))
    to = static_cast<float>(sum);
}

template <typename Op>
bool foldForward(Op op, const InputSide &side, const Affine &affine) {
  auto weights = floatsOf(op.getFilter());
  int64_t oc = op.getOutput().getType().getShape().back();
  std::optional<SmallVector<float>> bias(SmallVector<float>(oc, 0.0f));
  if (op.getBias())
    bias = floatsOf(op.getBias());
  if (!weights || !bias)
    return false;
  if (affine.shifts())
    addOffsets(*bias, *weights, side, affine.offset);
  // One group's weights at a time: they meet other input channels.
  ArrayRef<int64_t> shape = tensorType(op.getFilter()).getShape();
  int64_t perGroup = weights->size() / side.groups;
  int64_t ic = static_cast<int64_t>(affine.scale.size()) / side.groups;
  if (affine.scales())
    for (int64_t g = 0; g < side.groups; ++g)
      scaleAlong(MutableArrayRef(*weights).slice(g * perGroup, perGroup), shape,
                 side.axis, affine.scale, g * ic, side.multiplier);
  if (op.getBias() || affine.shifts())
    setWeights(op, *weights, ArrayRef(*bias));
  else
    setWeights(op, *weights, std::nullopt);
  return true;
}

/// A chain that starts at a value no matrix operator makes: into all of the
/// matrix operators that read its end.
bool foldChainForward(Value start, ArrayRef<Step> steps) {
  Value end = steps.back().op->getResult(0);
  Affine affine = total(steps, tensorType(start).getShape().back());
  if (!affine.finite())
    return false;
  SmallVector<std::pair<Operation *, InputSide>> users;
  for (OpOperand &use : end.getUses()) {
    auto side = inputSide(use.getOwner());
    if (!side || use.getOperandNumber() != 0 ||
        (side->padded && affine.shifts()))
      return false;
    users.push_back({use.getOwner(), *side});
  }
  // Filters that cannot be read would stop half-way.
  for (auto &[user, side] : users)
    if (!floatsOf(user->getOperand(1)))
      return false;
  for (auto &[user, side] : users)
    TypeSwitch<Operation *>(user)
        .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp, FullyConnectedOp>(
            [&, &side = side](auto op) { foldForward(op, side, affine); });
  for (const Step &step : steps) {
    for (auto &[user, side] : users)
      user->setLoc(fuseLocs({step.op, user}));
    // Reshapes on the way no longer make the tensor they are named after.
    Operation *next = *step.op->getUsers().begin();
    if (isa<ReshapeOp>(next))
      next->removeAttr("npu.tensor");
  }
  for (const Step &step : llvm::reverse(steps)) {
    step.op->getResult(0).replaceAllUsesWith(step.through);
    step.op->erase();
  }
  return !users.empty();
}

/// Several steps become one multiplication and one addition at most.
bool mergeChain(Value start, ArrayRef<Step> steps) {
  int64_t channels = tensorType(start).getShape().back();
  Affine affine = total(steps, channels);
  size_t needed = affine.scales() + affine.shifts();
  if (needed >= steps.size() || !affine.finite())
    return false;
  for (const Step &step : ArrayRef(steps).drop_front())
    if (step.through.getDefiningOp<ReshapeOp>())
      return false; // the chain would change its shape half-way
  Operation *last = steps.back().op;
  OpBuilder b(last);
  SmallVector<Operation *> merged;
  for (const Step &step : steps)
    merged.push_back(step.op);
  Location loc = fuseLocs(merged);
  auto vector = [&](ArrayRef<double> values) {
    SmallVector<float> floats(values.begin(), values.end());
    if (llvm::all_equal(floats))
      floats.resize(1);
    SmallVector<int64_t> shape(tensorType(last->getResult(0)).getRank(), 1);
    shape.back() = static_cast<int64_t>(floats.size());
    return makeFloats(b, loc, shape, floats);
  };
  Value value = steps.front().through;
  Type type = last->getResult(0).getType();
  if (affine.scales())
    value = MulOp::create(b, loc, type, value, vector(affine.scale),
                          ActivationAttr(), TypeAttr());
  if (affine.shifts())
    value = AddOp::create(b, loc, type, value, vector(affine.offset),
                          ActivationAttr(), TypeAttr());
  if (needed)
    moveTensorName(last, value.getDefiningOp());
  last->getResult(0).replaceAllUsesWith(value);
  for (Operation *op : llvm::reverse(merged))
    op->erase();
  return true;
}

struct NpuFoldAffine : impl::NpuFoldAffinePassBase<NpuFoldAffine> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    foldPads(function);
    SmallVector<Operation *> matrices;
    function.walk([&](Operation *op) {
      if (isa<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp, FullyConnectedOp>(
              op))
        matrices.push_back(op);
    });
    for (Operation *op : matrices)
      TypeSwitch<Operation *>(op)
          .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp,
                FullyConnectedOp>([](auto op) { foldBack(op); });
    foldRest(function);
    eraseDead(function);
  }

private:
  /// Chains without a matrix operator before them.
  void foldRest(func::FuncOp function) {
    SmallVector<Operation *> firsts;
    function.walk([&](Operation *op) {
      auto step = stepOf(op);
      if (!step)
        return;
      // The first step only: what a step follows is part of its chain.
      Value value = step->through;
      while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
        if (!value.hasOneUse() || !keepsChannels(reshape))
          break;
        value = reshape.getInput();
      }
      Operation *before = value.getDefiningOp();
      if (!before || !value.hasOneUse() || !stepOf(before))
        firsts.push_back(op);
    });
    for (Operation *op : firsts) {
      SmallVector<Step> steps{*stepOf(op)};
      llvm::append_range(steps, chainAfter(op->getResult(0)));
      Value start = steps.front().through;
      if (steps.back().op->getResult(0).use_empty() ||
          foldChainForward(start, steps))
        continue;
      mergeChain(start, steps);
    }
  }
};

} // namespace
} // namespace npu
