// RUN: npu-opt --npu-equalize=max-factor=0.5 -verify-diagnostics %s

// expected-error @+1 {{npu-equalize: max-factor 5.000000e-01 is below 1; give 1 (nothing changes) or more}}
func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
