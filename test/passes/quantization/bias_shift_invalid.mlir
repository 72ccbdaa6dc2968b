// RUN: npu-opt %s -split-input-file -verify-diagnostics --npu-quantize

func.func @count(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2xf32> {
  // expected-error @below {{npu.bias_shift has to be array<f64> of 2 output channels}}
  %y = npu.fully_connected(%x, %w) {npu.bias_shift = array<f64: 0.5>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// -----

func.func @type(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2xf32> {
  // expected-error @below {{npu.bias_shift has to be array<f64> of 2 output channels}}
  %y = npu.fully_connected(%x, %w) {npu.bias_shift = 0.5 : f64} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// -----

func.func @op(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // expected-error @below {{npu.bias_shift is for operators with a filter; remove it}}
  %y = npu.relu %x {npu.bias_shift = array<f64: 0.5, 0.0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
