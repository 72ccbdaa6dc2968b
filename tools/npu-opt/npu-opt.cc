#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "dialects/cmdq/Cmdq.h"
#include "dialects/npu/NPU.h"
#include "lowering/npu_to_cmdq/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/legalization/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/partition/Passes.h"
#include "passes/pipelines/Pipelines.h"
#include "passes/quantization/Passes.h"
#include "passes/scheduling/Passes.h"
#include "passes/tiling/Passes.h"
#include "target/Passes.h"

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  npu::registerNpuToCmdqPasses();
  npu::registerQuantizationPasses();
  npu::registerFusionPasses();
  npu::registerLegalizationPasses();
  npu::registerMemoryPasses();
  npu::registerSchedulingPasses();
  npu::registerPartitionPasses();
  npu::registerTilingPasses();
  npu::registerPipelines();
  npu::target::registerTargetPasses();
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::memref::MemRefDialect, mlir::quant::QuantDialect,
                  mlir::tensor::TensorDialect, npu::NPUDialect,
                  npu::cmdq::CmdqDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "npu-mlir optimiser driver\n", registry));
}
