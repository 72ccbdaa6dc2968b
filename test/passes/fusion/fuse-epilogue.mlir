// RUN: npu-opt %s -split-input-file --npu-fuse-epilogue -mlir-print-debuginfo | FileCheck %s

// Activation, residual and the clip after it, in one; the residual comes later
// than the convolution.

// CHECK-LABEL: func.func @float
// CHECK: %[[R:.*]] = npu.exp %arg1
// CHECK-NEXT: %[[C:.*]] = npu.conv2d(%arg0, %{{.*}}, bias %{{.*}} residual %[[R]]) {activation = #npu.act<hard_swish, 0.0{{.*}}, npu.tensor = "y"{{.*}}residual_activation = #npu.act<clip, 0.0{{.*}}, inf>{{.*}} loc(#[[L:.*]])
// CHECK-NEXT: return %[[C]]
// CHECK: #[[L]] = loc(fused[{{.*}}, {{.*}}, {{.*}}, {{.*}}])
func.func @float(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %w = npu.constant dense<1.0> : tensor<2x1x1x2xf32> -> tensor<2x1x1x2xf32>
  %b = npu.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, npu.tensor = "c"} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %1 = npu.add %0, %b : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32> loc("bias")
  %2 = npu.hard_swish %1 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("act")
  %3 = npu.exp %y : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %4 = npu.add %3, %2 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("sum")
  %5 = npu.relu %4 {npu.tensor = "y"} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("sum")
  return %5 : tensor<1x4x4x2xf32>
}

// -----

!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-128>
!w = !quant.uniform<i8<-127:127>:f32, 0.1>

// A clip of the same type needs no type in between, anything else does.

// CHECK-LABEL: func.func @quantised
// CHECK: npu.fully_connected(%{{[^)]*}}) {activation = #npu.act<clip, 0.0{{[^}]*}}} :
// CHECK: npu.fully_connected(%{{[^)]*}}) {activation = #npu.act<swish, 1.0{{[^}]*}}pre_activation_type = !quant.uniform<i8:f32, 5.000000e-01:3>} : {{.*}} -> tensor<1x4x!quant.uniform<i8:f32, 2.500000e-01:-128>>
// CHECK: npu.fully_connected(%{{.*}} residual %arg0) {residual_activation = #npu.act<clip, 0.0{{.*}}residual_type = !quant.uniform<i8:f32, 5.000000e-01:3>} :
// CHECK: npu.mul {{.*}} {activation = #npu.act<clip, 0.0{{.*}}pre_activation_type = !quant.uniform<i8:f32, 5.000000e-01:3>} : {{.*}} -> tensor<1x4x!quant.uniform<i8:f32, 2.500000e-01:-128>>
func.func @quantised(%x: tensor<1x4x!a>) -> (tensor<1x4x!a>, tensor<1x4x!b>, tensor<1x4x!b>, tensor<1x4x!b>) {
  %w = npu.constant dense<1> : tensor<4x4xi8> -> tensor<4x4x!w>
  %0 = npu.fully_connected(%x, %w) : (tensor<1x4x!a>, tensor<4x4x!w>) -> tensor<1x4x!a>
  %1 = npu.relu %0 : (tensor<1x4x!a>) -> tensor<1x4x!a>
  %2 = npu.fully_connected(%x, %w) : (tensor<1x4x!a>, tensor<4x4x!w>) -> tensor<1x4x!a>
  %3 = npu.swish %2 : (tensor<1x4x!a>) -> tensor<1x4x!b>
  %4 = npu.fully_connected(%x, %w) : (tensor<1x4x!a>, tensor<4x4x!w>) -> tensor<1x4x!a>
  %5 = npu.add %4, %x : (tensor<1x4x!a>, tensor<1x4x!a>) -> tensor<1x4x!b>
  %6 = npu.clip %5 {min = 0.0 : f32, max = 6.0 : f32} : (tensor<1x4x!b>) -> tensor<1x4x!b>
  %7 = npu.mul %x, %x : (tensor<1x4x!a>, tensor<1x4x!a>) -> tensor<1x4x!a>
  %8 = npu.relu %7 : (tensor<1x4x!a>) -> tensor<1x4x!b>
  return %1, %3, %6, %8 : tensor<1x4x!a>, tensor<1x4x!b>, tensor<1x4x!b>, tensor<1x4x!b>
}

