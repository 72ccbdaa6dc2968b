//===- ProbeFilters.cc - npu-probe-filters --------------------------------===//

#include "passes/quantization/FilterLevels.h"
#include "passes/quantization/OpClasses.h"
#include "passes/quantization/Passes.h"
#include "passes/quantization/Types.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUPROBEFILTERSPASS
#include "passes/quantization/Passes.h.inc"

SmallVector<FilterLevel> filterLevels(func::FuncOp function) {
  SmallVector<FilterLevel> list;
  DenseMap<Value, int64_t> before; // filters on the way to a value
  for (Operation &op : function.getFunctionBody().front()) {
    int64_t level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, before.lookup(operand));
    if (hasFilter(&op))
      list.push_back({&op, level++});
    for (Value result : op.getResults())
      before[result] = level;
  }
  return list;
}

namespace {

/// The numbers that a quantised constant stands for, as an f32 constant; null
/// if `value` is none.
Value dequantizedConstant(OpBuilder &b, Value value, Type element,
                          llvm::function_ref<double(size_t)> scaleOf) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !isa<IntegerType>(dense.getElementType()))
    return {};
  SmallVector<float> floats;
  for (const APInt &n : dense.getValues<APInt>())
    floats.push_back(float(n.getSExtValue() * scaleOf(floats.size())));
  auto type = RankedTensorType::get(
      cast<ShapedType>(value.getType()).getShape(), element);
  return ConstantOp::create(b, value.getLoc(), type,
                            DenseElementsAttr::get(type, ArrayRef(floats)));
}

/// The scale of each output channel; empty if `filter` has no such type.
SmallVector<double> scalesOf(Value filter, int64_t channels) {
  if (auto each =
          dyn_cast<quant::UniformQuantizedPerAxisType>(elementTypeOf(filter)))
    return SmallVector<double>(each.getScales());
  if (auto one = dyn_cast<PerTensorType>(elementTypeOf(filter));
      one && one.getZeroPoint() == 0)
    return SmallVector<double>(channels, one.getScale());
  return {};
}

/// What `op`, quantised, computes before rounding; null if its filter or bias
/// is no constant or its input has no one scale.
Value unrounded(OpBuilder &b, Operation *op) {
  auto input = dyn_cast<PerTensorType>(elementTypeOf(op->getOperand(0)));
  FilterIndex index(op);
  SmallVector<double> scales =
      scalesOf(op->getOperand(kFilterOperand), index.outputs());
  if (!input || scales.empty())
    return {};
  Type f32 = b.getF32Type();
  IRMapping map;
  Value filter =
      dequantizedConstant(b, op->getOperand(kFilterOperand), f32,
                          [&](size_t n) { return scales[index.output(n)]; });
  if (!filter)
    return {};
  map.map(op->getOperand(kFilterOperand), filter);
  if (Value bias = biasOf(op)) {
    Value floats = dequantizedConstant(
        b, bias, f32, [&](size_t c) { return input.getScale() * scales[c]; });
    if (!floats)
      return {};
    map.map(bias, floats);
  }
  Value in = op->getOperand(0);
  map.map(in, Value(DequantizeOp::create(
                  b, in.getLoc(),
                  cast<RankedTensorType>(in.getType()).clone(f32), in)));
  Operation *copy = b.clone(*op, map);
  copy->removeAttr("activation");
  copy->removeAttr("pre_activation_type");
  Value result = copy->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(f32));
  return result;
}

void eraseUnused(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(function.getFunctionBody().front())))
    if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
      op.erase();
}

struct NpuProbeFilters : impl::NpuProbeFiltersPassBase<NpuProbeFilters> {
  using NpuProbeFiltersPassBase::NpuProbeFiltersPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    SmallVector<Value> probes;
    SmallVector<std::string> names;
    for (auto [n, filter] : llvm::enumerate(filterLevels(function))) {
      if (level >= 0 && filter.level != level)
        continue;
      Value result = filter.op->getResult(0);
      OpBuilder b(filter.op);
      b.setInsertionPointAfter(filter.op);
      if (!isFloatTensor(result))
        result = unrounded(b, filter.op);
      if (!result) {
        filter.op->emitError(
            "cannot be probed: its input, filter and bias have to have one "
            "scale, and filter and bias to be constants");
        return signalPassFailure();
      }
      probes.push_back(result);
      names.push_back("filter" + std::to_string(n));
    }
    if (probes.empty()) {
      function.emitError("has no operator with a filter")
          << (level >= 0 ? " of level " + std::to_string(level) : "");
      return signalPassFailure();
    }
    returnOnly(function, probes, names);
    eraseUnused(function);
  }

  void returnOnly(func::FuncOp function, ArrayRef<Value> values,
                  ArrayRef<std::string> names) {
    Builder b(function.getContext());
    Operation *end = function.getFunctionBody().front().getTerminator();
    end->setOperands(values);
    function.setAllResultAttrs(ArrayRef<DictionaryAttr>());
    function.setType(FunctionType::get(
        function.getContext(), function.getArgumentTypes(),
        llvm::map_to_vector(values, [](Value v) { return v.getType(); })));
    for (auto [n, name] : llvm::enumerate(names))
      function.setResultAttr(n, "npu.name", b.getStringAttr(name));
  }
};

} // namespace
} // namespace npu
