//===- Formula.cc - What a few operators compute together -----------------===//

#include "passes/legalization/Formula.h"

#include "passes/legalization/Constants.h"

#include <cmath>

using namespace mlir;

namespace npu {

bool nearly(double a, double b) {
  return std::fabs(a - b) <= 3e-4 * std::max(std::fabs(a), std::fabs(b));
}

static bool isPlain(Operation *op) {
  return op && !op->hasAttr("activation") && op->getNumResults() == 1 &&
         elementType(op->getResult(0)).isF32();
}

/// Exporters nest a handful of operators, not more.
constexpr int kDepth = 8;

static std::optional<Polynomial> multiply(const Polynomial &a,
                                          const Polynomial &b) {
  Polynomial out{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      double term = a[i] * b[j];
      if (term != 0 && i + j > 3)
        return std::nullopt;
      if (term != 0)
        out[i + j] += term;
    }
  return out;
}

static std::optional<Polynomial> polynomial(Value value, Value x, int depth) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (auto scalar = scalarOf(value))
    return Polynomial{*scalar, 0, 0, 0};
  Operation *op = value.getDefiningOp();
  if (!isPlain(op) || depth == 0 || value.getType() != x.getType())
    return std::nullopt;
  if (auto neg = dyn_cast<NegOp>(op)) {
    auto p = polynomial(neg.getInput(), x, depth - 1);
    return p ? multiply(*p, {-1, 0, 0, 0}) : p;
  }
  if (!isa<AddOp, SubOp, MulOp, DivOp, PowOp>(op))
    return std::nullopt;
  auto a = polynomial(op->getOperand(0), x, depth - 1);
  auto b = polynomial(op->getOperand(1), x, depth - 1);
  if (!a || !b)
    return std::nullopt;
  if (isa<MulOp>(op))
    return multiply(*a, *b);
  bool constant = (*b)[1] == 0 && (*b)[2] == 0 && (*b)[3] == 0;
  if (isa<DivOp>(op))
    return constant && (*b)[0] != 0 ? multiply(*a, {1 / (*b)[0], 0, 0, 0})
                                    : std::nullopt;
  if (isa<PowOp>(op)) {
    if (!constant || ((*b)[0] != 2 && (*b)[0] != 3))
      return std::nullopt;
    auto square = multiply(*a, *a);
    return square && (*b)[0] == 3 ? multiply(*square, *a) : square;
  }
  for (int i = 0; i < 4; ++i)
    (*a)[i] += isa<AddOp>(op) ? (*b)[i] : -(*b)[i];
  return a;
}

std::optional<Polynomial> polynomialOf(Value value, Value x) {
  return polynomial(value, x, kDepth);
}

Linear linearOf(Value value) {
  Linear line{value};
  for (int depth = 0; depth < kDepth; ++depth) {
    Operation *op = line.inner.getDefiningOp();
    if (!isPlain(op))
      break;
    if (auto neg = dyn_cast<NegOp>(op)) {
      line.scale = -line.scale;
      line.inner = neg.getInput();
      continue;
    }
    if (!isa<AddOp, SubOp, MulOp, DivOp>(op))
      break;
    bool right = scalarOf(op->getOperand(1)).has_value();
    auto scalar = scalarOf(op->getOperand(right ? 1 : 0));
    Value inner = op->getOperand(right ? 0 : 1);
    if (!scalar || inner.getType() != op->getResult(0).getType() ||
        (isa<DivOp>(op) && (!right || *scalar == 0)))
      break;
    // value = scale * op(inner, scalar) + offset
    if (isa<MulOp>(op)) {
      line.scale *= *scalar;
    } else if (isa<DivOp>(op)) {
      line.scale /= *scalar;
    } else if (isa<AddOp>(op)) {
      line.offset += line.scale * *scalar;
    } else {
      line.offset += line.scale * (right ? -*scalar : *scalar);
      line.scale = right ? line.scale : -line.scale;
    }
    line.inner = inner;
  }
  return line;
}

static void flatten(Value value, Type type, Product &product, int depth) {
  Operation *op = value.getDefiningOp();
  if (isPlain(op) && depth > 0 && value.getType() == type) {
    auto right = op->getNumOperands() == 2 ? scalarOf(op->getOperand(1))
                                           : std::optional<float>();
    if (isa<MulOp>(op)) {
      flatten(op->getOperand(0), type, product, depth - 1);
      flatten(op->getOperand(1), type, product, depth - 1);
      return;
    }
    if (isa<DivOp>(op) && right && *right != 0) {
      product.factor /= *right;
      return flatten(op->getOperand(0), type, product, depth - 1);
    }
  }
  if (auto scalar = scalarOf(value))
    product.factor *= *scalar;
  else
    product.factors.push_back(value);
}

Product productOf(Value value) {
  Product product;
  flatten(value, value.getType(), product, kDepth);
  return product;
}

} // namespace npu
