// RUN: npu-opt %s -split-input-file --npu-quantize=float-tail=false | FileCheck %s

// A small network from end to end. The convolution takes the relu's grid; the
// second channel has no weights, and its scale holds the bias; what has no
// command stays float, and so does what has no range.

// CHECK-LABEL: func.func @network
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4x2xf32> {npu.name = "x"}) -> (tensor<1x2xf32> {npu.name = "y"})
// CHECK: %[[Q:.*]] = npu.quantize %[[X]] : {{.*}} -> tensor<1x4x4x2x!quant.uniform<i8:f32, 0.0099999997764825821:-28>>
// CHECK: %[[W:.*]] = npu.constant dense<{{\[\[\[\[}}50, 127]]], {{\[\[\[}}0, 0]]]]> : tensor<2x1x1x2xi8> -> tensor<2x1x1x2x!quant.uniform<i8<-127:127>:f32:0, {0.0099999997764825821,93.13226318359375}>>
// CHECK: %[[B:.*]] = npu.constant dense<[10000, 1073741782]> : tensor<2xi32>
// CHECK: %[[C:.*]] = npu.conv2d(%[[Q]], %[[W]], bias %[[B]]) {{.*}}npu.tensor = "c"{{.*}} -> tensor<1x4x4x2x!quant.uniform<i8:f32, 0.019999999552965164:-128>>
// CHECK: %[[R:.*]] = npu.relu %[[C]] {{.*}} -> tensor<1x4x4x2x!quant.uniform<i8:f32, 0.019999999552965164:-128>>
// CHECK: %[[D:.*]] = npu.dequantize %[[R]]
// CHECK: npu.pow %[[D]], %[[D]]
// CHECK: %[[M:.*]] = npu.reduce_mean {{.*}} -> tensor<1x1x1x2xf32>
// CHECK: %[[MQ:.*]] = npu.quantize %[[M]] : {{.*}} -> tensor<1x1x1x2x!quant.uniform<i8:f32, 0.20000000298023224:-128>>
// CHECK: %[[F:.*]] = npu.reshape %[[MQ]]
// CHECK: %[[S:.*]] = npu.softmax %[[F]] {{.*}} -> tensor<1x2x!quant.uniform<i8:f32, 3.906250e-03:-128>>
// CHECK: %[[Y:.*]] = npu.dequantize %[[S]]
// CHECK: return %[[Y]] : tensor<1x2xf32>
// CHECK-NOT: npu.range
func.func @network(%x: tensor<1x4x4x2xf32> {npu.name = "x", npu.range = array<f64: -1.0, 1.55>}) -> (tensor<1x2xf32> {npu.name = "y"}) {
  %w = npu.constant dense<[[[[0.5, 1.27]]], [[[-2.54, 0.0]]]]> : tensor<2x1x1x2xf32> -> tensor<2x1x1x2xf32>
  %b = npu.constant dense<[1.0, 1.0e9]> : tensor<2xf32> -> tensor<2xf32>
  %c = npu.conv2d(%x, %w, bias %b) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, npu.tensor = "c", npu.range = array<f64: -8.0, 8.0>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %r = npu.relu %c {npu.range = array<f64: 0.0, 5.1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %p = npu.pow %r, %r : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %m = npu.reduce_mean %p {axes = array<i64: 1, 2>, npu.range = array<f64: 0.0, 51.0>} : (tensor<1x4x4x2xf32>) -> tensor<1x1x1x2xf32>
  %f = npu.reshape %m {shape = array<i64: 1, 2>} : (tensor<1x1x1x2xf32>) -> tensor<1x2xf32>
  %s = npu.softmax %f {axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %s : tensor<1x2xf32>
}

// -----

// Depthwise filters are quantised along axis 2, fully connected ones along 0.

// CHECK-LABEL: func.func @filters
// CHECK: npu.constant dense<127> : tensor<1x1x2xi8> -> tensor<1x1x2x!quant.uniform<i8<-127:127>:f32:2, {0.0099999997764825821,0.019999999552965164}>>
// CHECK: npu.depthwise_conv2d
// CHECK: npu.constant dense<{{\[\[}}-127, 64]]> : tensor<1x2xi8> -> tensor<1x2x!quant.uniform<i8<-127:127>:f32:0, {0.0099999997764825821}>>
// CHECK: npu.fully_connected({{.*}}) : {{.*}} -> tensor<1x1x1x1x!quant.uniform<i8:f32
func.func @filters(%x: tensor<1x1x1x2xf32> {npu.range = array<f64: 0.0, 2.55>}) -> tensor<1x1x1x1xf32> {
  %w = npu.constant dense<[[[1.27, 2.54]]]> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %d = npu.depthwise_conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, npu.range = array<f64: -1.0, 1.0>} : (tensor<1x1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %v = npu.constant dense<[[-1.27, 0.64]]> : tensor<1x2xf32> -> tensor<1x2xf32>
  %y = npu.fully_connected(%d, %v) {npu.range = array<f64: -3.0, 3.0>} : (tensor<1x1x1x2xf32>, tensor<1x2xf32>) -> tensor<1x1x1x1xf32>
  return %y : tensor<1x1x1x1xf32>
}

// -----

// Ranges that do not hold zero are widened; a tensor of zeros has a grid too;
// a constant operand gets the grid of its own values.

// CHECK-LABEL: func.func @ranges
// CHECK: npu.quantize %{{.*}} -> tensor<2x!quant.uniform<i8:f32, 0.019999999552965164:-128>>
// CHECK: npu.quantize %{{.*}} -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00:-128>>
// CHECK: npu.add
// CHECK: npu.constant dense<[-128, 127]> : tensor<2xi8> -> tensor<2x!quant.uniform<i8:f32, 0.0099999997764825821:-28>>
// CHECK: npu.mul {{.*}} -> tensor<2x!quant.uniform<i8:f32, 0.0099999997764825821:127>>
func.func @ranges(%a: tensor<2xf32> {npu.range = array<f64: 3.0, 5.1>}, %z: tensor<2xf32> {npu.range = array<f64: 0.0, 0.0>}) -> tensor<2xf32> {
  %s = npu.add %a, %z : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %k = npu.constant dense<[-1.0, 1.55]> : tensor<2xf32> -> tensor<2xf32>
  %m = npu.mul %s, %k {npu.range = array<f64: -2.55, -1.0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %m : tensor<2xf32>
}

// -----

// Integers are none of its business, and what is quantised already stays.

!q = !quant.uniform<i8:f32, 0.5:1>
// CHECK-LABEL: func.func @untouched
// CHECK-NEXT: npu.add %{{.*}} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: npu.relu %{{.*}} -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:1>>
// CHECK-NEXT: npu.dequantize
// CHECK-NEXT: return
func.func @untouched(%a: tensor<2xi64>, %q: tensor<2x!q>) -> (tensor<2xi64>, tensor<2xf32>) {
  %s = npu.add %a, %a : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = npu.relu %q : (tensor<2x!q>) -> tensor<2x!q>
  %d = npu.dequantize %r : (tensor<2x!q>) -> tensor<2xf32>
  return %s, %d : tensor<2xi64>, tensor<2xf32>
}

// -----

// An index comes from the quantised tensor, whose order is the same.

// CHECK-LABEL: func.func @argmax
// CHECK: %[[R:.*]] = npu.exp
// CHECK: npu.arg_max %[[R]] {{.*}} : (tensor<1x4x!quant.uniform
func.func @argmax(%x: tensor<1x4xf32> {npu.range = array<f64: 0.0, 1.0>}) -> tensor<1x1xi64> {
  %e = npu.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %i = npu.arg_max %e {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x1xi64>
  return %i : tensor<1x1xi64>
}
