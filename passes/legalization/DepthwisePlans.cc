//===- DepthwisePlans.cc - What each way costs ----------------------------===//

#include "passes/legalization/Constants.h"
#include "passes/legalization/DepthwiseRewrites.h"

using namespace mlir;

namespace npu {

using target::Cost;
using target::Target;

const char *nameOf(DepthwiseWay way) {
  switch (way) {
  case DepthwiseWay::kNative:
    return "native";
  case DepthwiseWay::kDense:
    return "dense";
  case DepthwiseWay::kVectorMac:
    return "vector_mac";
  case DepthwiseWay::kExpand:
    return "expand";
  }
  return "";
}

namespace {

/// Fetching the weights, where they do not lie in the working memory.
double weightCycles(const Target &t, int64_t bytes) {
  if (t.unified())
    return 0;
  return target::cost(t, target::dmaWorkload(rt::Space::kConst,
                                             rt::Space::kSram, bytes, bytes))
      .cycles();
}

Cost convCost(const Target &t, const target::ConvShape &shape) {
  return target::cost(t, target::convWorkload(t, shape));
}

Cost vectorCost(const Target &t, rt::Opcode opcode, rt::DType type,
                int64_t elements, int inputs, int64_t wideBytes = 0) {
  target::Workload w =
      target::elementwiseWorkload(t, opcode, type, elements, inputs);
  w.traffic[t.unified() ? rt::Space::kDram : rt::Space::kSram] += wideBytes;
  return target::cost(t, w);
}

struct Planner {
  const Target &t;
  const GroupedConv &conv;
  DepthwisePlan plan;

  DepthwisePlan no(std::string why) {
    plan.possible = false;
    plan.why = std::move(why);
    return plan;
  }
  DepthwisePlan yes(double cycles) {
    plan.possible = true;
    plan.cycles = cycles;
    return plan;
  }

  int64_t weightBytes(int64_t icPerOutput) const {
    return conv.channels() * conv.kernelH * conv.kernelW * icPerOutput *
           rt::sizeOf(conv.type());
  }
  double depthwiseCycles() const {
    target::ConvShape shape = conv.shape(conv.channels());
    shape.ic = shape.oc;
    shape.depthwise = true;
    return convCost(t, shape).cycles() + weightCycles(t, weightBytes(1));
  }

  DepthwisePlan native() {
    if (conv.icg == 1 && conv.ocg == 1) {
      if (!t.hasDepthwise(conv.type()))
        return no("no depthwise kernel for the type");
      return yes(depthwiseCycles());
    }
    if (!t.hasGroupedConv(conv.type()))
      return no(conv.icg == 1 ? "no command has a channel multiplier"
                              : "no grouped convolution kernel for the type");
    Cost c = convCost(t, conv.shape(conv.groups));
    return c.supported
               ? yes(c.cycles() + weightCycles(t, weightBytes(conv.icg)))
               : no("no grouped convolution kernel for the type");
  }

  /// The best size of a block, as one command with groups or one for each.
  DepthwisePlan dense() {
    no("no convolution kernel for the type");
    for (int64_t block = 1; block <= conv.groups; ++block) {
      if (conv.groups % block)
        continue;
      int64_t blocks = conv.groups / block;
      double weights = weightCycles(t, weightBytes(conv.icg * block));
      if (block > 1 || conv.groups == 1)
        consider(block, false, convCost(t, conv.shape(blocks)), weights, 1);
      if (blocks == 1)
        continue;
      target::ConvShape one = conv.shape(1);
      one.ic /= blocks;
      one.oc /= blocks;
      consider(block, true, convCost(t, one), weights, blocks);
    }
    return plan;
  }
  void consider(int64_t block, bool split, const Cost &c, double weights,
                int64_t commands) {
    double cycles = c.cycles() * static_cast<double>(commands) + weights;
    if (!c.supported || (plan.possible && plan.cycles <= cycles))
      return;
    yes(cycles);
    plan.block = block;
    plan.split = split;
  }

  DepthwisePlan vectorMac() {
    if (conv.type() != rt::DType::kI8)
      return no("i8 only");
    if (conv.icg != 1)
      return no("groups of several input channels");
    ArrayRef<int64_t> in = conv.inShape();
    int64_t count = tensorType(conv.output).getNumElements();
    int64_t taps = conv.kernelH * conv.kernelW;
    Cost mac = vectorCost(t, rt::Opcode::kVectorMac, rt::DType::kI8, count, 1,
                          8 * count);
    Cost out = vectorCost(t, rt::Opcode::kRequantize, rt::DType::kI32, count,
                          conv.residual ? 2 : 1);
    if (!mac.supported || !out.supported)
      return no("no multiply-accumulate on the vector engine");
    double cycles = mac.cycles() * static_cast<double>(taps) + out.cycles() +
                    weightCycles(t, weightBytes(1));
    int64_t inputs = in[0] * in[1] * in[2] * conv.channels();
    if (llvm::any_of(conv.pads, [](int64_t p) { return p != 0; }))
      cycles += target::cost(t, target::dmaWorkload(rt::Space::kDram,
                                                    rt::Space::kDram, inputs,
                                                    in[2] * conv.channels()))
                    .cycles();
    if (conv.ocg > 1)
      cycles += gatherCycles();
    return yes(cycles);
  }

  double gatherCycles() const {
    ArrayRef<int64_t> in = conv.inShape();
    return vectorCost(t, rt::Opcode::kGather, conv.type(),
                      in[0] * in[1] * in[2] * conv.channels(), 1)
        .cycles();
  }

  DepthwisePlan expand() {
    if (conv.icg != 1 || conv.ocg == 1)
      return no("no channel multiplier");
    if (!t.hasDepthwise(conv.type()))
      return no("no depthwise kernel for the type");
    return yes(gatherCycles() + depthwiseCycles());
  }
};

} // namespace

DepthwisePlan planDepthwise(const Target &target, const GroupedConv &conv,
                            DepthwiseWay way) {
  Planner planner{target, conv, {}};
  planner.plan.way = way;
  switch (way) {
  case DepthwiseWay::kNative:
    return planner.native();
  case DepthwiseWay::kDense:
    return planner.dense();
  case DepthwiseWay::kVectorMac:
    return planner.vectorMac();
  case DepthwiseWay::kExpand:
    return planner.expand();
  }
  return planner.plan;
}

bool needsFilter(const GroupedConv &conv, const DepthwisePlan &plan) {
  // Native and expand keep a filter that is in the command's order already.
  bool depthwise = conv.icg == 1 && conv.ocg == 1;
  switch (plan.way) {
  case DepthwiseWay::kNative:
    return conv.depthwiseOp != depthwise;
  case DepthwiseWay::kExpand:
    return !conv.depthwiseOp;
  default:
    return true;
  }
}

} // namespace npu
