// RUN: npu-opt %s --npu-tile=cores=4 | FileCheck %s
// RUN: npu-opt %s --npu-tile="cores=4" --npu-to-cmdq | FileCheck %s --check-prefix=CMDQ

// Tiles go to the cores in blocks; each core has its own copy of the weights.

// CHECK: npu.conv2d{{.*}} npu.core = 0 : i64
// CHECK: npu.conv2d{{.*}} npu.core = 1 : i64
// CHECK: npu.conv2d{{.*}} npu.core = 2 : i64
// CHECK: npu.conv2d{{.*}} npu.core = 3 : i64

// CMDQ: cmdq.program @main attributes {cores = 16 : i32}
// CMDQ-NOT: core = 1
// CMDQ: cmdq.dma on dma_in {{.*}}#cmdq.space<const>>){{$}}
// CMDQ-NOT: #cmdq.space<const>
// CMDQ: cmdq.alloc {core = 1 : i32} : memref<32x3x3x16xf32, #cmdq.space<sram>>
// CMDQ: cmdq.dma on dma_in {{.*}}#cmdq.space<const>>) {core = 1 : i32}
// CMDQ-NOT: #cmdq.space<const>
// CMDQ: cmdq.conv2d on matrix {{.*}} {core = 1 : i32
// CMDQ-NOT: #cmdq.space<const>
// CMDQ: cmdq.dma on dma_in {{.*}}#cmdq.space<const>>) {core = 2 : i32}
module attributes {npu.target = #npu.target<"pc">} {
func.func @main(%x: tensor<1x64x64x16xf32>) -> tensor<1x64x64x32xf32> {
  %w = npu.constant dense<1.0> : tensor<32x3x3x16xf32> -> tensor<32x3x3x16xf32>
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x64x16xf32>, tensor<32x3x3x16xf32>) -> tensor<1x64x64x32xf32>
  return %0 : tensor<1x64x64x32xf32>
}
}
