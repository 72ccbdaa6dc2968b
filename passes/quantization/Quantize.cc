//===- Quantize.cc - npu-quantize -----------------------------------------===//
//
// Decides for every operator whether it is quantised, then walks the function
// once: operators change their types in place, and a tensor that the next one
// wants in another type is converted where it is defined, once.
//
//===----------------------------------------------------------------------===//

#include "passes/quantization/Passes.h"

#include "mlir/IR/Remarks.h"
#include "passes/fusion/Activations.h"
#include "passes/quantization/KeepFloat.h"
#include "passes/quantization/OpClasses.h"
#include "passes/quantization/ScaleGroups.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUQUANTIZEPASS
#include "passes/quantization/Passes.h.inc"

namespace {

/// 8 bits hold a quotient well while the divisor's largest value is at most
/// this many times its smallest.
constexpr double kPole = 64;

/// Functions and arithmetic on which nothing but f32 outputs depend. In f32
/// they cost little and the outputs have more than 256 values.
llvm::DenseSet<Operation *> findTail(func::FuncOp function) {
  llvm::DenseSet<Operation *> after, tail;
  for (Operation &op : llvm::reverse(function.getFunctionBody().front())) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      after.insert(&op);
      continue;
    }
    bool light = (isFunction(&op) && !isClip(&op)) || isBinary(&op) ||
                 isa<SoftmaxOp, ConcatOp>(op);
    if ((!light && !keepsScale(&op)) || op.use_empty() ||
        !llvm::all_of(op.getUsers(),
                      [&](Operation *user) { return after.count(user); }))
      continue;
    after.insert(&op);
    if (light)
      tail.insert(&op);
  }
  return tail;
}

llvm::DenseSet<Operation *> united(llvm::DenseSet<Operation *> a,
                                   const llvm::DenseSet<Operation *> &b) {
  a.insert(b.begin(), b.end());
  return a;
}

class Quantizer {
public:
  Quantizer(func::FuncOp function, llvm::DenseSet<Operation *> keep,
            bool correctBias, bool floatTail, bool widen)
      : function(function), keep(std::move(keep)),
        tail(floatTail ? findTail(function) : llvm::DenseSet<Operation *>()),
        apart(united(this->keep, tail)), groups(function, apart),
        correctBias(correctBias), widen(widen) {}

  void run() {
    decide();
    for (Operation &op :
         llvm::make_early_inc_range(function.getFunctionBody().front())) {
      if (quantised.count(&op))
        quantise(&op);
      else
        useFloats(&op);
    }
    finish();
  }

private:
  void decide();
  std::string whyFloat(Operation *op);
  std::string whyFilterFloat(Operation *op);
  bool nearPole(Operation *op);
  bool moves(Operation *op) {
    return keepsScale(op) || isa<ConcatOp, ArgMaxOp>(op);
  }
  bool hasTypes(Operation *op);

  void quantise(Operation *op);
  void quantiseFilter(Operation *op, PerTensorType input,
                      ArrayRef<double> inputMeans);
  SmallVector<double> meansOf(Value tensor);
  void useFloats(Operation *op);
  Value operandAs(Operation *op, Value operand, PerTensorType type);
  Value converted(Value tensor, Type element);
  bool readsWide(Operation *op);
  void finish();
  void remark(Operation *op, const std::string &why);

  func::FuncOp function;
  llvm::DenseSet<Operation *> keep, tail, apart;
  ScaleGroups groups;
  bool correctBias, widen;
  /// Functions that become part of their producer.
  SmallVector<Operation *> wide;
  llvm::DenseSet<Operation *> quantised;
  DenseMap<std::pair<Value, Type>, Value> conversions;
  int64_t floats = 0;
};

//===----------------------------------------------------------------------===//
// Which operators
//===----------------------------------------------------------------------===//

