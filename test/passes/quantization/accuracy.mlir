// RUN: npu-opt --split-input-file --npu-quantize=wide-pre-activations=false %s | FileCheck %s
// RUN: npu-opt --split-input-file --npu-quantize=bias-correction=false %s | FileCheck %s --check-prefix=PLAIN

// What only outputs depend on stays in f32, the matrix work does not.
// CHECK-LABEL: func @tail
// CHECK: npu.fully_connected{{.*}} -> tensor<1x2x!quant.uniform
// CHECK: %[[F:.*]] = npu.dequantize
// CHECK: npu.softmax %[[F]] {axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
func.func @tail(%x: tensor<1x2xf32> {npu.range = array<f64: -1.0, 1.0>}) -> tensor<1x2xf32> {
  %w = npu.constant dense<[[1.0, 0.5], [0.25, -1.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = npu.softmax %0 {axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// hard_swish is 0 below -3: its argument's range ends there, [-3, 7] of
// [-13, 7], so the step is 10/255 and not 20/255.
// CHECK-LABEL: func @trim
// CHECK: npu.fully_connected{{.*}} -> tensor<1x2x!quant.uniform<i8:f32, 0.039{{[0-9]*}}:-5{{[0-9]}}>>
// CHECK: npu.hard_swish
func.func @trim(%x: tensor<1x2xf32> {npu.range = array<f64: -1.0, 1.0>}) -> tensor<1x2xf32> {
  %w = npu.constant dense<[[1.0, 0.5], [0.25, -1.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -13.0, 7.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = npu.hard_swish %0 {npu.range = array<f64: -0.375, 7.0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = npu.fully_connected(%1, %w) {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// Weights 127 and 0.4 at scale 1 round to 127 and 0: 0.4 * 50, the mean of the
// second channel, goes to the bias, 20 at scale 1.
// CHECK-LABEL: func @bias
// CHECK: npu.constant dense<20> : tensor<1xi32>
// PLAIN-LABEL: func @bias
// PLAIN-NOT: dense<20>
func.func @bias(%x: tensor<1x2xf32> {npu.range = array<f64: -128.0, 127.0>, npu.mean = array<f64: 1.0, 50.0>}) -> tensor<1x1xf32> {
  %w = npu.constant dense<[[127.0, 0.4]]> : tensor<1x2xf32> -> tensor<1x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -1000.0, 1000.0>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
