// Completion, hover and diagnostics for .mlir files in editors; see
// https://mlir.llvm.org/docs/Tools/MLIRLSP/.
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include "dialects/cmdq/Cmdq.h"
#include "dialects/npu/NPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::memref::MemRefDialect, mlir::quant::QuantDialect,
                  mlir::tensor::TensorDialect, npu::NPUDialect,
                  npu::cmdq::CmdqDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
