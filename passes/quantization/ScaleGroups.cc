//===- ScaleGroups.cc - Tensors that share a scale ------------------------===//

#include "passes/quantization/ScaleGroups.h"

#include "passes/quantization/OpClasses.h"

using namespace mlir;

namespace npu {

/// Ranges whose ends differ by less than this share of the larger one are
/// worth sharing: a requantisation costs more accuracy than that.
constexpr double kClose = 0.1;

std::optional<Interval> constantRange(Value value) {
  auto values = constantFloats(value);
  if (!values || values->empty())
    return std::nullopt;
  auto [low, high] = std::minmax_element(values->begin(), values->end());
  Interval range{*low, *high};
  return range.finite() ? std::optional(range) : std::nullopt;
}

ScaleGroups::ScaleGroups(FunctionOpInterface function,
                         const llvm::DenseSet<Operation *> &separate)
    : function(function), separate(separate) {
  addTensors();
  Block &body = function.getFunctionBody().front();
  for (Operation &op : body)
    if (PerTensorType type = fixedType(&op); type && !separate.count(&op))
      if (isFloatTensor(op.getResult(0)))
        groupOf(op.getResult(0)).fixed = type;
  auto each = [&](auto tie) {
    for (Operation &op : body)
      if (!separate.count(&op))
        tie(&op);
  };
  each([&](Operation *op) { tieMoves(op); });
  each([&](Operation *op) { tieClip(op); });
  each([&](Operation *op) { tieConcat(op); });
  trimTails();
}

void ScaleGroups::addTensors() {
  auto add = [&](Value tensor, std::optional<Interval> range) {
    ranges[tensor] = range;
    unsigned id = groups.size();
    ids[tensor] = id;
    groups.push_back({range, {}, id});
  };
  Block &body = function.getFunctionBody().front();
  for (Value argument : body.getArguments())
    if (isFloatTensor(argument))
      add(argument, rangeAttribute(argument));
  for (Operation &op : body) {
    if (isa<ConstantOp>(op))
      continue;
    for (Value result : op.getResults()) {
      if (!isFloatTensor(result))
        continue;
      std::optional<Interval> range = rangeAttribute(result);
      if (!range)
        range = deriveRange(&op, [&](Value v) { return rangeOf(v); });
      add(result, range);
    }
  }
}

std::optional<Interval> ScaleGroups::rangeOf(Value tensor) {
  auto it = ranges.find(tensor);
  if (it != ranges.end())
    return it->second;
  return ranges[tensor] = constantRange(tensor);
}

unsigned ScaleGroups::find(unsigned id) {
  while (groups[id].parent != id)
    id = groups[id].parent = groups[groups[id].parent].parent;
  return id;
}

ScaleGroups::Group &ScaleGroups::groupOf(Value tensor) {
  return groups[find(ids.lookup(tensor))];
}

void ScaleGroups::join(Value ruler, Value other) {
  unsigned a = find(ids.lookup(ruler)), b = find(ids.lookup(other));
  groups[b].parent = a;
}

PerTensorType ScaleGroups::typeOf(Value tensor) {
  if (!ids.count(tensor))
    return {};
  Group &group = groupOf(tensor);
  if (group.fixed || !group.range)
    return group.fixed;
  return activationType(function->getContext(), *group.range);
}

void ScaleGroups::tieMoves(Operation *op) {
  if (!keepsScale(op) || !ids.count(op->getOperand(0)))
    return;
  Value input = op->getOperand(0);
  for (Value result : op->getResults()) {
    if (!ids.count(result))
      continue;
    Group &in = groupOf(input), &out = groupOf(result);
    // A padding value may lie outside of what the input holds.
    if (isa<PadOp>(op) && in.range && out.range)
      in.range = in.range->hull(*out.range);
    if (!in.range)
      in.range = out.range;
    join(input, result);
  }
}

bool ScaleGroups::readOnce(Value tensor) {
  while (tensor.hasOneUse()) {
    Operation *op = tensor.getDefiningOp();
    if (!op || !keepsScale(op) || separate.count(op))
      return true;
    if (op->getNumResults() != 1)
      return false;
    tensor = op->getOperand(0);
    if (tensor.getDefiningOp<ConstantOp>())
      return true;
  }
  return false;
}

void ScaleGroups::tieClip(Operation *op) {
  if (!isClip(op) || !ids.count(op->getOperand(0)))
    return;
  Value input = op->getOperand(0), output = op->getResult(0);
  if (!readOnce(input))
    return;
  Group &in = groupOf(input), &out = groupOf(output);
  if (in.fixed) // a fixed grid already fits
    return join(input, output);
  if (out.range || out.fixed)
    join(output, input);
}

void ScaleGroups::tieConcat(Operation *op) {
  if (!isa<ConcatOp>(op) || !ids.count(op->getResult(0)))
    return;
  Value output = op->getResult(0);
  for (Value input : op->getOperands()) {
    Group &out = groupOf(output);
    if (!ids.count(input) || (!out.range && !out.fixed))
      continue;
    Group &in = groupOf(input);
    if (&in == &out)
      continue;
    bool close = false;
    if (in.range && out.range && !in.fixed && !out.fixed) {
      double slack = kClose * (out.range->max - out.range->min);
      close = std::fabs(in.range->min - out.range->min) <= slack &&
              std::fabs(in.range->max - out.range->max) <= slack;
    }
    if (close)
      out.range = out.range->hull(*in.range);
    if (close || readOnce(input))
      join(output, input);
  }
}

std::optional<Interval> ScaleGroups::usefulRange(unsigned group,
                                                 ArrayRef<Value> tensors) {
  std::optional<Interval> useful;
  for (Value tensor : tensors)
    for (Operation *user : tensor.getUsers()) {
      bool inside = user->getNumResults() > 0;
      for (Value result : user->getResults())
        inside =
            inside && ids.count(result) && find(ids.lookup(result)) == group;
      if (inside)
        continue;
      if (separate.count(user) || !isFunction(user))
        return std::nullopt;
      PerTensorType out = typeOf(user->getResult(0));
      if (!out)
        return std::nullopt;
      Interval part =
          usefulInput(user, *groups[group].range, out.getScale() / 2);
      useful = useful ? useful->hull(part) : part;
    }
  return useful;
}

void ScaleGroups::trimTails() {
  DenseMap<unsigned, SmallVector<Value>> members;
  for (auto [tensor, id] : ids)
    members[find(id)].push_back(tensor);
  SmallVector<std::pair<unsigned, Interval>> trimmed;
  for (auto &[group, tensors] : members)
    if (groups[group].range && !groups[group].fixed)
      if (auto useful = usefulRange(group, tensors))
        trimmed.emplace_back(group, *useful);
  for (auto [group, range] : trimmed)
    groups[group].range = range;
}

} // namespace npu