bool Quantizer::hasTypes(Operation *op) {
  for (Value operand : op->getOperands())
    if (!isFloatTensor(operand) ||
        (!groups.typeOf(operand) && !constantRange(operand)))
      return false;
  for (Value result : op->getResults())
    if (!isa<ArgMaxOp>(op) &&
        (!isFloatTensor(result) || !groups.typeOf(result)))
      return false;
  return true;
}

std::string Quantizer::whyFilterFloat(Operation *op) {
  if (!constantFloats(op->getOperand(kFilterOperand)))
    return "its filter is no constant";
  Value bias = biasOf(op);
  if (bias && !constantFloats(bias))
    return "its bias is no constant";
  if (op->getNumOperands() > (bias ? 3u : 2u))
    return "a residual is fused already; quantise before fusing";
  auto activation = op->getAttrOfType<ActivationAttr>("activation");
  if (activation && activation.getKind() != ActivationKind::Clip)
    return "an activation is fused already; quantise before fusing";
  for (Value tensor : {op->getOperand(0), Value(op->getResult(0))})
    if (!groups.typeOf(tensor))
      return "the range of its " +
             std::string(tensor == op->getResult(0) ? "result" : "input") +
             " is not known; calibrate it";
  return "";
}

/// The calibrated result is so much larger than the argument's step that the
/// argument has few of 256 levels where it matters.
bool Quantizer::nearPole(Operation *op) {
  if (!isa<ReciprocalOp, LogOp, DivOp>(op))
    return false;
  Value argument = op->getOperand(isa<DivOp>(op) ? 1 : 0);
  if (argument.getDefiningOp<ConstantOp>())
    return false;
  auto in = groups.rangeOf(argument), out = groups.rangeOf(op->getResult(0));
  if (!in || !out)
    return true;
  double largest = in->magnitude();
  if (isa<LogOp>(op))
    return std::exp(out->min) * kPole < largest;
  double numerator = 1;
  if (isa<DivOp>(op))
    if (auto a = groups.rangeOf(op->getOperand(0)))
      numerator = a->magnitude();
  return out->magnitude() * largest > kPole * numerator;
}

std::string Quantizer::whyFloat(Operation *op) {
  if (keep.count(op))
    return "keep-float names it";
  if (tail.count(op))
    return "only outputs depend on it";
  if (!computesQuantized(op))
    return "there is no INT8 command for it";
  if (hasFilter(op))
    return whyFilterFloat(op);
  if (!hasTypes(op))
    return "the range of an operand or of its result is not known; calibrate "
           "it";
  auto activation = op->getAttrOfType<ActivationAttr>("activation");
  if (activation && activation.getKind() != ActivationKind::Clip)
    return "an activation is fused already; quantise before fusing";
  if (nearPole(op))
    return "its argument comes so close to zero that 8 bits cannot express "
           "the result";
  return "";
}

