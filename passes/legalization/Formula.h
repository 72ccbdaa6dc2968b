//===- Formula.h - What a few operators compute together --------*- C++ -*-===//
#ifndef PASSES_LEGALIZATION_FORMULA_H
#define PASSES_LEGALIZATION_FORMULA_H

#include "dialects/npu/NPU.h"

#include <array>
#include <optional>

namespace npu {

/// c[0] + c[1] x + c[2] x^2 + c[3] x^3.
using Polynomial = std::array<double, 4>;

/// `value` as a polynomial of `x`, through additions, products and powers;
/// none if it is not one of degree 3 at most.
std::optional<Polynomial> polynomialOf(mlir::Value value, mlir::Value x);

/// scale * inner + offset with scalar constants; `inner` is nothing that could
/// be taken apart further.
struct Linear {
  mlir::Value inner;
  double scale = 1, offset = 0;
};
Linear linearOf(mlir::Value value);

/// factor * factors[0] * factors[1] ..., divisions by constants included.
struct Product {
  double factor = 1;
  llvm::SmallVector<mlir::Value, 4> factors;
};
Product productOf(mlir::Value value);

/// Equal as far as exporters write constants down (0.1667 for 1/6).
bool nearly(double a, double b);

} // namespace npu

#endif // PASSES_LEGALIZATION_FORMULA_H
