//===- KeepFloat.h - Nodes that the user wants in float ---------*- C++ -*-===//
#ifndef PASSES_QUANTIZATION_KEEPFLOAT_H
#define PASSES_QUANTIZATION_KEEPFLOAT_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace npu {

/// The operators of `function` that a pattern names: `name` the node's whole
/// name (of any of the nodes, if the operator stands for several), `/regex/`
/// anything in it. Failure, after an error at the function that lists similar
/// names, for a pattern that is malformed or matches nothing.
mlir::FailureOr<llvm::DenseSet<mlir::Operation *>>
matchNodes(mlir::FunctionOpInterface function,
           llvm::ArrayRef<std::string> patterns);

} // namespace npu

#endif // PASSES_QUANTIZATION_KEEPFLOAT_H
