//===- Intervals.cc - Ranges of tensors -----------------------------------===//

#include "passes/quantization/Intervals.h"

#include "lowering/npu_to_cmdq/Tables.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/quantization/OpClasses.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace npu {

std::optional<Interval> rangeAttribute(Value value) {
  Attribute attribute;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function =
            dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      attribute = function.getArgAttr(argument.getArgNumber(), kRangeAttr);
  } else {
    Operation *op = value.getDefiningOp();
    attribute = op->getDiscardableAttr(kRangeAttr);
    // Operators with several results have one range for each.
    if (auto list = dyn_cast_or_null<ArrayAttr>(attribute);
        list && list.size() == op->getNumResults())
      attribute = list[cast<OpResult>(value).getResultNumber()];
  }
  auto pair = dyn_cast_or_null<DenseF64ArrayAttr>(attribute);
  if (!pair || pair.size() != 2)
    return std::nullopt;
  Interval range{pair[0], pair[1]};
  return range.finite() ? std::optional(range) : std::nullopt;
}

Interval clipBounds(Operation *op) {
  if (auto clip = dyn_cast<ClipOp>(op))
    return {clip.getMin().convertToFloat(), clip.getMax().convertToFloat()};
  return {0, std::numeric_limits<double>::infinity()};
}

namespace {
struct Function {
  rt::Function function;
  double alpha = 0, beta = 0;
};
} // namespace

static std::optional<Function> functionOf(Operation *op) {
  using F = rt::Function;
  using Result = std::optional<Function>;
  auto real = [](const APFloat &value) {
    return double(value.convertToFloat());
  };
  if (isClip(op)) {
    Interval bounds = clipBounds(op);
    return Function{F::kClip, bounds.min, bounds.max};
  }
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](LeakyReluOp op) {
        return Function{F::kLeakyRelu, real(op.getAlpha())};
      })
      .Case([&](EluOp op) { return Function{F::kElu, real(op.getAlpha())}; })
      .Case(
          [&](SwishOp op) { return Function{F::kSwish, real(op.getAlpha())}; })
      .Case([&](GeluOp op) {
        return Function{op.getTanh() ? F::kGeluTanh : F::kGelu};
      })
      .Case([](HardSwishOp) { return Function{F::kHardSwish}; })
      .Case([](SigmoidOp) { return Function{F::kSigmoid}; })
      .Case([](TanhOp) { return Function{F::kTanh}; })
      .Case([&](HardSigmoidOp op) {
        return Function{F::kHardSigmoid, real(op.getAlpha()),
                        real(op.getBeta())};
      })
      .Case([](ExpOp) { return Function{F::kExp}; })
      .Case([](AbsOp) { return Function{F::kAbs}; })
      .Case([](NegOp) { return Function{F::kNeg}; })
      .Case([](ErfOp) { return Function{F::kErf}; })
      .Case([](FloorOp) { return Function{F::kFloor}; })
      .Case([](CeilOp) { return Function{F::kCeil}; })
      .Case([](RoundOp) { return Function{F::kRound}; })
      .Case([](SoftplusOp) { return Function{F::kSoftplus}; })
      .Default([](Operation *) { return Result(); });
}

/// Exact for monotonic functions, as good as the i8 grid for others.
static Interval imageOf(const Function &f, Interval in) {
  constexpr int kSteps = 510;
  Interval out{INFINITY, -INFINITY};
  for (int i = 0; i <= kSteps; ++i) {
    double x = in.min + (in.max - in.min) * i / kSteps;
    double y = evaluate(f.function, x, f.alpha, f.beta);
    out = out.hull({y, y});
  }
  return out;
}

