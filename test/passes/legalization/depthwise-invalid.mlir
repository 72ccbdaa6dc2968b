// RUN: npu-opt %s -split-input-file --npu-legalize-depthwise -verify-diagnostics

!a = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

module attributes {npu.target = #npu.target<"pc">} {
func.func @filter(%x: tensor<1x8x8x4x!a>, %w: tensor<3x3x4x!w>) -> tensor<1x6x6x4x!a> {
  // expected-error @+1 {{node '': target 'pc' cannot run this grouped convolution: native impossible (no depthwise kernel for the type); dense impossible (the filter is no constant)}}
  %0 = npu.depthwise_conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x4x!a>, tensor<3x3x4x!w>) -> tensor<1x6x6x4x!a>
  return %0 : tensor<1x6x6x4x!a>
}
}

// -----

// Not a grouped convolution: untouched, whatever is forced.

func.func @dense(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>) -> tensor<1x6x6x4xf32> {
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}
