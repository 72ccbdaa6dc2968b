//===- Epilogue.cc - Fused activations and epilogues ----------------------===//

#include "lowering/npu_to_cmdq/Epilogue.h"

#include <limits>

using namespace mlir;

namespace npu {

FunctionParams functionOf(ActivationAttr activation) {
  if (!activation)
    return {};
  FunctionParams params;
  params.alpha = activation.alpha();
  params.beta = activation.beta();
  switch (activation.getKind()) {
  case ActivationKind::Clip:
    params.function = rt::Function::kClip;
    return params;
  case ActivationKind::LeakyRelu:
    params.function = rt::Function::kLeakyRelu;
    return params;
  case ActivationKind::Sigmoid:
    params.function = rt::Function::kSigmoid;
    return params;
  case ActivationKind::HardSigmoid:
    params.function = rt::Function::kHardSigmoid;
    return params;
  case ActivationKind::HardSwish:
    params.function = rt::Function::kHardSwish;
    return params;
  case ActivationKind::Swish:
    params.function = rt::Function::kSwish;
    return params;
  case ActivationKind::Tanh:
    params.function = rt::Function::kTanh;
    return params;
  case ActivationKind::Gelu:
    params.function = rt::Function::kGelu;
    return params;
  case ActivationKind::GeluTanh:
    params.function = rt::Function::kGeluTanh;
    return params;
  }
  return params;
}

FailureOr<QuantOutput> quantOutput(Lowering &l, Operation *op, Type element,
                                   ActivationAttr activation,
                                   std::optional<Type> preType) {
  std::optional<QuantParams> final = quantParams(element);
  std::optional<QuantParams> first = preType ? quantParams(*preType) : final;
  if (!final || !first) {
    l.fail(op) << "is quantised, but its output or intermediate type is "
               << (final ? *preType : element)
               << "; it must be quantised per tensor";
    return failure();
  }
  FunctionParams f = functionOf(activation);
  bool clip = f.function == rt::Function::kClip;
  if (!preType && activation && !clip) {
    l.fail(op) << "a fused activation other than clip needs "
                  "pre_activation_type, the type its argument is rounded to";
    return failure();
  }
  if (!first->within(rt::kWideLut)) {
    l.fail(op) << "pre_activation_type is " << *preType
               << "; a table is for at most 10 bits, -512 to 511";
    return failure();
  }
  QuantOutput out;
  out.params = *first;
  out.wide = !first->within(rt::kLut);
  out.lo = first->qmin;
  out.hi = first->qmax;
  if (clip && *first == *final) {
    // Rounding is monotonic: clamping after it is clamping before it.
    out.lo = std::max(out.lo, quantize(f.alpha, *first));
    out.hi = std::min(out.hi, quantize(f.beta, *first));
  } else if (activation || !(*first == *final)) {
    out.lut =
        l.constant(lookupTable(f.function, f.alpha, f.beta, *first, *final));
  }
  return out;
}

static LogicalResult setFloat(Lowering &l, Operation *op,
                              const EpilogueRequest &request, rt::Epilogue &e) {
  FunctionParams f = functionOf(request.activation);
  e.function = f.function;
  e.alpha = f.alpha;
  e.beta = f.beta;
  if (!request.residual)
    return success();
  FunctionParams r = functionOf(request.residualActivation);
  bool clip = r.function == rt::Function::kClip;
  if (!clip && r.function != rt::Function::kIdentity)
    return l.fail(op) << "only a clip can follow the residual";
  e.flo2 = clip ? r.alpha : -std::numeric_limits<float>::infinity();
  e.fhi2 = clip ? r.beta : std::numeric_limits<float>::infinity();
  return success();
}

static LogicalResult setQuantised(Lowering &l, Operation *op,
                                  const EpilogueRequest &request,
                                  rt::Epilogue &e, Epilogue &result) {
  Type element = elementOf(request.output);
  bool residual = static_cast<bool>(request.residual);
  if (residual && !request.residualType)
    return l.fail(op) << "a quantised residual needs residual_type, the type "
                         "that the sum's first term is rounded to";
  Type sum = residual ? *request.residualType : element;
  FailureOr<QuantOutput> q =
      quantOutput(l, op, sum, request.activation, request.preActivationType);
  if (failed(q))
    return failure();
  e.mid_zp = q->params.zero_point;
  e.lo = q->lo;
  e.hi = q->hi;
  result.lut = q->lut;
  SmallVector<float> multipliers;
  for (float scale : request.accumulatorScales)
    multipliers.push_back(scale / q->params.scale);
  result.multipliers = l.constant(multipliers);
  if (multipliers.size() > 1)
    e.flags |= rt::kPerChannelScale;
  if (result.lut)
    e.flags |= rt::kLutFlag | (q->wide ? rt::kWideLutFlag : 0);
  if (!residual)
    return success();

  auto self = quantParams(sum),
       other = quantParams(elementOf(request.residual)),
       out = quantParams(element);
  if (!self || !other || !out)
    return l.fail(op) << "residual and output must be quantised per tensor";
  e.res_mid_zp = self->zero_point;
  e.res_zp = other->zero_point;
  e.out_zp = out->zero_point;
  e.scale_self = self->scale / out->scale;
  e.scale_res = other->scale / out->scale;
  e.lo2 = out->qmin;
  e.hi2 = out->qmax;
  FunctionParams f = functionOf(request.residualActivation);
  if (f.function == rt::Function::kClip) {
    e.lo2 = std::max(e.lo2, quantize(f.alpha, *out));
    e.hi2 = std::min(e.hi2, quantize(f.beta, *out));
  } else if (f.function != rt::Function::kIdentity) {
    return l.fail(op) << "only a clip can follow the residual";
  }
  return success();
}

FailureOr<Epilogue> buildEpilogue(Lowering &l, Operation *op,
                                  const EpilogueRequest &request) {
  Epilogue result;
  rt::Epilogue e{};
  if (request.bias) {
    result.bias = l.auxiliary(op, request.bias, "the bias");
    if (!result.bias)
      return failure();
  }
  Type element = elementOf(request.output);
  if (request.residual)
    e.flags |= rt::kResidualFlag;
  if (element.isInteger(32)) {
    if (request.activation || request.residual) {
      l.fail(op) << "an i32 output is the bare accumulator: no activation and "
                    "no residual";
      return failure();
    }
  } else if (element.isF32()) {
    if (failed(setFloat(l, op, request, e)))
      return failure();
  } else if (failed(setQuantised(l, op, request, e, result))) {
    return failure();
  }
  result.attr = cmdq::EpilogueAttr::get(op->getContext(), e);
  return result;
}

} // namespace npu
