// RUN: npu-opt %s --npu-quantize="keep-float=b,/^c[0-9]$/" | FileCheck %s
// RUN: npu-opt %s --npu-quantize="keep-float=b,/^c[0-9]$/" --remarks-filter=npu-quantize 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = npu.abs {{.*}} -> tensor<4x!quant.uniform
// CHECK: %[[D:.*]] = npu.dequantize %[[A]]
// CHECK: %[[B:.*]] = npu.exp %[[D]] {{.*}}-> tensor<4xf32>
// CHECK: %[[C:.*]] = npu.exp %[[B]] {{.*}}-> tensor<4xf32>
// CHECK: %[[Q:.*]] = npu.quantize %[[C]]
// CHECK: npu.reciprocal
// REMARK-DAG: [Missed] float | Category:npu-quantize | Remark="node 'a+b' (npu.exp) stays in f32: keep-float names it"
// REMARK-DAG: [Missed] float | Category:npu-quantize | Remark="node 'c1' (npu.exp) stays in f32: keep-float names it"
// REMARK-DAG: Remark="node 'pole' (npu.reciprocal) stays in f32: its argument comes so close to zero that 8 bits cannot express the result"
// REMARK-DAG: Remark="node 'pow' (npu.pow) stays in f32: there is no INT8 command for it"
// REMARK-DAG: Remark="node 'conv' (npu.conv2d) stays in f32: the range of its result is not known; calibrate it"
// REMARK-DAG: [Passed] summary | Category:npu-quantize | Remark="2 operators in INT8, 5 stay in f32"
func.func @main(%x: tensor<4xf32> {npu.range = array<f64: -1.0, 1.0>}, %i: tensor<1x1x1x1xf32> {npu.range = array<f64: -1.0, 1.0>}) -> (tensor<4xf32>, tensor<1x1x1x1xf32>) {
  %a = npu.abs %x : (tensor<4xf32>) -> tensor<4xf32> loc("c12")
  %b = npu.exp %a : (tensor<4xf32>) -> tensor<4xf32> loc(fused["a", "b"])
  %c = npu.exp %b : (tensor<4xf32>) -> tensor<4xf32> loc("c1")
  %r = npu.reciprocal %c {npu.range = array<f64: 0.0, 0.3>} : (tensor<4xf32>) -> tensor<4xf32> loc("fine")
  %p = npu.reciprocal %r {npu.range = array<f64: 0.0, 1000.0>} : (tensor<4xf32>) -> tensor<4xf32> loc("pole")
  %q = npu.pow %p, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("pow")
  %w = npu.constant dense<1.0> : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
  %v = npu.conv2d(%i, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> loc("conv")
  return %q, %v : tensor<4xf32>, tensor<1x1x1x1xf32>
}
