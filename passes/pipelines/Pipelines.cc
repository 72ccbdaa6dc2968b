//===- Pipelines.cc - The pass pipelines of the toolchain -----------------===//

#include "passes/pipelines/Pipelines.h"

#include "lowering/npu_to_cmdq/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/legalization/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/partition/Passes.h"
#include "passes/quantization/Passes.h"
#include "passes/scheduling/Passes.h"
#include "passes/tiling/Passes.h"
#include "target/Passes.h"

using namespace mlir;

namespace npu {

static void clean(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void setTarget(OpPassManager &pm, const std::string &name) {
  target::SetTargetPassOptions options;
  options.target = name;
  pm.addPass(target::createSetTargetPass(options));
}

void buildFloatPipeline(OpPassManager &pm) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  clean(function);
  function.addPass(createNpuFoldQdqPass());
  function.addPass(createNpuCleanLayoutsPass());
  function.addPass(createNpuRecogniseCompositesPass());
  function.addPass(createNpuFoldAffinePass());
  clean(function);
  function.addPass(createNpuPartitionPass());
}

void buildRangesPipeline(OpPassManager &pm,
                         const QuantizePipelineOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  if (!options.stats.empty()) {
    NpuImportCalibrationPassOptions import;
    import.stats = options.stats;
    import.method = options.method;
    import.percentile = options.percentile;
    function.addPass(createNpuImportCalibrationPass(import));
  }
  if (options.equalize)
    function.addPass(createNpuEqualizePass());
  if (options.splitChannels > 1) {
    NpuSplitChannelsPassOptions split;
    split.maxGroups = options.splitChannels;
    function.addPass(createNpuSplitChannelsPass(split));
  }
}

void buildTypesPipeline(OpPassManager &pm,
                        const QuantizePipelineOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  NpuQuantizePassOptions quantize;
  quantize.keepFloat.assign(options.keepFloat.begin(), options.keepFloat.end());
  function.addPass(createNpuQuantizePass(quantize));
  clean(function);
}

void buildQuantizePipeline(OpPassManager &pm,
                           const QuantizePipelineOptions &options) {
  buildRangesPipeline(pm, options);
  buildTypesPipeline(pm, options);
}

void buildLegalizePipeline(OpPassManager &pm,
                           const BackendPipelineOptions &options) {
  setTarget(pm, options.target);
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createNpuFuseEpiloguePass());
  function.addPass(createNpuLegalizePass());
  function.addPass(createNpuLegalizeDepthwisePass());
  clean(function);
}

void buildTilePipeline(OpPassManager &pm,
                       const BackendPipelineOptions &options) {
  NpuTilePassOptions tile;
  tile.maxCores = options.cores;
  tile.margin = options.sramMargin;
  tile.resident = options.resident;
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createNpuTilePass(tile));
}

static void buildPlan(OpPassManager &pm) {
  pm.addPass(createCmdqPlanMemoryPass());
  pm.addPass(createCmdqInsertWaitsPass());
}

void buildCmdqPipeline(OpPassManager &pm) {
  pm.addPass(createNpuToCmdqPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCmdqPrefetchPass());
  buildPlan(pm);
  pm.addPass(createCmdqVerifySchedulePass());
  pm.addPass(createCmdqEstimatePass());
}

void buildBackendPipeline(OpPassManager &pm,
                          const BackendPipelineOptions &options) {
  buildLegalizePipeline(pm, options);
  buildTilePipeline(pm, options);
  buildCmdqPipeline(pm);
}

void buildCalibrationPipeline(OpPassManager &pm) {
  setTarget(pm, "host");
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createNpuLegalizePass());
  clean(function);
  NpuToCmdqPassOptions lower;
  lower.tapViews = true;
  pm.addPass(createNpuToCmdqPass(lower));
  buildPlan(pm);
}

void registerPipelines() {
  PassPipelineRegistration<>("npu-float-pipeline",
                             "Imported module to canonical float module",
                             buildFloatPipeline);
  PassPipelineRegistration<QuantizePipelineOptions>(
      "npu-quantize-pipeline", "Float module and ranges to quantised module",
      buildQuantizePipeline);
  PassPipelineRegistration<BackendPipelineOptions>(
      "npu-legalize-pipeline", "What the target's kernels can run, fused",
      buildLegalizePipeline);
  PassPipelineRegistration<BackendPipelineOptions>(
      "npu-tile-pipeline", "Tiles that fit the target's SRAM",
      buildTilePipeline);
  PassPipelineRegistration<>("npu-cmdq-pipeline",
                             "Planned and scheduled command queues",
                             buildCmdqPipeline);
  PassPipelineRegistration<BackendPipelineOptions>(
      "npu-backend-pipeline",
      "Float or quantised module to scheduled command queues",
      buildBackendPipeline);
  PassPipelineRegistration<>(
      "npu-calibration-pipeline",
      "Float module to commands with a tap on every tensor",
      buildCalibrationPipeline);
}

} // namespace npu
