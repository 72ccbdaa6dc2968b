// RUN: npu-opt %s -split-input-file --npu-legalize -verify-diagnostics

func.func @pool(%x: tensor<1x8x8x1xf32>) -> tensor<1x10x7x1xf32> {
  // expected-error @+1 {{pads as wide as the kernel make averages of nothing}}
  %0 = npu.avg_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 2, 0, 1, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>) -> tensor<1x10x7x1xf32>
  return %0 : tensor<1x10x7x1xf32>
}

// -----

func.func @filter(%x: tensor<1x4x4x2xf32>, %w: tensor<3x1x1x2xf32>) -> tensor<1x7x7x3xf32> {
  // expected-error @+1 {{some outputs meet no tap, and a filter that is no constant has no zeros for them}}
  %0 = npu.transpose_conv2d(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>) -> tensor<1x7x7x3xf32>
  return %0 : tensor<1x7x7x3xf32>
}
