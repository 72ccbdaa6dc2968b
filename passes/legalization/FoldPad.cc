//===- FoldPad.cc - Padding operators into windows ------------------------===//

#include "passes/legalization/FoldPad.h"

#include "passes/legalization/Constants.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace npu {

/// Pads top, left, bottom, right if `pad` pads H and W only, and by a constant.
static std::optional<std::array<int64_t, 4>> spatialPads(PadOp pad) {
  ArrayRef<int64_t> low = pad.getLow(), high = pad.getHigh();
  if (pad.getMode() != PadMode::Constant || low.size() != 4)
    return std::nullopt;
  for (int i : {0, 3})
    if (low[i] || high[i])
      return std::nullopt;
  for (int i : {1, 2})
    if (low[i] < 0 || high[i] < 0)
      return std::nullopt;
  return std::array<int64_t, 4>{low[1], low[2], high[1], high[2]};
}

/// No element is less than zero, as far as its producer tells.
static bool isNonNegative(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return TypeSwitch<Operation *, bool>(op)
      .Case<ReluOp, SigmoidOp, HardSigmoidOp, ExpOp, AbsOp, SoftmaxOp>(
          [](auto) { return true; })
      .Case([](ClipOp clip) { return clip.getMin().convertToFloat() >= 0; })
      .Case<MaxPool2DOp, AvgPool2DOp, ReshapeOp, TransposeOp>(
          [](auto op) { return isNonNegative(op.getInput()); })
      .Default([](Operation *) { return false; });
}

/// A window's own padding has to be less than its extent.
template <typename Op>
static bool addPads(Op op, PadOp pad, const std::array<int64_t, 4> &more,
                    int64_t kernelH, int64_t kernelW) {
  if (op.getInput() != pad.getOutput())
    return false;
  int64_t extent[2] = {op.getDilations()[0] * (kernelH - 1) + 1,
                       op.getDilations()[1] * (kernelW - 1) + 1};
  SmallVector<int64_t> pads(op.getPads());
  for (int i = 0; i < 4; ++i)
    if ((pads[i] += more[i]) >= extent[i % 2])
      return false;
  op.setPads(pads);
  op.getInputMutable().assign(pad.getInput());
  return true;
}

static void foldInto(Operation *user, PadOp pad,
                     const std::array<int64_t, 4> &more) {
  float value = pad.getValue().convertToFloat();
  auto type = tensorType(pad.getOutput());
  TypeSwitch<Operation *>(user)
      .Case([&](Conv2DOp op) {
        auto filter = tensorType(op.getFilter());
        if (value == 0)
          addPads(op, pad, more, filter.getDimSize(1), filter.getDimSize(2));
      })
      .Case([&](DepthwiseConv2DOp op) {
        auto filter = tensorType(op.getFilter());
        if (value == 0)
          addPads(op, pad, more, filter.getDimSize(0), filter.getDimSize(1));
      })
      .Case([&](AvgPool2DOp op) {
        bool none = llvm::all_of(op.getPads(), [](int64_t p) { return !p; });
        if (value != 0 || !(op.getCountIncludePad() || none))
          return;
        if (addPads(op, pad, more, op.getKernel()[0], op.getKernel()[1]))
          op.setCountIncludePad(true);
      })
      .Case([&](MaxPool2DOp op) {
        bool never = type.getElementType().isF32() &&
                     value <= std::numeric_limits<float>::lowest();
        if (never || (value <= 0 && isNonNegative(pad.getInput())))
          addPads(op, pad, more, op.getKernel()[0], op.getKernel()[1]);
      });
}

void foldPads(Operation *root) {
  SmallVector<PadOp> pads;
  root->walk([&](PadOp pad) { pads.push_back(pad); });
  for (PadOp pad : pads) {
    auto more = spatialPads(pad);
    if (!more)
      continue;
    SmallVector<Operation *> users(pad->getUsers());
    for (Operation *user : users)
      foldInto(user, pad, *more);
    if (pad->use_empty())
      pad->erase();
  }
}

} // namespace npu
