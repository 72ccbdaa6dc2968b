// RUN: npu-opt %s -split-input-file -verify-diagnostics --npu-probe-filters=level=3

// expected-error @below {{has no operator with a filter of level 3}}
func.func @shallow(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2xf32> {
  %y = npu.fully_connected(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
