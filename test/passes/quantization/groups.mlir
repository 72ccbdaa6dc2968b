// RUN: npu-opt %s -split-input-file --npu-quantize=float-tail=false | FileCheck %s

// Moves keep the scale, and a clip behind them sets it.

// CHECK-LABEL: func.func @moves
// CHECK: npu.abs {{.*}} -> tensor<1x2x2x4x!quant.uniform<i8:f32, 0.023529412224888802:-128>>
// CHECK: npu.max_pool2d {{.*}} -> tensor<1x1x1x4x!quant.uniform<i8:f32, 0.023529412224888802:-128>>
// CHECK: npu.reshape {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.023529412224888802:-128>>
// CHECK: npu.clip {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.023529412224888802:-128>>
func.func @moves(%x: tensor<1x2x2x4xf32> {npu.range = array<f64: -100.0, 100.0>}) -> tensor<4xf32> {
  %a = npu.abs %x {npu.range = array<f64: 0.0, 100.0>} : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %p = npu.max_pool2d %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, npu.range = array<f64: 1.0, 90.0>} : (tensor<1x2x2x4xf32>) -> tensor<1x1x1x4xf32>
  %r = npu.reshape %p {shape = array<i64: 4>} : (tensor<1x1x1x4xf32>) -> tensor<4xf32>
  %c = npu.clip %r {min = 0.0 : f32, max = 6.0 : f32, npu.range = array<f64: 0.0, 6.0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// Not where somebody else reads the tensor before the clip.

// CHECK-LABEL: func.func @shared
// CHECK: npu.abs {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.3921{{.*}}:-128>>
// CHECK: npu.clip {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.0235{{.*}}:-128>>
// CHECK: npu.add
func.func @shared(%x: tensor<4xf32> {npu.range = array<f64: -100.0, 100.0>}) -> tensor<4xf32> {
  %a = npu.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = npu.clip %a {min = 0.0 : f32, max = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %s = npu.add %a, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// Concatenation: an operand nobody else reads is computed in its scale, even
// one whose scale is fixed elsewhere; one that others read is requantised; one
// whose range is nearly the same shares it; a constant is quantised to it.

// CHECK-LABEL: func.func @concat
// CHECK: %[[S:.*]] = npu.sigmoid {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.00999{{[0-9]*}}:-73>>
// CHECK: %[[E:.*]] = npu.exp {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.00200{{[0-9]*}}:-128>>
// CHECK: %[[ER:.*]] = npu.quantize %[[E]] : {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.00999{{[0-9]*}}:-73>>
// CHECK: %[[N:.*]] = npu.neg {{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.00999{{[0-9]*}}:-73>>
// CHECK: %[[K:.*]] = npu.constant dense<27> : tensor<4xi8> -> tensor<4x!quant.uniform<i8:f32, 0.00999{{[0-9]*}}:-73>>
// CHECK: npu.concat %[[S]], %[[ER]], %[[N]], %[[K]]
// CHECK: npu.add %[[E]], %[[N]]
func.func @concat(%x: tensor<4xf32> {npu.range = array<f64: -2.0, 2.0>}) -> (tensor<16xf32>, tensor<4xf32>) {
  %s = npu.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = npu.exp %x {npu.range = array<f64: 0.0, 0.51>} : (tensor<4xf32>) -> tensor<4xf32>
  %n = npu.neg %x {npu.range = array<f64: -0.5, 2.0>} : (tensor<4xf32>) -> tensor<4xf32>
  %k = npu.constant dense<1.0> : tensor<4xf32> -> tensor<4xf32>
  %c = npu.concat %s, %e, %n, %k {axis = 0 : i64, npu.range = array<f64: -0.55, 2.0>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32>
  %a = npu.add %e, %n {npu.range = array<f64: -1.0, 1.0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c, %a : tensor<16xf32>, tensor<4xf32>
}

// -----

// The pieces of a split share its scale; one piece's relu does not set it.

// CHECK-LABEL: func.func @split
// CHECK: npu.quantize %{{.*}} -> tensor<4x!quant.uniform<i8:f32, 0.0156{{.*}}>
// CHECK: npu.split {{.*}} -> (tensor<2x!quant.uniform<i8:f32, 0.0156{{[^>]*}}>>, tensor<2x!quant.uniform<i8:f32, 0.0156{{[^>]*}}>>)
// CHECK: npu.relu {{.*}} -> tensor<2x!quant.uniform<i8:f32, 0.0078{{.*}}>
func.func @split(%x: tensor<4xf32> {npu.range = array<f64: -2.0, 2.0>}) -> (tensor<2xf32>, tensor<2xf32>) {
  %a, %b = npu.split %x {axis = 0 : i64, sizes = array<i64: 2, 2>} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %r = npu.relu %a : (tensor<2xf32>) -> tensor<2xf32>
  return %r, %b : tensor<2xf32>, tensor<2xf32>
}

// -----

// Moves between floats stay float.

// CHECK-LABEL: func.func @floats
// CHECK-NEXT: npu.reshape %{{.*}} -> tensor<4xf32>
// CHECK-NEXT: npu.pow
func.func @floats(%x: tensor<2x2xf32> {npu.range = array<f64: -2.0, 2.0>}) -> tensor<4xf32> {
  %r = npu.reshape %x {shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %p = npu.pow %r, %r {npu.range = array<f64: -2.0, 2.0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %p : tensor<4xf32>
}
