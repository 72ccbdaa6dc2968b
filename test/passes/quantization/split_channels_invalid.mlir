// RUN: npu-opt --npu-split-channels=max-groups=0 -verify-diagnostics %s

// expected-error @+1 {{npu-split-channels: max-groups 0 and gain 5.000000e-01 have to be at least 1 and above 0}}
func.func @options(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