// -----

!a = !quant.uniform<i8:f32, 0.5:3>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// CHECK-LABEL: func.func @rescale
// CHECK-DAG: %[[B:.*]] = npu.constant dense<[3, 5]> : tensor<2xi32>
// CHECK: npu.fully_connected(%arg0, %{{.*}}, bias %[[B]]) {activation = #npu.act<clip{{.*}}-> tensor<1x2x!quant
// CHECK-NOT: npu.rescale
// CHECK: return
func.func @rescale(%x: tensor<1x4x!a>) -> tensor<1x2x!a> {
  %w = npu.constant dense<1> : tensor<2x4xi8> -> tensor<2x4x!w>
  %b = npu.constant dense<[1, 2]> : tensor<2xi32> -> tensor<2xi32>
  %c = npu.constant dense<[2, 3]> : tensor<2xi32> -> tensor<2xi32>
  %0 = npu.fully_connected(%x, %w, bias %b) : (tensor<1x4x!a>, tensor<2x4x!w>, tensor<2xi32>) -> tensor<1x2xi32>
  %1 = npu.rescale(%0, bias %c) {scales = array<f32: 0.25>} : (tensor<1x2xi32>, tensor<2xi32>) -> tensor<1x2x!a>
  %2 = npu.relu %1 : (tensor<1x2x!a>) -> tensor<1x2x!a>
  return %2 : tensor<1x2x!a>
}

// -----

!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-128>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// Scales that differ, a second use, an activation after the residual that is no
// clip, a clip that changes the type after it, a residual that broadcasts.

// CHECK-LABEL: func.func @negative
// CHECK: npu.rescale
// CHECK: npu.fully_connected
// CHECK-NEXT: npu.relu
// CHECK: npu.fully_connected{{.*}}residual
// CHECK-NEXT: npu.hard_swish
// CHECK: npu.fully_connected{{.*}}residual
// CHECK-NEXT: npu.relu
// CHECK: npu.fully_connected
// CHECK-NOT: residual
// CHECK: npu.add
func.func @negative(%x: tensor<2x4x!a>, %row: tensor<1x4x!a>) -> (tensor<2x4x!a>, tensor<2x4x!a>, tensor<2x4x!a>, tensor<2x4x!a>, tensor<2x4x!b>, tensor<2x4x!a>) {
  %w = npu.constant dense<1> : tensor<4x4xi8> -> tensor<4x4x!w>
  %0 = npu.fully_connected(%x, %w) : (tensor<2x4x!a>, tensor<4x4x!w>) -> tensor<2x4xi32>
  %1 = npu.rescale(%0) {scales = array<f32: 0.125>} : (tensor<2x4xi32>) -> tensor<2x4x!a>
  %2 = npu.fully_connected(%x, %w) : (tensor<2x4x!a>, tensor<4x4x!w>) -> tensor<2x4x!a>
  %3 = npu.relu %2 : (tensor<2x4x!a>) -> tensor<2x4x!a>
  %4 = npu.fully_connected(%x, %w) : (tensor<2x4x!a>, tensor<4x4x!w>) -> tensor<2x4x!a>
  %5 = npu.add %4, %x : (tensor<2x4x!a>, tensor<2x4x!a>) -> tensor<2x4x!a>
  %6 = npu.hard_swish %5 : (tensor<2x4x!a>) -> tensor<2x4x!a>
  %7 = npu.fully_connected(%x, %w) : (tensor<2x4x!a>, tensor<4x4x!w>) -> tensor<2x4x!a>
  %8 = npu.add %7, %x : (tensor<2x4x!a>, tensor<2x4x!a>) -> tensor<2x4x!a>
  %9 = npu.relu %8 : (tensor<2x4x!a>) -> tensor<2x4x!b>
  %10 = npu.fully_connected(%x, %w) : (tensor<2x4x!a>, tensor<4x4x!w>) -> tensor<2x4x!a>
  %11 = npu.add %10, %row : (tensor<2x4x!a>, tensor<1x4x!a>) -> tensor<2x4x!a>
  return %1, %2, %3, %6, %9, %11 : tensor<2x4x!a>, tensor<2x4x!a>, tensor<2x4x!a>, tensor<2x4x!a>, tensor<2x4x!b>, tensor<2x4x!a>
}
