// RUN: npu-opt %s -split-input-file --npu-fold-affine | FileCheck %s

// Batch normalisation goes into the weights and makes a bias.

// CHECK-LABEL: func.func @batch_norm
// CHECK-DAG: %[[W:.*]] = npu.constant {{.*}}-1.000000e+00{{.*}}4.000000e+00{{.*}} tensor<2x1x1x2xf32>
// CHECK-DAG: %[[B:.*]] = npu.constant dense<[5.000000e-01, -1.000000e+00]>
// CHECK: %[[C:.*]] = npu.conv2d(%arg0, %[[W]], bias %[[B]]) {{.*}}npu.tensor = "y"
// CHECK-NEXT: return %[[C]]
func.func @batch_norm(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %w = npu.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32> -> tensor<2x1x1x2xf32>
  %s = npu.constant dense<[[[[-1.0, 1.0]]]]> : tensor<1x1x1x2xf32> -> tensor<1x1x1x2xf32>
  %o = npu.constant dense<[[[[0.5, -1.0]]]]> : tensor<1x1x1x2xf32> -> tensor<1x1x1x2xf32>
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, npu.tensor = "c"} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = npu.mul %0, %s : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = npu.add %1, %o {npu.tensor = "y"} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}

// -----

// Depthwise with multiplier 2, a bias, a reshape in between, offset - x.