static std::optional<Interval> binaryRange(Operation *op, Interval a,
                                           Interval b) {
  auto corners = [&](auto f) {
    double v[] = {f(a.min, b.min), f(a.min, b.max), f(a.max, b.min),
                  f(a.max, b.max)};
    return Interval{*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
  };
  auto product = [](double x, double y) { return x * y; };
  using Result = std::optional<Interval>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](AddOp) {
        return corners([](double x, double y) { return x + y; });
      })
      .Case([&](SubOp) {
        return corners([](double x, double y) { return x - y; });
      })
      .Case([&](MulOp mul) {
        if (mul.getLhs() == mul.getRhs()) // a square
          return Interval{0, a.magnitude() * a.magnitude()};
        return corners(product);
      })
      .Case([&](MinOp) {
        return Interval{std::min(a.min, b.min), std::min(a.max, b.max)};
      })
      .Case([&](MaxOp) {
        return Interval{std::max(a.min, b.min), std::max(a.max, b.max)};
      })
      .Case([&](PReluOp) { return corners(product).hull(a); })
      .Case([&](DivOp) -> Result {
        if (b.min <= 0 && b.max >= 0)
          return std::nullopt;
        return corners([](double x, double y) { return x / y; });
      })
      .Default([](Operation *) { return Result(); });
}

std::optional<Interval>
deriveRange(Operation *op,
            llvm::function_ref<std::optional<Interval>(Value)> rangeOf) {
  if (op->getNumOperands() == 0)
    return std::nullopt;
  std::optional<Interval> in = rangeOf(op->getOperand(0));
  if (isa<SigmoidOp, HardSigmoidOp, SoftmaxOp>(op))
    return Interval{0, 1};
  if (isa<TanhOp>(op))
    return Interval{-1, 1};
  if (auto clip = dyn_cast<ClipOp>(op); clip && !in) {
    Interval bounds = clipBounds(op);
    return bounds.finite() ? std::optional(bounds) : std::nullopt;
  }
  if (isa<ConcatOp>(op)) {
    for (Value operand : op->getOperands()) {
      std::optional<Interval> other = rangeOf(operand);
      if (!in || !other)
        return std::nullopt;
      in = in->hull(*other);
    }
    return in;
  }
  if (!in)
    return std::nullopt;
  if (isBinary(op)) {
    std::optional<Interval> other = rangeOf(op->getOperand(1));
    return other ? binaryRange(op, *in, *other) : std::nullopt;
  }
  if (auto sum = dyn_cast<ReduceSumOp>(op)) {
    double count = 1;
    auto shape = cast<RankedTensorType>(sum.getInput().getType()).getShape();
    for (int64_t axis : sum.getAxes())
      count *= double(shape[axis]);
    return Interval{in->min * count, in->max * count};
  }
  if (auto pad = dyn_cast<PadOp>(op)) {
    double value = pad.getValue().convertToFloat();
    // Minus infinity ahead of a maximum only has to be small.
    bool far = std::fabs(value) > 4 * in->magnitude();
    return pad.getMode() == PadMode::Constant && !far ? in->hull({value, value})
                                                      : *in;
  }
  if (keepsScale(op) || isa<ReduceMeanOp, AvgPool2DOp, ResizeOp>(op))
    return in;
  if (auto f = functionOf(op)) {
    Interval out = imageOf(*f, *in);
    return out.finite() ? std::optional(out) : std::nullopt;
  }
  return std::nullopt;
}

/// Steps from the front of `values` over which they stay within `tolerance` of
/// the last one passed.
static size_t flatPrefix(ArrayRef<double> values, double tolerance) {
  double low = values[0], high = values[0];
  size_t n = 0;
  while (n + 1 < values.size()) {
    double next = values[n + 1];
    low = std::min(low, next);
    high = std::max(high, next);
    if (next - low > tolerance || high - next > tolerance)
      break;
    ++n;
  }
  return n;
}

Interval usefulInput(Operation *op, Interval in, double tolerance) {
  auto f = functionOf(op);
  if (!f || in.max <= in.min)
    return in;
  constexpr int kSteps = 1020;
  SmallVector<double> values;
  auto at = [&](double i) { return in.min + (in.max - in.min) * i / kSteps; };
  for (int i = 0; i <= kSteps; ++i)
    values.push_back(evaluate(f->function, at(i), f->alpha, f->beta));
  size_t front = flatPrefix(values, tolerance);
  std::reverse(values.begin(), values.end());
  size_t back = flatPrefix(values, tolerance);
  if (front + back >= kSteps) // nearly constant
    return in;
  return {at(front), at(kSteps - back)};
}

} // namespace npu
