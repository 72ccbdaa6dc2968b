//===- NPU.h - The npu dialect ----------------------------------*- C++ -*-===//
#ifndef DIALECTS_NPU_NPU_H
#define DIALECTS_NPU_NPU_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "target/target.h"

#include "dialects/npu/NPUDialect.h.inc"
#include "dialects/npu/NPUEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/npu/NPUAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/npu/NPUOps.h.inc"

namespace npu {
/// The target of the module around `op` (module attribute `npu.target`), or the
/// preset "edge" if there is none. Costs a few microseconds: once per pass.
target::Target targetOf(mlir::Operation *op);

/// An ONNX node in a host segment: an entry of the attribute `nodes`.
struct HostNodeInfo {
  std::string name, op, reason, fix;
  int64_t macs = 0, bytes = 0;

  /// None if it is no dictionary with name, op, reason and fix.
  static std::optional<HostNodeInfo> from(mlir::Attribute attribute);
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

/// The name of the ONNX node that an op at `loc` comes from; of all of them,
/// joined with '+', for a fused location; "" if there is none.
std::string nodeName(mlir::Location loc);
} // namespace npu

#endif // DIALECTS_NPU_NPU_H
