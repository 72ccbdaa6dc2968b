// RUN: npu-opt --split-input-file --npu-quantize %s | FileCheck %s
// RUN: npu-opt --split-input-file --npu-quantize=wide-pre-activations=false %s | FileCheck %s --check-prefix=NARROW

// A function that alone reads a filter's sums becomes part of it and looks up
// 10 bits: [-3, 7] in steps of 10/1023, -3 at -512.
// CHECK-LABEL: func @function
// CHECK: npu.fully_connected{{.*}} {activation = #npu.act<hard_swish,{{.*}}pre_activation_type = !quant.uniform<i16<-512:511>:f32, 0.0097{{[0-9]*}}:-20{{[0-9]}}>} {{.*}} -> tensor<1x2x!quant.uniform<i8:
// CHECK-NOT: npu.hard_swish
// NARROW-LABEL: func @function
// NARROW: npu.hard_swish
func.func @function(%x: tensor<1x2xf32> {npu.range = array<f64: -1.0, 1.0>}) -> tensor<1x2xf32> {
  %w = npu.constant dense<[[1.0, 0.5], [0.25, -1.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -13.0, 7.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = npu.hard_swish %0 {npu.range = array<f64: -0.375, 7.0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = npu.fully_connected(%1, %w) {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// A clip needs no table; sums that something else reads as well stay i8.
// CHECK-LABEL: func @others
// CHECK-NOT: pre_activation_type
// CHECK: npu.relu
// CHECK-NOT: pre_activation_type
// CHECK: npu.sigmoid
// CHECK-NOT: pre_activation_type
// CHECK: return
func.func @others(%x: tensor<1x2xf32> {npu.range = array<f64: -1.0, 1.0>}) -> tensor<1x2xf32> {
  %w = npu.constant dense<[[1.0, 0.5], [0.25, -1.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = npu.relu %0 {npu.range = array<f64: 0.0, 2.0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = npu.fully_connected(%1, %w) {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = npu.sigmoid %2 {npu.range = array<f64: 0.0, 1.0>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %4 = npu.mul %2, %3 {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %5 = npu.fully_connected(%4, %w) {npu.range = array<f64: -2.0, 2.0>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %5 : tensor<1x2xf32>
}
