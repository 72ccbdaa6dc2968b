// RUN: npu-opt --split-input-file --npu-fold-qdq %s | FileCheck %s

!in = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5:3>>
!out = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.25:-128>>

// CHECK-LABEL: func @conv
// CHECK-NOT: npu.dequantize
// CHECK: npu.conv2d({{.*}}bias{{.*}} : (tensor<1x4x4x2x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x1x1x2x!quant.uniform<i8{{.*}}>>, tensor<2xi32>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 2.500000e-01:-128>>
// CHECK-NEXT: return
func.func @conv(%x: !in) -> !out {
  %w8 = npu.constant dense<[[[[1, 2]]], [[[3, 4]]]]> : tensor<2x1x1x2xi8> -> tensor<2x1x1x2x!quant.uniform<i8:f32, 0.125>>
  %b32 = npu.constant dense<[10, 20]> : tensor<2xi32> -> tensor<2x!quant.uniform<i32:f32, 0.0625>>
  %xf = npu.dequantize %x : (!in) -> tensor<1x4x4x2xf32>
  %wf = npu.dequantize %w8 : (tensor<2x1x1x2x!quant.uniform<i8:f32, 0.125>>) -> tensor<2x1x1x2xf32>
  %bf = npu.dequantize %b32 : (tensor<2x!quant.uniform<i32:f32, 0.0625>>) -> tensor<2xf32>
  %y = npu.conv2d(%xf, %wf, bias %bf) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %q = npu.quantize %y : (tensor<1x4x4x2xf32>) -> !out
  return %q : !out
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>

// Equal types meet and vanish, through a move.
// CHECK-LABEL: func @vanish
// CHECK-NEXT: %[[R:.*]] = npu.reshape %{{.*}} -> tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT: return %[[R]]
func.func @vanish(%x: !a) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:3>> {
  %f = npu.dequantize %x : (!a) -> tensor<4xf32>
  %r = npu.reshape %f {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %q = npu.quantize %r : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
  return %q : tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>

// A result that is also read in float stays float.
// CHECK-LABEL: func @shared
// CHECK: npu.add {{.*}} -> tensor<4xf32>
func.func @shared(%x: !a) -> (tensor<4xf32>, !a) {
  %f = npu.dequantize %x : (!a) -> tensor<4xf32>
  %s = npu.add %f, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = npu.quantize %s : (tensor<4xf32>) -> !a
  return %s, %q : tensor<4xf32>, !a
}
