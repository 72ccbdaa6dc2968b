// RUN: npu-opt %s -split-input-file --npu-legalize | FileCheck %s

// One 1x1 convolution for each of the four phases, interleaved, named.

// CHECK-LABEL: func.func @transpose_conv
// CHECK-NOT: npu.transpose_conv2d
// CHECK-COUNT-4: npu.conv2d({{.*}}tensor<3x1x1x2xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
// CHECK: npu.concat {{.*}} {axis = 2 : i64} : {{.*}} -> tensor<1x4x2x4x2x3xf32>
// CHECK-NEXT: npu.reshape {{.*}}npu.tensor = "y"{{.*}} -> tensor<1x8x8x3xf32>
func.func @transpose_conv(%x: tensor<1x4x4x2xf32>) -> tensor<1x8x8x3xf32> {
  %w = npu.constant dense<1.0> : tensor<3x2x2x2xf32> -> tensor<3x2x2x2xf32>
  %b = npu.constant dense<1.0> : tensor<3xf32> -> tensor<3xf32>
  %0 = npu.transpose_conv2d(%x, %w, bias %b) {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, npu.tensor = "y"} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x8x8x3xf32>
  return %0 : tensor<1x8x8x3xf32>
}

// -----

// CHECK-LABEL: func.func @pads
// CHECK: %[[P:.*]] = npu.pad %arg0 {high = array<i64: 0, 0, 1, 0>, low = array<i64: 0, 1, 0, 0>
// CHECK: npu.conv2d(%[[P]], %{{.*}}) {{.*}}pads = array<i64: 2, 2, 2, 2>
// CHECK: npu.pad %arg0 {{.*}}value = 0xFF800000 : f32
// CHECK: npu.max_pool2d {{.*}}pads = array<i64: 1, 0, 0, 0>
// CHECK: %[[S:.*]] = npu.slice %arg0 {sizes = array<i64: 1, 7, 8, 1>, starts = array<i64: 0, 1, 0, 0>
// CHECK: npu.pad %[[S]] {high = array<i64: 0, 2, 0, 0>, low = array<i64: 0, 0, 0, 0>
func.func @pads(%x: tensor<1x8x8x1xf32>) -> (tensor<1x11x11x1xf32>, tensor<1x9x7x1xf32>, tensor<1x9x8x1xf32>) {
  %w = npu.constant dense<1.0> : tensor<1x3x3x1xf32> -> tensor<1x3x3x1xf32>
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 3, 2, 2, 3>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x11x11x1xf32>
  %1 = npu.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 2, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>) -> tensor<1x9x7x1xf32>
  %2 = npu.pad %x {low = array<i64: 0, -1, 0, 0>, high = array<i64: 0, 2, 0, 0>, mode = #npu<pad_mode constant>} : (tensor<1x8x8x1xf32>) -> tensor<1x9x8x1xf32>
  return %0, %1, %2 : tensor<1x11x11x1xf32>, tensor<1x9x7x1xf32>, tensor<1x9x8x1xf32>
}

// -----

!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-128>

// CHECK-LABEL: func.func @types
// CHECK: npu.dequantize
// CHECK: %[[P:.*]] = npu.pow {{.*}} -> tensor<2x4xf32>
// CHECK: npu.quantize %[[P]]
// CHECK: %[[M:.*]] = npu.reduce_max {{.*}} -> tensor<2x1x[[A:.*]]>
// CHECK: npu.quantize %[[M]] : (tensor<2x1x[[A]]>)
// CHECK: npu.cast %arg1 : (tensor<4xf16>) -> tensor<4xf32>
// CHECK: %[[T:.*]] = npu.add {{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: npu.cast %[[T]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: npu.slice %arg0 {sizes = array<i64: 1, 4>, starts = array<i64: 0, 0>
// CHECK: npu.slice %arg0 {sizes = array<i64: 1, 4>, starts = array<i64: 1, 0>
func.func @types(%x: tensor<2x4x!a>, %h: tensor<4xf16>) -> (tensor<2x4x!b>, tensor<2x1x!b>, tensor<4xf16>, tensor<1x4x!a>, tensor<1x4x!a>) {
  %two = npu.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %half = npu.constant dense<0.5> : tensor<4xf16> -> tensor<4xf16>
  %0 = npu.pow %x, %two : (tensor<2x4x!a>, tensor<f32>) -> tensor<2x4x!b>
  %1 = npu.reduce_max %x {axes = array<i64: 1>} : (tensor<2x4x!a>) -> tensor<2x1x!b>
  %2 = npu.add %h, %half : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %3:2 = npu.split %x {axis = 0 : i64, sizes = array<i64: 1, 1>} : (tensor<2x4x!a>) -> (tensor<1x4x!a>, tensor<1x4x!a>)
  return %0, %1, %2, %3#0, %3#1 : tensor<2x4x!b>, tensor<2x1x!b>, tensor<4xf16>, tensor<1x4x!a>, tensor<1x4x!a>
}

// -----

!a = !quant.uniform<i8:f32, 0.5:3>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// CHECK-LABEL: func.func @rank_and_bias
// CHECK: npu.softmax {{.*}} {axis = 1 : i64} : (tensor<4x3x8xf32>)
// CHECK: npu.reduce_mean {{.*}} {axes = array<i64: 1, 3>} : (tensor<2x6x4x2xf32>)
// CHECK: %[[F:.*]] = npu.fully_connected(%{{[^)]*}}) {{.*}} -> tensor<1x2xi32>
// CHECK: %[[S:.*]] = npu.add %[[F]], %arg2
// CHECK: npu.rescale(%[[S]]) {activation = #npu.act<clip{{.*}}scales = array<f32: 2.500000e-01>
func.func @rank_and_bias(%x: tensor<2x2x3x2x1x2x2xf32>, %y: tensor<1x4x!a>, %b: tensor<2xi32>) -> (tensor<2x2x3x2x1x2x2xf32>, tensor<2x2x1x2xf32>, tensor<1x2x!a>) {
  %w = npu.constant dense<1> : tensor<2x4xi8> -> tensor<2x4x!w>
  %0 = npu.softmax %x {axis = 2 : i64} : (tensor<2x2x3x2x1x2x2xf32>) -> tensor<2x2x3x2x1x2x2xf32>
  %1 = npu.reduce_mean %x {axes = array<i64: 1, 2, 6>, keepdims = false} : (tensor<2x2x3x2x1x2x2xf32>) -> tensor<2x2x1x2xf32>
  %2 = npu.fully_connected(%y, %w, bias %b) {activation = #npu.act<clip, 0.0, 6.0>} : (tensor<1x4x!a>, tensor<2x4x!w>, tensor<2xi32>) -> tensor<1x2x!a>
  return %0, %1, %2 : tensor<2x2x3x2x1x2x2xf32>, tensor<2x2x1x2xf32>, tensor<1x2x!a>
}

// -----

// What commands can do stays.

// CHECK-LABEL: func.func @negative
// CHECK-NEXT: npu.softmax %arg0 {axis = 1 : i64}
// CHECK-NEXT: npu.max_pool2d %arg0 {{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK-NEXT: return
func.func @negative(%x: tensor<1x8x8x1xf32>) -> (tensor<1x8x8x1xf32>, tensor<1x9x9x1xf32>) {
  %0 = npu.softmax %x {axis = 1 : i64} : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
  %1 = npu.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>) -> tensor<1x9x9x1xf32>
  return %0, %1 : tensor<1x8x8x1xf32>, tensor<1x9x9x1xf32>
}
