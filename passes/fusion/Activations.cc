//===- Activations.cc - Functions as part of their producer ---------------===//

#include "passes/fusion/Activations.h"

#include "passes/legalization/Constants.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace npu {

ActivationAttr activationOf(Operation *op) {
  MLIRContext *context = op->getContext();
  auto make = [&](ActivationKind kind, double alpha = 0, double beta = 0) {
    return ActivationAttr::get(context, kind, alpha, beta);
  };
  auto real = [](const APFloat &value) { return value.convertToFloat(); };
  using Kind = ActivationKind;
  return TypeSwitch<Operation *, ActivationAttr>(op)
      .Case([&](ReluOp) {
        return make(Kind::Clip, 0, std::numeric_limits<double>::infinity());
      })
      .Case([&](ClipOp op) {
        return make(Kind::Clip, real(op.getMin()), real(op.getMax()));
      })
      .Case([&](LeakyReluOp op) {
        return make(Kind::LeakyRelu, real(op.getAlpha()));
      })
      .Case([&](SigmoidOp) { return make(Kind::Sigmoid); })
      .Case([&](HardSigmoidOp op) {
        return make(Kind::HardSigmoid, real(op.getAlpha()), real(op.getBeta()));
      })
      .Case([&](HardSwishOp) { return make(Kind::HardSwish); })
      .Case([&](SwishOp op) { return make(Kind::Swish, real(op.getAlpha())); })
      .Case([&](TanhOp) { return make(Kind::Tanh); })
      .Case([&](GeluOp op) {
        return make(op.getTanh() ? Kind::GeluTanh : Kind::Gelu);
      })
      .Default([](Operation *) { return ActivationAttr(); });
}

void takeResult(Operation *producer, Operation *last) {
  producer->setLoc(fuseLocs({producer, last}));
  producer->removeAttr("npu.tensor");
  for (NamedAttribute attr : last->getDiscardableAttrs())
    producer->setDiscardableAttr(attr.getName(), attr.getValue());
  producer->getResult(0).setType(last->getResult(0).getType());
  last->getResult(0).replaceAllUsesWith(producer->getResult(0));
  last->erase();
}

} // namespace npu
