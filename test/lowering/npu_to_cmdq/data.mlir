// RUN: npu-opt %s -split-input-file --npu-set-target=target=host --npu-to-cmdq | FileCheck %s

// Producers write into their piece of a concatenation; what comes from outside
// is copied. The concatenation itself is the output.

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[X:.*]] = cmdq.io {index = 0
// CHECK: %[[Y:.*]] = cmdq.io {index = 1
// CHECK: %[[P:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [2, 3], strides: [6, 1]
// CHECK: cmdq.unary on vector outs(%[[P]] :
// CHECK: %[[R:.*]] = memref.reinterpret_cast %[[Y]] to offset: [3], sizes: [2, 3], strides: [6, 1]
// CHECK: cmdq.dma on dma_in outs(%[[R]] : {{.*}}) ins(%[[X]] :
// CHECK-NOT: cmdq.dma
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = npu.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = npu.concat %0, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}

// -----

// Slices, splits, transposes, reshapes and broadcasts are views.

// CHECK-LABEL: cmdq.program @main
// CHECK-NOT: cmdq.dma
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [2], sizes: [2, 2], strides: [8, 1]
// CHECK-NOT: cmdq.dma
// CHECK: cmdq.unary
// CHECK-NOT: cmdq.dma
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [4], sizes: [3, 2, 2], strides: [8, 2, 1]
// CHECK-NOT: cmdq.dma
// CHECK: cmdq.unary
// CHECK-NOT: cmdq.dma
func.func @main(%x: tensor<6x4xf32>, %z: tensor<3x8xf32>) -> (tensor<2x2xf32>, tensor<3x2x2xf32>) {
  %0 = npu.slice %x {starts = array<i64: 0, 2>, sizes = array<i64: 2, 2>, strides = array<i64: 2, 1>} : (tensor<6x4xf32>) -> tensor<2x2xf32>
  %1 = npu.exp %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2:2 = npu.split %z {axis = 1 : i64, sizes = array<i64: 4, 4>} : (tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  %3 = npu.reshape %2#1 {shape = array<i64: 3, 2, 2>} : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  %4 = npu.exp %3 : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %1, %4 : tensor<2x2xf32>, tensor<3x2x2xf32>
}

// -----

// A reshape that the strides don't allow costs a copy.

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[V:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 6], strides: [1, 4]
// CHECK: cmdq.dma on dma_in outs(%{{.*}} : memref<4x6xf32, #cmdq.space<dram>>) ins(%[[V]] :
// CHECK: cmdq.unary on vector
func.func @main(%x: tensor<6x4xf32>) -> tensor<24xf32> {
  %0 = npu.transpose %x {perm = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %1 = npu.reshape %0 {shape = array<i64: 24>} : (tensor<4x6xf32>) -> tensor<24xf32>
  %2 = npu.exp %1 : (tensor<24xf32>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}

// -----

// Constant padding: the producer writes the interior, fills make the border.
// 0.0 is the zero point.

!q = !quant.uniform<i8:f32, 0.5:-3>

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[IN:.*]] = memref.reinterpret_cast %[[BUF:.*]] to offset: [15], sizes: [1, 2, 2, 3], strides: [30, 15, 3, 1]
// CHECK: cmdq.lut on vector outs(%[[IN]] :
// CHECK: cmdq.fill on dma_out outs({{.*}} {bits = 253 : i64}
// CHECK-COUNT-2: cmdq.fill
// CHECK-NOT: cmdq.fill
// CHECK-NOT: cmdq.dma
func.func @main(%x: tensor<1x2x2x3x!q>) -> tensor<1x4x5x3x!q> {
  %0 = npu.relu %x : (tensor<1x2x2x3x!q>) -> tensor<1x2x2x3x!q>
  %1 = npu.pad %0 {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 1, 3, 0>, mode = #npu<pad_mode constant>} : (tensor<1x2x2x3x!q>) -> tensor<1x4x5x3x!q>
  %2 = npu.pad %1 {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 0>, mode = #npu<pad_mode constant>} : (tensor<1x4x5x3x!q>) -> tensor<1x4x5x3x!q>
  return %2 : tensor<1x4x5x3x!q>
}

// -----

// Reflection copies element by element (commands have no negative strides),
// edges repeat with a stride of 0. A reversed slice is copied, too.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.dma
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [4], sizes: [1]
// CHECK: cmdq.dma
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [1], sizes: [1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [3], sizes: [1]
// CHECK: cmdq.dma
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [6], sizes: [1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [4], sizes: [1]
// CHECK: cmdq.dma
// CHECK: cmdq.dma
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2], strides: [1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [2], sizes: [2], strides: [0]
// CHECK: cmdq.dma
// CHECK-COUNT-4: cmdq.dma
// CHECK: cmdq.unary
func.func @main(%x: tensor<4xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<4xf32>) {
  %0 = npu.pad %x {low = array<i64: 2>, high = array<i64: 1>, mode = #npu<pad_mode reflect>} : (tensor<4xf32>) -> tensor<7xf32>
  %1 = npu.pad %x {low = array<i64: 2>, high = array<i64: 1>, mode = #npu<pad_mode edge>} : (tensor<4xf32>) -> tensor<7xf32>
  %2 = npu.slice %x {starts = array<i64: 3>, sizes = array<i64: 4>, strides = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = npu.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %3 : tensor<7xf32>, tensor<7xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: cmdq.program @main
// CHECK: sizes: [1, 3, 2, 2, 2, 5], strides: [120, 40, 10, 20, 5, 1]
// CHECK: cmdq.dma on dma_in outs(%{{.*}} : memref<1x3x2x2x2x5xf32
// CHECK: sizes: [1, 3, 2, 2, 2, 5], strides: [120, 40, 2, 20, 1, 4]
// CHECK: cmdq.dma on dma_in
// CHECK: sizes: [1, 3, 2, 2, 2, 5], strides: [120, 40, 10, 20, 5, 1]
// CHECK: cmdq.dma on dma_in
func.func @main(%x: tensor<1x3x2x20xf32>, %z: tensor<1x6x4x5xf32>) -> (tensor<1x6x4x5xf32>, tensor<1x6x4x5xf32>, tensor<1x3x2x20xf32>) {
  %0 = npu.depth_to_space %x {block_size = 2 : i64, mode = #npu<d2s_mode dcr>} : (tensor<1x3x2x20xf32>) -> tensor<1x6x4x5xf32>
  %1 = npu.depth_to_space %x {block_size = 2 : i64, mode = #npu<d2s_mode crd>} : (tensor<1x3x2x20xf32>) -> tensor<1x6x4x5xf32>
  %2 = npu.space_to_depth %z {block_size = 2 : i64} : (tensor<1x6x4x5xf32>) -> tensor<1x3x2x20xf32>
  return %0, %1, %2 : tensor<1x6x4x5xf32>, tensor<1x6x4x5xf32>, tensor<1x3x2x20xf32>
}

// -----

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[I:.*]] = cmdq.constant {value = dense<[3, 0]> : tensor<2xi32>}
// CHECK: cmdq.gather on vector {{.*}} indices(%[[I]] : {{.*}}) {axis = 1 : i32}
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %0 = npu.gather %x {indices = array<i64: 3, 0>, axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// Equal constants are one.

// CHECK-LABEL: cmdq.program @main
// CHECK-COUNT-1: cmdq.constant
// CHECK-NOT: cmdq.constant
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = npu.constant dense<2.0> : tensor<4xf32> -> tensor<4xf32>
  %b = npu.constant dense<2.0> : tensor<4xf32> -> tensor<4xf32>
  %0 = npu.add %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = npu.mul %0, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// An input or constant that is an output is copied; so is a second output of
// the same tensor.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.unary
// CHECK-COUNT-2: cmdq.dma
// CHECK-NOT: cmdq.dma
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = npu.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %x, %0, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.host_call outs(%{{.*}} : memref<4xf32, #cmdq.space<dram>>) ins(%{{.*}} : memref<4xf32, #cmdq.space<io>>) {model = "m", nodes = [{fix = "f", name = "n", op = "o", reason = "r"}]}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = npu.host_call %x {model = "m", nodes = [{name = "n", op = "o", reason = "r", fix = "f"}]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = npu.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
