// RUN: npu-opt %s -split-input-file --npu-clean-layouts | FileCheck %s

// A channel shuffle in NCHW between NHWC operators, cut into halves.

// CHECK-LABEL: func.func @shuffle
// CHECK-NEXT: %[[A:.*]] = npu.gather %arg0 {axis = 3 : i64, indices = array<i64: 0, 2>}
// CHECK-NEXT: %[[B:.*]] = npu.gather %arg0 {axis = 3 : i64, indices = array<i64: 1, 3>}
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @shuffle(%x: tensor<1x8x8x4xf32>) -> (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) {
  %0 = npu.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %1 = npu.reshape %0 {shape = array<i64: 1, 2, 2, 8, 8>} : (tensor<1x4x8x8xf32>) -> tensor<1x2x2x8x8xf32>
  %2 = npu.transpose %1 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x2x8x8xf32>) -> tensor<1x2x2x8x8xf32>
  %3 = npu.reshape %2 {shape = array<i64: 1, 4, 8, 8>} : (tensor<1x2x2x8x8xf32>) -> tensor<1x4x8x8xf32>
  %4:2 = npu.split %3 {axis = 1 : i64, sizes = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>)
  %5 = npu.transpose %4#0 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x8x8x2xf32>
  %6 = npu.transpose %4#1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x8x8x2xf32>
  return %5, %6 : tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>
}

// -----

// CHECK-LABEL: func.func @depth_to_space
// CHECK-NEXT: npu.depth_to_space %arg0 {block_size = 2 : i64, mode = #npu<d2s_mode crd>}
// CHECK-NEXT: return
func.func @depth_to_space(%x: tensor<1x4x5x12xf32>) -> tensor<1x8x10x3xf32> {
  %0 = npu.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x12xf32>) -> tensor<1x12x4x5xf32>
  %1 = npu.reshape %0 {shape = array<i64: 1, 3, 2, 2, 4, 5>} : (tensor<1x12x4x5xf32>) -> tensor<1x3x2x2x4x5xf32>
  %2 = npu.transpose %1 {perm = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x3x2x2x4x5xf32>) -> tensor<1x3x4x2x5x2xf32>
  %3 = npu.reshape %2 {shape = array<i64: 1, 3, 8, 10>} : (tensor<1x3x4x2x5x2xf32>) -> tensor<1x3x8x10xf32>
  %4 = npu.transpose %3 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x8x10xf32>) -> tensor<1x8x10x3xf32>
  return %4 : tensor<1x8x10x3xf32>
}

// -----

// Through a reshape, a reduction and an addition of a constant.

// CHECK-LABEL: func.func @sink
// CHECK-NOT: npu.transpose
// CHECK: npu.reduce_mean %{{.*}} {axes = array<i64: 2>, npu.tensor = "m"}
// CHECK-NOT: npu.transpose
// CHECK: return
func.func @sink(%x: tensor<1x8x4x3xf32>) -> tensor<1x1x1x3xf32> {
  %c = npu.constant dense<[[[[1.0]], [[2.0]], [[3.0]]]]> : tensor<1x3x1x1xf32> -> tensor<1x3x1x1xf32>
  %0 = npu.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x4x3xf32>) -> tensor<1x3x8x4xf32>
  %1 = npu.reshape %0 {shape = array<i64: 1, 3, 1, 32>} : (tensor<1x3x8x4xf32>) -> tensor<1x3x1x32xf32>
  %2 = npu.reduce_mean %1 {axes = array<i64: 3>, npu.tensor = "m"} : (tensor<1x3x1x32xf32>) -> tensor<1x3x1x1xf32>
  %3 = npu.add %2, %c : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
  %4 = npu.reshape %3 {shape = array<i64: 1, 1, 1, 3>} : (tensor<1x3x1x1xf32>) -> tensor<1x1x1x3xf32>
  return %4 : tensor<1x1x1x3xf32>
}

// -----

// One transpose that nothing meets, before a broadcast: where it was.

// CHECK-LABEL: func.func @negative
// CHECK: %[[T:.*]] = npu.transpose %arg0
// CHECK: npu.add %[[T]], %arg1
func.func @negative(%x: tensor<4x1x3xf32>, %y: tensor<1x1x1xf32>, %z: tensor<3x4x5xf32>) -> (tensor<3x4x1xf32>, tensor<3x4x5xf32>) {
  %0 = npu.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<4x1x3xf32>) -> tensor<3x4x1xf32>
  %1 = npu.add %0, %y : (tensor<3x4x1xf32>, tensor<1x1x1xf32>) -> tensor<3x4x1xf32>
  %2 = npu.add %0, %z : (tensor<3x4x1xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  return %1, %2 : tensor<3x4x1xf32>, tensor<3x4x5xf32>
}
