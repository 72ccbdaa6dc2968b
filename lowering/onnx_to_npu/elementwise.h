//===- elementwise.h - Broadcasting of two entries --------------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_ELEMENTWISE_H
#define LOWERING_ONNX_TO_NPU_ELEMENTWISE_H

#include "lowering/onnx_to_npu/importer.h"

namespace npu {

/// Two operands of one rank, stored in one order.
struct Operands {
  mlir::Value a, b;
  Dims perm;
};
/// `e` with leading dimensions of 1 up to the rank of `perm`, stored with it.
mlir::Value alignedTo(Importer &im, const Entry &e, const Dims &perm);
Operands broadcastOperands(Importer &im, const Entry &a, const Entry &b);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_ELEMENTWISE_H
