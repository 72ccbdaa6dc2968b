// RUN: npu-opt %s -split-input-file --npu-set-target=target=host --npu-to-cmdq | FileCheck %s

!a = !quant.uniform<i8:f32, 0.5:1>
!b = !quant.uniform<i8:f32, 0.25:2>
!o = !quant.uniform<i8:f32, 0.125:3>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.binary on vector {{.*}} {a_mul = 4.000000e+00 : f32, a_zp = 1 : i32, b_mul = 2.000000e+00 : f32, b_zp = 2 : i32, hi = 127 : i32, kind = #cmdq<binary_kind add>, lo = -128 : i32, out_zp = 3 : i32}
// CHECK: cmdq.binary on vector {{.*}} {a_mul = 1.000000e+00 : f32, a_zp = 1 : i32, b_zp = 2 : i32, hi = 127 : i32, kind = #cmdq<binary_kind mul>, lo = 3 : i32, out_zp = 3 : i32}
// CHECK: cmdq.binary on vector {{.*}} lut(%{{.*}} : memref<256xi8, #cmdq.space<const>>) {a_mul = 1.600000e+01 : f32
// CHECK-SAME: kind = #cmdq<binary_kind div>
func.func @main(%x: tensor<4x!a>, %y: tensor<4x!b>) -> (tensor<4x!o>, tensor<4x!o>, tensor<4x!o>) {
  %0 = npu.add %x, %y : (tensor<4x!a>, tensor<4x!b>) -> tensor<4x!o>
  %1 = npu.mul %x, %y {activation = #npu.act<clip, 0.0, inf>} : (tensor<4x!a>, tensor<4x!b>) -> tensor<4x!o>
  %2 = npu.div %x, %y {activation = #npu.act<tanh, 0.0, 0.0>, pre_activation_type = !o} : (tensor<4x!a>, tensor<4x!b>) -> tensor<4x!o>
  return %0, %1, %2 : tensor<4x!o>, tensor<4x!o>, tensor<4x!o>
}

// -----

// Broadcasting is a stride of 0.

// CHECK-LABEL: cmdq.program @main
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 3, 4], strides: [0, 1, 0]
// CHECK: cmdq.binary {{.*}} {alpha = 1.000000e-03 : f32, function = #cmdq<function leaky_relu>, kind = #cmdq<binary_kind add>}
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = npu.add %x, %y {activation = #npu.act<leaky_relu, 0.001, 0.0>} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// More dimensions than commands have: the ones that need not be told apart are
// joined.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.unary on vector outs(%{{.*}} : memref<2xf32{{.*}}) ins(%{{.*}} : memref<2xf32{{.*}}) {function = #cmdq<function exp>}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = npu.reshape %x {shape = array<i64: 1, 1, 1, 1, 1, 1, 2>} : (tensor<2xf32>) -> tensor<1x1x1x1x1x1x2xf32>
  %1 = npu.exp %0 : (tensor<1x1x1x1x1x1x2xf32>) -> tensor<1x1x1x1x1x1x2xf32>
  %2 = npu.reshape %1 {shape = array<i64: 2>} : (tensor<1x1x1x1x1x1x2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// A quantised function is a table. At scale 1/2 and zero point 0, relu keeps
// what is positive.

!q = !quant.uniform<i8:f32, 0.5>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.constant {value = dense<"0x0000{{.*}}7F"> : tensor<256xi8>}
// CHECK: cmdq.lut on vector
func.func @main(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = npu.relu %x : (tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// -----

// Softmax over any axis is the softmax of a transposed view.

!q = !quant.uniform<i8:f32, 0.5>
!s = !quant.uniform<i8:f32, 3.906250e-03:-128>

// CHECK-LABEL: cmdq.program @main
// CHECK: sizes: [2, 4, 3], strides: [12, 1, 4]
// CHECK: sizes: [2, 4, 3], strides: [12, 1, 4]
// CHECK: cmdq.softmax on vector {{.*}} table(%{{.*}} : memref<256xf32, #cmdq.space<const>>) {multiplier = 2.560000e+02 : f32, out_zp = -128 : i32}
func.func @main(%x: tensor<2x3x4x!q>) -> tensor<2x3x4x!s> {
  %0 = npu.softmax %x {axis = 1 : i64} : (tensor<2x3x4x!q>) -> tensor<2x3x4x!s>
  return %0 : tensor<2x3x4x!s>
}

// -----

// Reduced dimensions stay as 1 in the command.

!q = !quant.uniform<i8:f32, 0.5:7>
!r = !quant.uniform<i8:f32, 0.25:2>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.reduce on vector outs(%{{.*}} : memref<1x1x1x3xi8, #cmdq.space<dram>>) {{.*}} {axes = array<i32: 1, 2>, hi = 127 : i32, in_zp = 7 : i32, kind = #cmdq<reduce_kind mean>, lo = -128 : i32, multiplier = 2.000000e+00 : f32, out_zp = 2 : i32}
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1, 1, 1, 1]
// CHECK: cmdq.reduce on vector {{.*}} kind = #cmdq<reduce_kind max>
func.func @main(%x: tensor<1x4x4x3x!q>) -> tensor<1x1x1x!r> {
  %0 = npu.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x4x4x3x!q>) -> tensor<1x1x1x3x!r>
  %1 = npu.reduce_max %0 {axes = array<i64: 3>, keepdims = false} : (tensor<1x1x1x3x!r>) -> tensor<1x1x1x!r>
  return %1 : tensor<1x1x1x!r>
}

// -----

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.arg_max on vector outs(%{{.*}} : memref<2x4x1xi64, {{.*}}>) ins(%{{.*}} : memref<2x4x3xf32, strided<[12, 1, 4]>
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x4xi64> {
  %0 = npu.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<2x3x4xf32>) -> tensor<2x4xi64>
  return %0 : tensor<2x4xi64>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:7>
!r = !quant.uniform<i8:f32, 0.25:2>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.pool2d on vector {{.*}} {count_include_pad, dilations = array<i32: 1, 1>, hi = 127 : i32, in_zp = 7 : i32, kernel = array<i32: 2, 2>, kind = #cmdq<pool_kind average>, lo = -128 : i32, multiplier = 2.000000e+00 : f32, out_zp = 2 : i32
// CHECK: cmdq.pool2d on vector {{.*}} kind = #cmdq<pool_kind max>
func.func @main(%x: tensor<1x4x4x3x!q>) -> (tensor<1x2x2x3x!r>, tensor<1x2x2x3x!q>) {
  %0 = npu.avg_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x4x4x3x!q>) -> tensor<1x2x2x3x!r>
  %1 = npu.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x3x!q>) -> tensor<1x2x2x3x!q>
  return %0, %1 : tensor<1x2x2x3x!r>, tensor<1x2x2x3x!q>
}

// -----

// Taps: i0, i1 and the bits of two floats (1065353216 is 1.0). Rows and columns
// of equal rules share one table.

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[T:.*]] = cmdq.constant {value = dense<{{\[}}[0, 0, 1065353216, 0], [0, 0, 1065353216, 0], [1, 1, 1065353216, 0], [1, 1, 1065353216, 0]]> : tensor<4x4xi32>}
// CHECK: cmdq.resize2d on vector {{.*}} taps(%[[T]], %[[T]] : {{.*}}) {nearest}
func.func @main(%x: tensor<1x2x2x3xf32>) -> tensor<1x4x4x3xf32> {
  %0 = npu.resize %x {mode = #npu<resize_mode nearest>, coordinate_mode = #npu<coordinate_mode asymmetric>, nearest_mode = #npu<nearest_mode floor>, sizes = array<i64: 4, 4>, scales = array<f32: 2.0, 2.0>} : (tensor<1x2x2x3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:7>
!r = !quant.uniform<i8:f32, 0.25:2>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.convert {{.*}} {out_zp = 7 : i32, quantize, scale = 5.000000e-01 : f32}
// CHECK: cmdq.convert {{.*}} {in_zp = 7 : i32, out_zp = 2 : i32, quantize, scale = 2.000000e+00 : f32}
// CHECK: cmdq.convert {{.*}} {in_zp = 2 : i32, quantize, scale = 2.500000e-01 : f32}
// CHECK: cmdq.convert on vector outs(%{{.*}} : memref<4xi64, #cmdq.space<io>>) ins(%{{.*}} : memref<4xf32, #cmdq.space<dram>>){{$}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xi64> {
  %0 = npu.quantize %x : (tensor<4xf32>) -> tensor<4x!q>
  %1 = npu.quantize %0 : (tensor<4x!q>) -> tensor<4x!r>
  %2 = npu.dequantize %1 : (tensor<4x!r>) -> tensor<4xf32>
  %3 = npu.cast %2 : (tensor<4xf32>) -> tensor<4xi64>
  return %3 : tensor<4xi64>
}
