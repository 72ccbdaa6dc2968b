//===- FuseEpilogue.cc - npu-fuse-epilogue --------------------------------===//
//
// The fused operator takes the place of the last one it does the work of, so
// that whatever its residual is has been computed.
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Activations.h"
#include "passes/fusion/Passes.h"

#include "passes/legalization/Constants.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUFUSEEPILOGUEPASS
#include "passes/fusion/Passes.h.inc"

namespace {

bool isMatrix(Operation *op) {
  return isa<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp, FullyConnectedOp,
             RescaleOp>(op);
}

/// Quantised per tensor with 8 bits, or f32: what an epilogue can round to.
bool isEpilogueType(Type element) {
  auto quantised = dyn_cast<quant::UniformQuantizedType>(element);
  return element.isF32() || (quantised && quantised.isSigned() &&
                             quantised.getStorageTypeIntegralWidth() == 8);
}

bool sameDomain(Type a, Type b) {
  return isEpilogueType(a) && isEpilogueType(b) && a.isF32() == b.isF32();
}

/// Both operators as one: the producer, changed, in the place of `last`.
void mergeInto(Operation *producer, Operation *last) {
  producer->moveBefore(last);
  takeResult(producer, last);
}

/// The operator that makes `value` for one user in the same block.
Operation *onlyProducer(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || op->getBlock() != user->getBlock() ||
      op->getNumResults() != 1)
    return nullptr;
  return op;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// The activation of a producer without one, or the clip after its residual.
template <typename Op>
bool takeActivation(Op producer, ActivationAttr act, Type out) {
  Type self = elementType(producer.getOutput());
  bool clip = act.getKind() == ActivationKind::Clip;
  if (producer.getActivationAttr())
    return false;
  producer.setActivationAttr(act);
  // A clip after rounding is the clip before it, if it keeps the type.
  if (!self.isF32() && !(clip && self == out))
    producer.setPreActivationTypeAttr(TypeAttr::get(self));
  return true;
}

template <typename Op>
bool takeMatrixActivation(Op producer, ActivationAttr act, Type out) {
  if (!producer.getResidual())
    return takeActivation(producer, act, out);
  bool clip = act.getKind() == ActivationKind::Clip;
  if (producer.getResidualActivationAttr() || !clip ||
      elementType(producer.getOutput()) != out)
    return false;
  producer.setResidualActivationAttr(act);
  return true;
}

bool fuseActivation(Operation *op) {
  ActivationAttr act = activationOf(op);
  Operation *producer = act ? onlyProducer(op->getOperand(0), op) : nullptr;
  Type out = act ? elementType(op->getResult(0)) : Type();
  if (!producer || !sameDomain(elementType(op->getOperand(0)), out))
    return false;
  bool taken =
      TypeSwitch<Operation *, bool>(producer)
          .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp,
                FullyConnectedOp, RescaleOp>(
              [&](auto p) { return takeMatrixActivation(p, act, out); })
          .Case<AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, PowOp, PReluOp>(
              [&](auto p) { return takeActivation(p, act, out); })
          .Default([](Operation *) { return false; });
  if (taken)
    mergeInto(producer, op);
  return taken;
}

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

/// bias + added, both f32 or both i32 constants; null if they cannot be read.
Value sumOfBiases(Operation *op, Value bias, Value added, int64_t channels) {
  OpBuilder b(op);
  if (elementType(added).isInteger(32)) {
    auto sum = int32sOf(added);
    auto own = bias ? int32sOf(bias) : SmallVector<int32_t>(channels, 0);
    if (!sum || !own || (sum->size() != 1 && sum->size() != own->size()))
      return {};
    for (auto [i, v] : llvm::enumerate(*own))
      v = static_cast<int32_t>(
          static_cast<uint32_t>(v) +
          static_cast<uint32_t>((*sum)[sum->size() == 1 ? 0 : i]));
    return makeWords(b, op->getLoc(), *own);
  }
  auto sum = channelsOf(added, channels);
  auto own = bias ? floatsOf(bias) : SmallVector<float>(channels, 0.0f);
  if (!sum || !own)
    return {};
  for (auto [i, v] : llvm::enumerate(*own))
    v += (*sum)[sum->size() == 1 ? 0 : i];
  return makeFloats(b, op->getLoc(), channels, *own);
}

/// A constant along the channels, added to a bare sum.
template <typename Op> bool takeBias(Op producer, Value added) {
  Type self = elementType(producer.getOutput());
  int64_t channels = producer.getOutput().getType().getShape().back();
  RankedTensorType type = tensorType(added);
  if (!added.getDefiningOp<ConstantOp>() || type.getElementType() != self ||
      !(self.isF32() || self.isInteger(32)) || type.getRank() == 0 ||
      type.getNumElements() != type.getShape().back() ||
      producer.getActivationAttr() || producer.getResidual())
    return false;
  Value sum = sumOfBiases(producer, producer.getBias(), added, channels);
  if (!sum)
    return false;
  producer.getBiasMutable().assign(sum);
  return true;
}

bool fuseBias(AddOp add) {
  if (add.getActivationAttr())
    return false;
  for (int i : {0, 1}) {
    Value from = add->getOperand(i), added = add->getOperand(1 - i);
    Operation *producer = onlyProducer(from, add);
    if (!producer || from.getType() != add.getType())
      continue;
    bool taken =
        TypeSwitch<Operation *, bool>(producer)
            .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp,
                  FullyConnectedOp>([&](auto p) { return takeBias(p, added); })
            .Default([](Operation *) { return false; });
    if (!taken)
      continue;
    mergeInto(producer, add);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Residuals
//===----------------------------------------------------------------------===//

/// Is `producer` (with one use) an operator that can still add a residual?
bool canTakeResidual(Operation *producer, AddOp add, Value residual) {
  if (!producer || !isMatrix(producer) ||
      tensorType(residual).getShape() != add.getType().getShape())
    return false;
  Type self = elementType(producer->getResult(0)),
       other = elementType(residual), out = add.getType().getElementType();
  auto act = add.getActivationAttr();
  bool clip = !act || (act.getKind() == ActivationKind::Clip &&
                       !add.getPreActivationType());
  return sameDomain(self, other) && sameDomain(self, out) && clip &&
         tensorType(producer->getResult(0)).getShape() ==
             add.getType().getShape();
}

template <typename Op>
bool takeResidual(Op producer, AddOp add, Value residual) {
  if (producer.getResidual())
    return false;
  Type self = elementType(producer.getOutput());
  producer.getResidualMutable().assign(residual);
  if (!self.isF32())
    producer.setResidualTypeAttr(TypeAttr::get(self));
  if (ActivationAttr act = add.getActivationAttr())
    producer.setResidualActivationAttr(act);
  return true;
}

bool fuseResidual(AddOp add) {
  // The later of two: the other one stays where it is.
  SmallVector<std::pair<Operation *, Value>, 2> candidates;
  for (int i : {0, 1}) {
    Operation *producer = onlyProducer(add->getOperand(i), add);
    Value residual = add->getOperand(1 - i);
    if (canTakeResidual(producer, add, residual))
      candidates.push_back({producer, residual});
  }
  if (candidates.size() == 2 &&
      candidates[0].first->isBeforeInBlock(candidates[1].first))
    std::swap(candidates[0], candidates[1]);
  for (auto &candidate : candidates) {
    Operation *producer = candidate.first;
    Value residual = candidate.second;
    bool taken = TypeSwitch<Operation *, bool>(producer)
                     .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp,
                           FullyConnectedOp, RescaleOp>(
                         [&](auto p) { return takeResidual(p, add, residual); })
                     .Default([](Operation *) { return false; });
    if (!taken)
      continue;
    mergeInto(producer, add);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Rescale after a convolution to i32
//===----------------------------------------------------------------------===//

template <typename Op> bool takeRescale(Op producer, RescaleOp rescale) {
  SmallVector<float> own =
      accumulatorScales(producer.getInput(), producer.getFilter());
  ArrayRef<float> wanted = rescale.getScales();
  size_t count = std::max(own.size(), wanted.size());
  if (own.empty() || wanted.empty() || producer.getActivationAttr() ||
      producer.getResidual())
    return false;
  for (size_t i = 0; i < count; ++i)
    if (own[own.size() == 1 ? 0 : i] != wanted[wanted.size() == 1 ? 0 : i])
      return false;
  if (Value bias = rescale.getBias()) {
    Value sum = sumOfBiases(rescale, producer.getBias(), bias,
                            producer.getOutput().getType().getShape().back());
    if (!bias.getDefiningOp<ConstantOp>() || !sum)
      return false;
    producer->moveBefore(rescale);
    producer.getBiasMutable().assign(sum);
  }
  producer->moveBefore(rescale);
  if (Value residual = rescale.getResidual())
    producer.getResidualMutable().assign(residual);
  producer.setActivationAttr(rescale.getActivationAttr());
  producer.setPreActivationTypeAttr(rescale.getPreActivationTypeAttr());
  producer.setResidualTypeAttr(rescale.getResidualTypeAttr());
  producer.setResidualActivationAttr(rescale.getResidualActivationAttr());
  return true;
}

bool fuseRescale(RescaleOp rescale) {
  Operation *producer = onlyProducer(rescale.getInput(), rescale);
  if (!producer)
    return false;
  bool taken = TypeSwitch<Operation *, bool>(producer)
                   .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp,
                         FullyConnectedOp>(
                       [&](auto p) { return takeRescale(p, rescale); })
                   .Default([](Operation *) { return false; });
  if (taken)
    mergeInto(producer, rescale);
  return taken;
}

struct NpuFuseEpilogue : impl::NpuFuseEpiloguePassBase<NpuFuseEpilogue> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    // In program order: an operator is fused after all before it.
    for (Operation *op : ops) {
      if (auto rescale = dyn_cast<RescaleOp>(op))
        fuseRescale(rescale);
      else if (auto add = dyn_cast<AddOp>(op))
        (void)(fuseBias(add) || fuseResidual(add));
      else if (op->getNumResults() == 1 && op->getNumOperands() == 1)
        fuseActivation(op);
    }
    eraseDead(getOperation());
  }
};

} // namespace
} // namespace npu
