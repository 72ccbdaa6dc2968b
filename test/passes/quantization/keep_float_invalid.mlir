// RUN: not npu-opt %s --npu-quantize="keep-float=conv_3" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not npu-opt %s --npu-quantize="keep-float=/head.*box/" 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not npu-opt %s --npu-quantize="keep-float=/(/" 2>&1 | FileCheck %s --check-prefix=BAD

// NONE: error: keep-float: no node matches 'conv_3'; similar names: 'conv_1', 'conv_2'
// REGEX: error: keep-float: no node matches '/head.*box/'; similar names: 
// BAD: error: keep-float: '/(/' is no regular expression: parentheses not balanced
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = npu.abs %x : (tensor<4xf32>) -> tensor<4xf32> loc("conv_1")
  %b = npu.exp %a : (tensor<4xf32>) -> tensor<4xf32> loc("conv_2")
  %c = npu.exp %b : (tensor<4xf32>) -> tensor<4xf32> loc("a quite different one")
  return %c : tensor<4xf32>
}
