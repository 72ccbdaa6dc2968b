// RUN: npu-opt %s -split-input-file --npu-set-target=target=host --npu-to-cmdq=tap-views | FileCheck %s

// Every named tensor is written by one command as a whole.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.unary {{.*}}tap = "e"
// CHECK: cmdq.dma on dma_in {{.*}}tap = "t"
// CHECK: cmdq.dma on dma_in outs(%{{.*}} : memref<3x4xf32, #cmdq.space<dram>>) {{.*}}tap = "c"
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %0 = npu.exp %x {npu.tensor = "e"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = npu.transpose %0 {perm = array<i64: 1, 0>, npu.tensor = "t"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = npu.concat %1, %1 {axis = 1 : i64, npu.tensor = "c"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
