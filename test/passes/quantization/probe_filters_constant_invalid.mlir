// RUN: npu-opt %s -verify-diagnostics --npu-probe-filters

func.func @variable(%x: tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>>, %w: tensor<2x2x!quant.uniform<i8<-127:127>:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:0>> {
  // expected-error @below {{cannot be probed: its input, filter and bias have to have one scale, and filter and bias to be constants}}
  %y = npu.fully_connected(%x, %w) : (tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>>, tensor<2x2x!quant.uniform<i8<-127:127>:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:0>>
  return %y : tensor<1x2x!quant.uniform<i8:f32, 0.5:0>>
}
