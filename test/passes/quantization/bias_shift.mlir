// RUN: npu-opt %s --npu-quantize=float-tail=false | FileCheck %s

// 0.5 more in the first channel and 1 less in the second, in steps of
// s_input * s_filter = 0.01 * 0.01 and 0.01 * 0.02; without a bias it makes one.

// CHECK-LABEL: func.func @shifted
// CHECK: npu.constant dense<[15000, 0]> : tensor<2xi32>
// CHECK: npu.constant dense<[-5000, 0]> : tensor<2xi32>
// CHECK-NOT: npu.bias_shift
func.func @shifted(%x: tensor<1x2xf32> {npu.range = array<f64: 0.0, 2.55>}) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %w = npu.constant dense<[[1.27, 0.0], [0.0, 2.54]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %b = npu.constant dense<1.0> : tensor<2xf32> -> tensor<2xf32>
  %y = npu.fully_connected(%x, %w, bias %b) {npu.range = array<f64: -3.0, 3.0>, npu.bias_shift = array<f64: 0.5, -1.0>} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %z = npu.fully_connected(%x, %w) {npu.range = array<f64: -3.0, 3.0>, npu.bias_shift = array<f64: -0.5, 0.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y, %z : tensor<1x2xf32>, tensor<1x2xf32>
}
