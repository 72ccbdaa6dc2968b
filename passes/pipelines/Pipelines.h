//===- Pipelines.h - The pass pipelines of the toolchain --------*- C++ -*-===//
//
// Each is registered with npu-opt under the name given, with the same options:
//
//   --npu-float-pipeline      imported module -> canonical float module
//   --npu-quantize-pipeline   float module + ranges -> quantised module
//   --npu-legalize-pipeline   -> what the target's kernels can run, fused
//   --npu-tile-pipeline       -> tiles that fit the target's SRAM
//   --npu-cmdq-pipeline       -> planned and scheduled cmdq program
//   --npu-backend-pipeline    the last three
//   --npu-calibration-pipeline  float module -> cmdq for the software NPU in
//                             which every tensor can be tapped
//
//===----------------------------------------------------------------------===//
#ifndef PASSES_PIPELINES_PIPELINES_H
#define PASSES_PIPELINES_PIPELINES_H

#include <string>
#include <vector>

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace npu {

struct QuantizePipelineOptions
    : public mlir::PassPipelineOptions<QuantizePipelineOptions> {
  Option<std::string> stats{
      *this, "stats",
      llvm::cl::desc("Calibration file; empty: the ranges are in the module")};
  Option<std::string> method{*this, "method",
                             llvm::cl::desc("minmax, percentile, entropy, mse"),
                             llvm::cl::init("minmax")};
  Option<double> percentile{*this, "percentile",
                            llvm::cl::desc("For method percentile"),
                            llvm::cl::init(99.99)};
  Option<bool> equalize{*this, "equalize",
                        llvm::cl::desc("Equalise channels' ranges"),
                        llvm::cl::init(true)};
  Option<int64_t> splitChannels{
      *this, "split-channels",
      llvm::cl::desc("Most groups of channels with scales of their own; 1: "
                     "tensors stay whole"),
      llvm::cl::init(1)};
  ListOption<std::string> keepFloat{
      *this, "keep-float",
      llvm::cl::desc("Nodes that stay in f32, by name or /regex/")};
};

struct BackendPipelineOptions
    : public mlir::PassPipelineOptions<BackendPipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Preset or target file"),
                             llvm::cl::init("edge")};
  Option<int64_t> cores{*this, "cores", llvm::cl::desc("Cores to use; 0: all"),
                        llvm::cl::init(0)};
  Option<int64_t> sramMargin{
      *this, "sram-margin",
      llvm::cl::desc("SRAM that tiling leaves free, in percent"),
      llvm::cl::init(10)};
  Option<bool> resident{
      *this, "resident",
      llvm::cl::desc("Let tensors stay in SRAM between operators"),
      llvm::cl::init(true)};
};

void buildFloatPipeline(mlir::OpPassManager &pm);
/// The two halves of the quantize pipeline: ranges on the float operators, then
/// quantised types.
void buildRangesPipeline(mlir::OpPassManager &pm,
                         const QuantizePipelineOptions &options);
void buildTypesPipeline(mlir::OpPassManager &pm,
                        const QuantizePipelineOptions &options);
void buildQuantizePipeline(mlir::OpPassManager &pm,
                           const QuantizePipelineOptions &options);
void buildLegalizePipeline(mlir::OpPassManager &pm,
                           const BackendPipelineOptions &options);
void buildTilePipeline(mlir::OpPassManager &pm,
                       const BackendPipelineOptions &options);
void buildCmdqPipeline(mlir::OpPassManager &pm);
void buildBackendPipeline(mlir::OpPassManager &pm,
                          const BackendPipelineOptions &options);
void buildCalibrationPipeline(mlir::OpPassManager &pm);

void registerPipelines();

} // namespace npu

#endif // PASSES_PIPELINES_PIPELINES_H
