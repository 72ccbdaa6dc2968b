//===- LowerLogic.cc - Integers, truth values, choices --------------------===//

#include "lowering/npu_to_cmdq/Lowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

using cmdq::EngineKind;

static std::optional<cmdq::BinaryKind> integerKind(Operation *op) {
  using Kind = cmdq::BinaryKind;
  return TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case([](RemOp) { return Kind::Rem; })
      .Case([](ModOp) { return Kind::Mod; })
      .Case([](AndOp) { return Kind::And; })
      .Case([](OrOp) { return Kind::Or; })
      .Case([](XorOp) { return Kind::Xor; })
      .Case([](ShlOp) { return Kind::Shl; })
      .Case([](ShrOp) { return Kind::Shr; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<cmdq::CompareKind> compareKind(Operation *op) {
  using Kind = cmdq::CompareKind;
  return TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case([](EqualOp) { return Kind::Equal; })
      .Case([](LessOp) { return Kind::Less; })
      .Case([](LessEqualOp) { return Kind::LessEqual; })
      .Default([](Operation *) { return std::nullopt; });
}

/// The operands as the command reads them, the result first.
static FailureOr<SmallVector<Value>> operandsOf(Lowering &l, Operation *op) {
  View dest = l.destinationOf(op->getResult(0));
  SmallVector<View> views = {dest};
  for (Value operand : op->getOperands())
    views.push_back(l.viewOf(operand).broadcast(dest.dims));
  if (failed(fitRank(l, op, views)))
    return failure();
  SmallVector<Value> memory = {Value()};
  for (const View &view : ArrayRef(views).drop_front())
    memory.push_back(l.input(view));
  memory[0] = l.output(views[0]);
  return memory;
}

std::optional<LogicalResult> lowerLogicOp(Lowering &l, Operation *op) {
  auto binary = integerKind(op);
  auto compare = compareKind(op);
  if (!binary && !compare && !isa<SelectOp>(op))
    return std::nullopt;
  FailureOr<SmallVector<Value>> m = operandsOf(l, op);
  if (failed(m))
    return failure();
  ArrayRef<Value> v = *m;
  auto none = [] { return llvm::APFloat(0.0f); };
  Operation *command;
  if (binary)
    command = cmdq::BinaryOp::create(
        l.b(), l.loc(), v[0], v[1], v[2], Value(), *binary,
        cmdq::Function::Identity, 0, 0, 0, none(), none(), 0, 0, none(), none(),
        EngineKind::Vector, l.core(), l.layer(), StringAttr(), ArrayAttr());
  else if (compare)
    command = cmdq::CompareOp::create(l.b(), l.loc(), v[0], v[1], v[2],
                                      *compare, EngineKind::Vector, l.core(),
                                      l.layer(), StringAttr(), ArrayAttr());
  else
    command = cmdq::SelectOp::create(l.b(), l.loc(), v[0], v[1], v[2], v[3],
                                     EngineKind::Vector, l.core(), l.layer(),
                                     StringAttr(), ArrayAttr());
  l.finish(command, op->getResult(0));
  return success();
}

} // namespace npu
