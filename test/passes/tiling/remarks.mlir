// RUN: npu-opt %s --npu-tile --remarks-filter=npu-tile 2>&1 | FileCheck %s

// CHECK: remark: {{.*}} tile | Category:npu-tile | Remark="act: 1 tile(s) of 1x8 of 1x8, loops 0x1; 64 of 1887436 bytes of SRAM, 64 bytes by DMA, about
module attributes {npu.target = #npu.target<"edge">} {
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = npu.exp %x : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("act")
  return %0 : tensor<1x8xf32>
}
}