void Quantizer::decide() {
  Block &body = function.getFunctionBody().front();
  for (Operation &op : body) {
    if (isa<ConstantOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    bool real = llvm::any_of(op.getOperands(), isFloatTensor) ||
                llvm::any_of(op.getResults(), isFloatTensor);
    if (!real || isa<QuantizeOp, DequantizeOp>(op))
      continue;
    if (moves(&op) && !apart.count(&op)) {
      // Moved in the type in which it is there already.
      if (hasTypes(&op) && llvm::any_of(op.getOperands(), [&](Value v) {
            return quantised.count(v.getDefiningOp());
          }))
        quantised.insert(&op);
      continue;
    }
    std::string why = whyFloat(&op);
    if (why.empty())
      quantised.insert(&op);
    else
      remark(&op, why);
  }
  // Or in the type in which it is wanted.
  for (Operation &op : llvm::reverse(body))
    if (moves(&op) && !apart.count(&op) && !isa<ArgMaxOp>(op) &&
        hasTypes(&op) && llvm::any_of(op.getUsers(), [&](Operation *user) {
          return quantised.count(user);
        }))
      quantised.insert(&op);
}

void Quantizer::remark(Operation *op, const std::string &why) {
  ++floats;
  std::string text = "node '" + nodeName(op->getLoc()) + "' (" +
                     op->getName().getStringRef().str() +
                     ") stays in f32: " + why;
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("float").category("npu-quantize"))
      << text;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// `tensor` with another element type, converted right after its definition.
Value Quantizer::converted(Value tensor, Type element) {
  Value &known = conversions[{tensor, element}];
  if (known)
    return known;
  OpBuilder b(function.getContext());
  b.setInsertionPointAfterValue(tensor);
  // Conversions of an input follow one another at the top, in order.
  if (isa<BlockArgument>(tensor))
    for (Operation &op : *b.getInsertionBlock()) {
      if (!isa<QuantizeOp>(op) || !isa<BlockArgument>(op.getOperand(0)))
        break;
      b.setInsertionPointAfter(&op);
    }
  auto type = cast<RankedTensorType>(tensor.getType()).clone(element);
  if (isa<quant::QuantizedType>(element))
    known = QuantizeOp::create(b, tensor.getLoc(), type, tensor);
  else
    known = DequantizeOp::create(b, tensor.getLoc(), type, tensor);
  return known;
}

Value Quantizer::operandAs(Operation *op, Value operand, PerTensorType type) {
  if (elementTypeOf(operand) == type)
    return operand;
  auto values = constantFloats(operand);
  if (!values)
    return converted(operand, type);
  Value &known = conversions[{operand, type}];
  OpBuilder b(operand.getDefiningOp());
  if (!known)
    known = quantizedConstant(b, operand.getLoc(),
                              cast<ShapedType>(operand.getType()).getShape(),
                              *values, type);
  return known;
}

/// The calibrated means of a tensor's channels; none if they are not known or
/// bias correction is off.
SmallVector<double> Quantizer::meansOf(Value tensor) {
  Attribute attribute;
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    attribute = function.getArgAttr(argument.getArgNumber(), kMeanAttr);
  else
    attribute = tensor.getDefiningOp()->getDiscardableAttr(kMeanAttr);
  auto means = dyn_cast_or_null<DenseF64ArrayAttr>(attribute);
  if (!correctBias || !means ||
      means.size() !=
          cast<RankedTensorType>(tensor.getType()).getShape().back())
    return {};
  return SmallVector<double>(means.asArrayRef());
}

static void setBias(Operation *op, Value bias) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<Conv2DOp, DepthwiseConv2DOp, TransposeConv2DOp, FullyConnectedOp>(
          [&](auto op) { op.getBiasMutable().assign(bias); });
}

void Quantizer::quantiseFilter(Operation *op, PerTensorType input,
                               ArrayRef<double> inputMeans) {
  OpBuilder b(op);
  auto filter = constantFloats(op->getOperand(kFilterOperand));
  std::optional<std::vector<float>> bias;
  if (Value value = biasOf(op))
    bias = constantFloats(value);
  auto shift = op->getAttrOfType<DenseF64ArrayAttr>(kBiasShiftAttr);
  QuantizedFilter q = quantizeFilter(
      b, op, input.getScale(), *filter,
      bias ? std::optional(ArrayRef<float>(*bias)) : std::nullopt, inputMeans,
      shift ? shift.asArrayRef() : ArrayRef<double>());
  op->setOperand(kFilterOperand, q.filter);
  if (q.bias)
    setBias(op, q.bias);
}

