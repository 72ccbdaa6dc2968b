// RUN: npu-opt %s -split-input-file --npu-tile -verify-diagnostics

module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x2000xf32>) -> tensor<1x2000xf32> {
  // expected-error @+1 {{the smallest tile needs 16000 bytes of SRAM, but 3686 of target 'tiny' are free for it}}
  %0 = npu.softmax %x {axis = 1 : i64} : (tensor<1x2000xf32>) -> tensor<1x2000xf32>
  return %0 : tensor<1x2000xf32>
}
}
