// RUN: npu-opt %s -split-input-file --npu-tile | FileCheck %s

// A tensor that fits stays in SRAM, in one piece or in tiles; the output goes
// out.

// CHECK-LABEL: func.func @main
// CHECK: tensor.empty() {npu.sram} : tensor<1x16x1xf32>
// CHECK: npu.reduce_max %{{.*}} {axes = array<i64: 2>} : (tensor<1x{{[0-9]+}}x64xf32>)
// CHECK: %[[E:.*]] = npu.exp %{{.*}} {npu.sram} : (tensor<1x16x1xf32>)
// CHECK: tensor.empty() : tensor<1x16x64xf32>
// CHECK: tensor.extract_slice %[[E]]
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x16x64xf32>) -> tensor<1x16x64xf32> {
  %0 = npu.reduce_max %x {axes = array<i64: 2>} : (tensor<1x16x64xf32>) -> tensor<1x16x1xf32>
  %1 = npu.exp %0 : (tensor<1x16x1xf32>) -> tensor<1x16x1xf32>
  %2 = npu.sub %x, %1 : (tensor<1x16x64xf32>, tensor<1x16x1xf32>) -> tensor<1x16x64xf32>
  return %2 : tensor<1x16x64xf32>
}
}

// -----

// A concatenation is one buffer: it stays, its pieces are written into it.

// CHECK-LABEL: func.func @main
// CHECK-NOT: npu.sram
// CHECK: npu.concat %{{.*}}, %{{.*}} {axis = 2 : i64, npu.sram}
// CHECK-NOT: npu.sram
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x8x8xf32>) -> tensor<1x8x16xf32> {
  %0 = npu.exp %x : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %1 = npu.abs %x : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %2 = npu.concat %0, %1 {axis = 2 : i64} : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x16xf32>
  %3 = npu.neg %2 : (tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
  return %3 : tensor<1x8x16xf32>
}
}

// -----

// What is too large for the SRAM next to the operators' tiles does not stay.

// CHECK-LABEL: func.func @main
// CHECK-NOT: npu.sram
// CHECK: return
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x1200xf32>) -> tensor<1x1200xf32> {
  %0 = npu.exp %x : (tensor<1x1200xf32>) -> tensor<1x1200xf32>
  %1 = npu.neg %0 : (tensor<1x1200xf32>) -> tensor<1x1200xf32>
  return %1 : tensor<1x1200xf32>
}
}
