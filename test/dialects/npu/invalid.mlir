// RUN: npu-opt %s -split-input-file -verify-diagnostics

func.func @channels(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x2xf32>) -> tensor<1x6x6x4xf32> {
  // expected-error @+1 {{filter must be [OC,KH,KW,IC/groups] with 3 input channels and 1 groups}}
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x2xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}

// -----

func.func @result(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x8x8x4xf32> {
  // expected-error @+1 {{but its shape must be 'tensor<1x6x6x4xf32>'}}
  %0 = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}

// -----

func.func @broadcast(%a: tensor<2x4xf32>, %b: tensor<3xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{operands do not broadcast}}
  %0 = npu.add %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @logic_types(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{does not take 'f32' and 'f32' to give 'f32'}}
  %0 = npu.and %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @compare_result(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{does not take 'f32' and 'f32' to give 'f32'}}
  %0 = npu.less %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @compare_shape(%a: tensor<2xf32>) -> tensor<3xi1> {
  // expected-error @+1 {{but the operands' common shape is [2]}}
  %0 = npu.less %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// -----

func.func @condition(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the condition must be i1}}
  %0 = npu.select %a, %a, %a : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