void Quantizer::quantise(Operation *op) {
  // All before any type of the operator changes: types belong to values.
  SmallVector<PerTensorType> results;
  for (Value result : op->getResults())
    results.push_back(isa<ArgMaxOp>(op) ? PerTensorType()
                                        : groups.typeOf(result));
  bool same = keepsScale(op) || isa<ConcatOp>(op);
  SmallVector<Value> operands(op->getOperands());
  for (auto [n, operand] : llvm::enumerate(operands)) {
    if (hasFilter(op) && n > 0)
      break;
    PerTensorType type = same ? results[0] : groups.typeOf(operand);
    if (!type)
      type = activationType(op->getContext(), *constantRange(operand));
    op->setOperand(n, operandAs(op, operand, type));
    if (hasFilter(op))
      quantiseFilter(op, type, meansOf(operand));
  }
  for (auto [result, type] : llvm::zip(op->getResults(), results))
    if (type)
      result.setType(cast<RankedTensorType>(result.getType()).clone(type));
  if (widen && readsWide(op))
    wide.push_back(op);
}

/// Is `op` a function that looks up nothing but the sums of one filter? Inside
/// the epilogue these can have more than 8 bits.
bool Quantizer::readsWide(Operation *op) {
  if (isClip(op) || !activationOf(op))
    return false;
  Operation *producer = op->getOperand(0).getDefiningOp();
  return producer && quantised.count(producer) && hasFilter(producer) &&
         producer->hasOneUse() && !producer->hasAttr("activation");
}

static void fuseWide(Operation *op) {
  Operation *producer = op->getOperand(0).getDefiningOp();
  auto type = cast<PerTensorType>(elementTypeOf(op->getOperand(0)));
  producer->setAttr("activation", activationOf(op));
  producer->setAttr("pre_activation_type", TypeAttr::get(wideType(type)));
  takeResult(producer, op);
}

void Quantizer::useFloats(Operation *op) {
  if (isa<DequantizeOp, QuantizeOp, StorageCastOp>(op))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    if (producer && quantised.count(producer) &&
        isQuantizedTensor(operand.get()))
      operand.set(converted(operand.get(), Float32Type::get(op->getContext())));
  }
}

void Quantizer::finish() {
  // Last: the types of groups belong to values.
  for (Operation *op : wide)
    fuseWide(op);
  for (Operation &op :
       llvm::make_early_inc_range(function.getFunctionBody().front())) {
    if (isa<ConstantOp>(op) && op.use_empty())
      op.erase();
    else
      for (const char *key :
           {kRangeAttr, kMeanAttr, kChannelRangeAttr, kBiasShiftAttr})
        op.removeAttr(key);
  }
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (const char *key : {kRangeAttr, kMeanAttr, kChannelRangeAttr})
      function.removeArgAttr(i, key);
  std::string text = std::to_string(quantised.size()) + " operators in INT8, " +
                     std::to_string(floats) + " stay in f32";
  remark::passed(function.getLoc(),
                 remark::RemarkOpts::name("summary").category("npu-quantize"))
      << text;
}

/// Every `npu.bias_shift` has a number for each output channel of a filter.
LogicalResult checkBiasShifts(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) -> WalkResult {
    Attribute attribute = op->getDiscardableAttr(kBiasShiftAttr);
    if (!attribute)
      return WalkResult::advance();
    if (!hasFilter(op))
      return op->emitError()
             << kBiasShiftAttr << " is for operators with a filter; remove it";
    auto list = dyn_cast<DenseF64ArrayAttr>(attribute);
    int64_t channels = FilterIndex(op).outputs();
    if (!list || list.size() != channels)
      return op->emitError() << kBiasShiftAttr << " has to be array<f64> of "
                             << channels << " output channels";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct NpuQuantize : impl::NpuQuantizePassBase<NpuQuantize> {
  using NpuQuantizePassBase::NpuQuantizePassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    SmallVector<std::string> patterns(keepFloat.begin(), keepFloat.end());
    auto keep = matchNodes(function, patterns);
    if (failed(keep) || failed(checkBiasShifts(function)))
      return signalPassFailure();
    Quantizer(function, std::move(*keep), biasCorrection, floatTail, widen)
        .run();
  }
};

} // namespace
} // namespace npu
