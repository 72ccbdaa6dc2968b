// RUN: npu-opt --split-input-file --npu-equalize %s | FileCheck %s
// RUN: npu-opt --split-input-file --npu-equalize=max-factor=2 %s | FileCheck %s --check-prefix=TWO

// Channel 1 fills an eighth of the range; a depthwise filter takes a factor of
// 0.8 * 8. All that is known of the tensors follows.
// CHECK-LABEL: func @depthwise
// CHECK-DAG: %[[W:.*]] = npu.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [1.920000e+01, 2.560000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: %[[B:.*]] = npu.constant dense<[1.000000e+00, 6.400000e+00]> : tensor<2xf32>
// CHECK: npu.fully_connected(%{{.*}}, %[[W]], bias %[[B]])
// CHECK: npu.relu {{.*}}npu.channel_range = array<f64: 0.000000e+00, 8.000000e+00, 0.000000e+00, 6.400000e+00>, npu.mean = array<f64: 1.000000e+00, 3.200000e+00>, npu.range = array<f64: 0.000000e+00, 8.000000e+00>
// CHECK: %[[D:.*]] = npu.constant dense<{{.*}}1.000000e+00, 1.562500e-01{{.*}}> : tensor<1x1x2xf32>
// CHECK: npu.depthwise_conv2d(%{{.*}}, %[[D]])
// TWO-LABEL: func @depthwise
// TWO-DAG: npu.constant dense<{{.*}}1.000000e+00, 5.000000e-01{{.*}}> : tensor<1x1x2xf32>
func.func @depthwise(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %w = npu.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %b = npu.constant dense<1.0> : tensor<2xf32> -> tensor<2xf32>
  %d = npu.constant dense<1.0> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %0 = npu.fully_connected(%x, %w, bias %b) {npu.range = array<f64: -4.0, 8.0>, npu.channel_range = array<f64: -4.0, 8.0, 0.0, 1.0>} : (tensor<1x1x1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x1x1x2xf32>
  %1 = npu.relu %0 {npu.range = array<f64: 0.0, 8.0>, npu.mean = array<f64: 1.0, 0.5>, npu.channel_range = array<f64: 0.0, 8.0, 0.0, 1.0>} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %2 = npu.depthwise_conv2d(%1, %d) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %2 : tensor<1x1x1x2xf32>
}

// -----

// A clip at 2 would cut a channel that reaches 1 at any factor above 2, and
// the channel that it cuts already has none.
// CHECK-LABEL: func @clip
// CHECK: npu.clip
// CHECK: npu.constant dense<{{.*}}1.000000e+00, 5.000000e-01{{.*}}> : tensor<1x1x2xf32>
func.func @clip(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %w = npu.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %d = npu.constant dense<1.0> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -4.0, 8.0>, npu.channel_range = array<f64: -4.0, 8.0, 0.0, 1.0>} : (tensor<1x1x1x2xf32>, tensor<2x2xf32>) -> tensor<1x1x1x2xf32>
  %1 = npu.clip %0 {min = 0.0 : f32, max = 2.0 : f32, npu.range = array<f64: 0.0, 8.0>, npu.channel_range = array<f64: 0.0, 2.0, 0.0, 1.0>} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %2 = npu.depthwise_conv2d(%1, %d) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %2 : tensor<1x1x1x2xf32>
}

// -----

// A swish in between, a result of the function, an unknown range: as it was.
// CHECK-LABEL: func @not
// CHECK-COUNT-2: npu.constant
// CHECK-NOT: npu.constant
// CHECK: return
func.func @not(%x: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) {
  %w = npu.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %d = npu.constant dense<1.0> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -4.0, 8.0>, npu.channel_range = array<f64: -4.0, 8.0, 0.0, 1.0>} : (tensor<1x1x1x2xf32>, tensor<2x2xf32>) -> tensor<1x1x1x2xf32>
  %1 = npu.swish %0 {npu.range = array<f64: 0.0, 8.0>, npu.channel_range = array<f64: 0.0, 8.0, 0.0, 1.0>} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %2 = npu.depthwise_conv2d(%1, %d) {npu.range = array<f64: 0.0, 8.0>, npu.channel_range = array<f64: 0.0, 8.0, 0.0, 1.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %3 = npu.depthwise_conv2d(%2, %d) {npu.range = array<f64: 0.0, 8.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = npu.depthwise_conv2d(%3, %d) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %2, %4, %1 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>
}