// CHECK-LABEL: func.func @depthwise
// CHECK-DAG: npu.constant dense<{{\[\[\[}}-1.000000e+00, -2.000000e+00]]]>
// CHECK-DAG: npu.constant dense<[9.000000e+00, 8.000000e+00]>
// CHECK: npu.depthwise_conv2d
// CHECK-NEXT: %[[R:.*]] = npu.reshape {{.*}}npu.tensor = "y"
// CHECK-NEXT: return %[[R]]
func.func @depthwise(%x: tensor<1x1x4x1xf32>) -> tensor<1x4x2xf32> {
  %w = npu.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %b = npu.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %ten = npu.constant dense<10.0> : tensor<f32> -> tensor<f32>
  %0 = npu.depthwise_conv2d(%x, %w, bias %b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x1xf32>, tensor<1x1x2xf32>, tensor<2xf32>) -> tensor<1x1x4x2xf32>
  %1 = npu.reshape %0 {shape = array<i64: 1, 4, 2>} : (tensor<1x1x4x2xf32>) -> tensor<1x4x2xf32>
  %2 = npu.sub %ten, %1 {npu.tensor = "y"} : (tensor<f32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  return %2 : tensor<1x4x2xf32>
}

// -----

// Without a producer: into the convolution that follows, group by group.

// CHECK-LABEL: func.func @forward
// CHECK-DAG: dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]>
// CHECK-DAG: dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NOT: npu.mul
// CHECK: npu.conv2d(%arg0
func.func @forward(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %w = npu.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32> -> tensor<2x1x1x1xf32>
  %s = npu.constant dense<[2.0, 3.0]> : tensor<2xf32> -> tensor<2xf32>
  %o = npu.constant dense<1.0> : tensor<1xf32> -> tensor<1xf32>
  %0 = npu.mul %x, %s : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %1 = npu.add %0, %o : (tensor<1x4x4x2xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %2 = npu.conv2d(%1, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x4x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}

// -----

// A padded convolution sees zeros that have no offset; what can be merged is.

// CHECK-LABEL: func.func @padded
// CHECK: npu.mul
// CHECK-NEXT: npu.constant
// CHECK-NEXT: npu.add
// CHECK-NEXT: npu.conv2d
func.func @padded(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %w = npu.constant dense<1.0> : tensor<1x3x3x1xf32> -> tensor<1x3x3x1xf32>
  %a = npu.constant dense<127.0> : tensor<f32> -> tensor<f32>
  %b = npu.constant dense<128.0> : tensor<f32> -> tensor<f32>
  %c = npu.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %0 = npu.sub %x, %a : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x4x4x1xf32>
  %1 = npu.div %0, %b : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x4x4x1xf32>
  %2 = npu.mul %1, %c : (tensor<1x4x4x1xf32>, tensor<f32>) -> tensor<1x4x4x1xf32>
  %3 = npu.conv2d(%2, %w) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// A second use, a constant that varies along H, an activation: nothing to fold.

// CHECK-LABEL: func.func @negative
// CHECK: npu.fully_connected
// CHECK: npu.mul
// CHECK: npu.add
func.func @negative(%x: tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = npu.constant dense<1.0> : tensor<2x4xf32> -> tensor<2x4xf32>
  %rows = npu.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32> -> tensor<3x1xf32>
  %s = npu.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %0 = npu.fully_connected(%x, %w) : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  %1 = npu.mul %0, %s : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %2 = npu.add %0, %rows : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @pads
// CHECK-NOT: npu.pad
// CHECK: npu.conv2d({{.*}}pads = array<i64: 0, 1, 1, 1>
// CHECK: npu.max_pool2d %[[R:.*]] {{.*}}pads = array<i64: 0, 0, 1, 1>
// CHECK: npu.avg_pool2d {{.*}}count_include_pad = true{{.*}}pads = array<i64: 0, 0, 1, 1>
func.func @pads(%x: tensor<1x4x4x1xf32>) -> (tensor<1x3x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) {
  %w = npu.constant dense<1.0> : tensor<1x3x3x1xf32> -> tensor<1x3x3x1xf32>
  %p = npu.pad %x {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 1, 1, 0>, mode = #npu<pad_mode constant>} : (tensor<1x4x4x1xf32>) -> tensor<1x5x5x1xf32>
  %0 = npu.conv2d(%p, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x5x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x4x1xf32>
  %r = npu.relu %x : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %q = npu.pad %r {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 1, 1, 0>, mode = #npu<pad_mode constant>} : (tensor<1x4x4x1xf32>) -> tensor<1x5x5x1xf32>
  %1 = npu.max_pool2d %q {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x5x1xf32>) -> tensor<1x2x2x1xf32>
  %2 = npu.avg_pool2d %q {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x5x1xf32>) -> tensor<1x2x2x1xf32>
  return %0, %1, %2 : tensor<1x3x4x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>
}

// -----

// Pads of another value, wider than the kernel, before a maximum of anything.

// CHECK-LABEL: func.func @pads_negative
// CHECK-COUNT-3: npu.pad
func.func @pads_negative(%x: tensor<1x4x4x1xf32>) -> (tensor<1x3x3x1xf32>, tensor<1x8x8x1xf32>, tensor<1x2x2x1xf32>) {
  %w = npu.constant dense<1.0> : tensor<1x3x3x1xf32> -> tensor<1x3x3x1xf32>
  %p = npu.pad %x {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 1, 1, 0>, mode = #npu<pad_mode constant>, value = 1.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x5x5x1xf32>
  %0 = npu.conv2d(%p, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x5x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  %q = npu.pad %x {low = array<i64: 0, 3, 3, 0>, high = array<i64: 0, 3, 3, 0>, mode = #npu<pad_mode constant>} : (tensor<1x4x4x1xf32>) -> tensor<1x10x10x1xf32>
  %1 = npu.conv2d(%q, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x10x10x1xf32>, tensor<1x3x3x1xf32>) -> tensor<1x8x8x1xf32>
  %r = npu.pad %x {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 1, 1, 0>, mode = #npu<pad_mode constant>} : (tensor<1x4x4x1xf32>) -> tensor<1x5x5x1xf32>
  %2 = npu.max_pool2d %r {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x5x5x1xf32>) -> tensor<1x2x2x1xf32>
  return %0, %1, %2 : tensor<1x3x3x1xf32>, tensor<1x8x8x1xf32>, tensor<1x2x2x1xf32>
}
