// RUN: npu-opt %s | npu-opt | FileCheck %s

// CHECK-LABEL: func.func @conv2d
// CHECK: npu.conv2d(%{{.*}}, %{{.*}}, bias %{{.*}}) {activation = #npu.act<clip, 0.000000e+00, inf>
func.func @conv2d(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = npu.conv2d(%x, %w, bias %b) {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, activation = #npu.act<clip, 0.0, inf>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: func.func @quantized
// CHECK: npu.depthwise_conv2d
func.func @quantized(%x: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:3>>, %w: tensor<3x3x2x!quant.uniform<i8<-127:127>:f32:2, {0.1, 0.2}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32, 0.25>> {
  %0 = npu.depthwise_conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x3x2x!quant.uniform<i8<-127:127>:f32:2, {0.1, 0.2}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32, 0.25>>
  return %0 : tensor<1x6x6x2x!quant.uniform<i8:f32, 0.25>>
}

// CHECK-LABEL: func.func @elementwise
// CHECK: npu.add
// CHECK: npu.clip
// CHECK: npu.softmax
func.func @elementwise(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = npu.add %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = npu.clip %0 {min = 0.0 : f32, max = 6.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = npu.softmax %1 {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
