// RUN: npu-opt %s -split-input-file --npu-probe-filters | FileCheck %s
// RUN: npu-opt %s -split-input-file --npu-probe-filters=level=1 | FileCheck %s --check-prefix=ONE

// The results of all filters in order; levels count along the longest path, so
// that %d, which %b and a shorter way lead to, has level 2.

// CHECK-LABEL: func.func @levels
// CHECK-SAME: -> (tensor<1x2x2x2xf32> {npu.name = "filter0"}, tensor<1x2x2x2xf32> {npu.name = "filter1"}, tensor<1x2x2x2xf32> {npu.name = "filter2"}, tensor<1x2x2x2xf32> {npu.name = "filter3"})
// CHECK: %[[A:.*]] = npu.conv2d(%arg0
// CHECK: %[[B:.*]] = npu.conv2d(
// CHECK: %[[C:.*]] = npu.conv2d(%arg0
// CHECK: %[[S:.*]] = npu.add %[[B]], %[[C]]
// CHECK: %[[D:.*]] = npu.conv2d(%[[S]]
// CHECK-NOT: npu.sigmoid
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]

// ONE-LABEL: func.func @levels
// ONE-SAME: -> (tensor<1x2x2x2xf32> {npu.name = "filter1"})
// ONE: npu.conv2d(
// ONE: npu.relu
// ONE: %[[B:.*]] = npu.conv2d(
// ONE-NEXT: return %[[B]]
func.func @levels(%x: tensor<1x2x2x2xf32> {npu.name = "x"}) -> (tensor<1x2x2x2xf32> {npu.name = "y"}) {
  %w = npu.constant dense<1.0> : tensor<2x1x1x2xf32> -> tensor<2x1x1x2xf32>
  %a = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %r = npu.relu %a : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %b = npu.conv2d(%r, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %c = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %s = npu.add %b, %c : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %d = npu.conv2d(%s, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %y = npu.sigmoid %d : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

// -----

// A quantised operator is returned unrounded: a copy of it in f32.

// CHECK-LABEL: func.func @quantised
// CHECK: %[[Q:.*]] = npu.quantize %arg0
// CHECK: npu.fully_connected(%[[Q]], {{.*}} -> tensor<1x2x!quant
// CHECK-DAG: %[[F:.*]] = npu.dequantize %[[Q]]
// CHECK-DAG: %[[W:.*]] = npu.constant dense<{{\[\[}}5.000000e-01, -1.000000e+00], [3.000000e+00, 0.000000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: %[[B:.*]] = npu.constant dense<[5.000000e-01, -2.000000e+00]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = npu.fully_connected(%[[F]], %[[W]], bias %[[B]]) {{.*}} -> tensor<1x2xf32>
// CHECK: %[[Z:.*]] = npu.fully_connected({{.*}} -> tensor<1x2xf32>
// CHECK: return %[[Y]], %[[Z]] : tensor<1x2xf32>, tensor<1x2xf32>
func.func @quantised(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %q = npu.quantize %x : (tensor<1x2xf32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>>
  %w = npu.constant dense<[[1, -2], [3, 0]]> : tensor<2x2xi8> -> tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, {0.5,1.0}>>
  %b = npu.constant dense<[4, -8]> : tensor<2xi32> -> tensor<2xi32>
  %f = npu.fully_connected(%q, %w, bias %b) : (tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>>, tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, {0.5,1.0}>>, tensor<2xi32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:-128>>
  %g = npu.fully_connected(%f, %w) : (tensor<1x2x!quant.uniform<i8:f32, 0.5:-128>>, tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, {0.5,1.0}>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5:0>>
  %y = npu.dequantize %g : (tensor<1x2x!quant.uniform<i8:f32, 0.5:0>>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
