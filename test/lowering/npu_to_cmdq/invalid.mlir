// RUN: npu-opt %s -split-input-file --npu-set-target=target=host --npu-to-cmdq -verify-diagnostics

!q = !quant.uniform<i8:f32, 0.5>

func.func @main(%x: tensor<4x!q>) -> tensor<4x!q> {
  // expected-error @+1 {{a fused activation other than clip needs pre_activation_type}}
  %0 = npu.add %x, %x {activation = #npu.act<tanh, 0.0, 0.0>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// -----

func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x6xf32> {
  %w = npu.constant dense<1.0> : tensor<1x1x6xf32> -> tensor<1x1x6xf32>
  // expected-error @+1 {{a channel multiplier of 2 has no command}}
  %0 = npu.depthwise_conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<1x1x6xf32>) -> tensor<1x4x4x6xf32>
  return %0 : tensor<1x4x4x6xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x3xf32>, %b: tensor<2xf32>) -> tensor<1x4x4x2xf32> {
  %w = npu.constant dense<1.0> : tensor<2x1x1x3xf32> -> tensor<2x1x1x3xf32>
  // expected-error @+1 {{the bias must be a constant}}
  %0 = npu.conv2d(%x, %w, bias %b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{functions go from f32 to f32 or between quantised types}}
  %0 = npu.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// expected-error @+1 {{input 'input0' has type 'tensor<2x1x2x1x2x1x2xf32>'}}
func.func @main(%x: tensor<2x1x2x1x2x1x2xf32>, %y: tensor<2x2x2x2x2x2x2xf32>) -> tensor<128xf32> {
  %0 = npu.add %x, %y : (tensor<2x1x2x1x2x1x2xf32>, tensor<2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2xf32>
  %1 = npu.reshape %0 {shape = array<i64: 128>} : (tensor<2x2x2x2x2x2x2xf32>) -> tensor<128xf32>
  return %1 : tensor<128xf32>
}

// -----

func.func @main(%x: tensor<16xf32>, %y: tensor<128xf32>) -> tensor<128xf32> {
  %a = npu.reshape %x {shape = array<i64: 2, 1, 2, 1, 2, 1, 2>} : (tensor<16xf32>) -> tensor<2x1x2x1x2x1x2xf32>
  %b = npu.reshape %y {shape = array<i64: 2, 2, 2, 2, 2, 2, 2>} : (tensor<128xf32>) -> tensor<2x2x2x2x2x2x2xf32>
  // expected-error @+1 {{(npu.add): an operand has 7 dimensions and commands have 6}}
  %0 = npu.add %a, %b : (tensor<2x1x2x1x2x1x2xf32>, tensor<2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2xf32> 
  %1 = npu.reshape %0 {shape = array<i64: 128>} : (tensor<2x2x2x2x2x2x2xf32>) -> tensor<128xf32>
  return %1 : tensor<128xf32>
}

// -----

!q = !quant.uniform<i8:f32, 0.5>
!r = !quant.uniform<i8:f32, 0.25>

func.func @main(%x: tensor<1x4x4x3x!q>) -> tensor<1x2x2x3x!r> {
  // expected-error @+1 {{a quantised maximum keeps scale and zero point}}
  %0 = npu.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x3x!q>) -> tensor<1x2x2x3x!r>
  return %0 : tensor<1x2x2x3x!r>
}

// -----

func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x9x9x2xf32> {
  %w = npu.constant dense<1.0> : tensor<2x3x3x3xf32> -> tensor<2x3x3x3xf32>
  // expected-error @+1 {{has no lowering to commands}}
  %0 = npu.transpose_conv2d(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>} : (tensor<1x4x4x3xf32>, tensor<2x3x3x3xf32>) -> tensor<1x9x9x2xf32>
  return %0 : tensor<1x9x9x2xf32>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:0>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>
func.func @main(%x: tensor<1x4x4x3x!q>) -> tensor<1x4x4x3x!q> {
  %w = npu.constant dense<2> : tensor<3x1x1x3xi8> -> tensor<3x1x1x3x!w>
  // expected-error @+1 {{a table is for at most 10 bits, -512 to 511}}
  %c = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, activation = #npu.act<sigmoid, 0.0, 0.0>, pre_activation_type = !quant.uniform<i16<-512:512>:f32, 0.25:0>} : (tensor<1x4x4x3x!q>, tensor<3x1x1x3x!w>) -> tensor<1x4x4x3x!q>
  return %c : tensor<1x4x4x3x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:0>
func.func @main(%x: tensor<1x4x!q>) -> tensor<1x4x!q> {
  // expected-error @+1 {{a vector command looks up i8}}
  %0 = npu.add %x, %x {activation = #npu.act<sigmoid, 0.0, 0.0>, pre_activation_type = !quant.uniform<i16<-512:511>:f32, 0.25:0>} : (tensor<1x4x!q>, tensor<1x4x!q>) -> tensor<1x4x!q>
  return %0 : tensor<1x4x!q>
}
