// The pipelines one after the other, on a convolution with a hard swish that
// the exporter has taken apart.
// RUN: npu-opt %s --npu-float-pipeline | FileCheck %s --check-prefix=FLOAT
// RUN: npu-opt %s --npu-float-pipeline --npu-quantize-pipeline | FileCheck %s --check-prefix=QUANT
// RUN: npu-opt %s --npu-float-pipeline --npu-quantize-pipeline=keep-float=conv | FileCheck %s --check-prefix=KEEP
// RUN: npu-opt %s --npu-float-pipeline --npu-quantize-pipeline --npu-backend-pipeline=target=edge | FileCheck %s --check-prefix=EDGE
// RUN: npu-opt %s --npu-float-pipeline --npu-quantize-pipeline --npu-legalize-pipeline=target=edge --npu-tile-pipeline --npu-cmdq-pipeline | FileCheck %s --check-prefix=EDGE
// RUN: npu-opt %s --npu-float-pipeline --npu-calibration-pipeline | FileCheck %s --check-prefix=TAPS
// RUN: npu-opt %s --npu-float-pipeline --npu-calibration-pipeline | npu-translate --npu-to-blob -o /dev/null
// RUN: not npu-opt %s --npu-backend-pipeline=target=nope 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not npu-opt %s --npu-quantize-pipeline=keep-float=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not npu-opt %s --npu-quantize-pipeline=stats=%S/none.json 2>&1 | FileCheck %s --check-prefix=STATS

// FLOAT-LABEL: func.func @main
// FLOAT: %[[C:.*]] = npu.conv2d
// FLOAT-NEXT: %[[Y:.*]] = npu.hard_swish %[[C]]
// FLOAT-NEXT: return %[[Y]]
// FLOAT-NOT: npu.mul

// QUANT-LABEL: func.func @main
// QUANT: npu.conv2d({{.*}} -> tensor<1x8x8x4x!quant.uniform<i8:f32, {{.*}}>>
// QUANT-NOT: npu.range

// KEEP-LABEL: func.func @main
// KEEP: npu.conv2d({{.*}}) -> tensor<1x8x8x4xf32>

// The same program from the three parts and from the whole.
// EDGE: module attributes {npu.target = #npu.target<"edge">}
// EDGE: cmdq.program @main attributes {dram_bytes = {{.*}}npu.estimate = {{.*}}sram_bytes =
// EDGE: cmdq.io {index = 0 : i32, name = "x"}
// EDGE: cmdq.io {index = 1 : i32, is_output, name = "y"}
// EDGE: cmdq.dma on dma_in
// EDGE: cmdq.convert on vector {{.*}}quantize{{.*}}waits = [#cmdq.wait<2, 1>]
// EDGE: cmdq.conv2d on matrix {{.*}}multipliers({{.*}}layer = "conv"
// EDGE: cmdq.dma on dma_out {{.*}}tap = "y"
// EDGE-NOT: cmdq.alloc

// Every tensor with a name has a tap, nothing is fused.
// TAPS: module attributes {npu.target = #npu.target<"host">}
// TAPS: cmdq.conv2d on matrix {{.*}}epilogue = #cmdq.epilogue<>{{.*}}tap = "c"
// TAPS: cmdq.unary on vector {{.*}}hard_swish{{.*}}tap = "y"

// TARGET: error: no target preset 'nope'; there are edge, pc, micro, host, or give the path of a JSON file
// NOTHING: error: keep-float: no node matches 'nothing'; similar names: 'conv', 'gate', 'mul'
// STATS: error: npu-import-calibration: cannot read {{.*}}none.json: No such file or directory

func.func @main(%x: tensor<1x8x8x3xf32> {npu.name = "x", npu.range = array<f64: -1.0, 1.0>}) -> (tensor<1x8x8x4xf32> {npu.name = "y"}) {
  %w = npu.constant dense<0.5> : tensor<4x3x3x3xf32> -> tensor<4x3x3x3xf32>
  %b = npu.constant dense<[0.0, 1.0, -1.0, 0.5]> : tensor<4xf32> -> tensor<4xf32>
  %0 = npu.conv2d(%x, %w, bias %b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, npu.tensor = "c", npu.range = array<f64: -8.0, 8.0>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32> loc("conv")
  %1 = npu.hard_sigmoid %0 {alpha = 0.166666672 : f32, beta = 0.5 : f32} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("gate")
  %2 = npu.mul %1, %0 {npu.tensor = "y", npu.range = array<f64: -0.375, 8.0>} : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> loc("mul")
  return %2 : tensor<1x8x8x4xf32>
}
