// RUN: npu-opt %s -split-input-file --npu-set-target=target=host --npu-to-cmdq | FileCheck %s

// The boundary's transposes are views; the last command writes the output.

!qi = !quant.uniform<i8:f32, 0.1:-3>
!qo = !quant.uniform<i8:f32, 0.2:5>
!qw = !quant.uniform<i8<-127:127>:f32:0, {0.01,0.02}>

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[X:.*]] = cmdq.io {index = 0 : i32, name = "x"} : memref<1x3x4x4xf32, #cmdq.space<io>>
// CHECK: %[[Y:.*]] = cmdq.io {index = 1 : i32, is_output, name = "y"}
// CHECK-DAG: %[[W:.*]] = cmdq.constant {value = dense<1> : tensor<2x3x3x3xi8>}
// CHECK-DAG: %[[B:.*]] = cmdq.constant {value = dense<[7, 8]> : tensor<2xi32>}
// CHECK-DAG: %[[M:.*]] = cmdq.constant {value = dense<[0.00500000035, 0.0100000007]> : tensor<2xf32>}
// CHECK: %[[Q:.*]] = cmdq.alloc : memref<1x4x4x3xi8, #cmdq.space<dram>>
// CHECK: %[[XT:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [1, 4, 4, 3], strides: [16, 4, 1, 16]
// CHECK: cmdq.convert on vector outs(%[[Q]] : {{.*}}) ins(%[[XT]] : {{.*}}) {layer = "q", out_zp = -3 : i32, quantize, scale = 1.000000e-01 : f32, tap = "xq"}
// CHECK: cmdq.conv2d on matrix outs(%[[C:.*]] : memref<1x4x4x2xi8, #cmdq.space<dram>>) ins(%[[Q]], %[[W]] :
// CHECK-SAME: bias(%[[B]] : {{.*}}) multipliers(%[[M]] :
// CHECK-SAME: epilogue = #cmdq.epilogue<per_channel, mid_zp = 5, lo = 5, hi = 35>, in_zp = -3 : i32, layer = "conv", pads = array<i32: 1, 1, 1, 1>
// CHECK: %[[YT:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [1, 4, 4, 2], strides: [16, 4, 1, 16]
// CHECK: cmdq.convert on vector outs(%[[YT]] : {{.*}}) ins(%[[C]] :
// CHECK-NOT: cmdq.dma
// CHECK-NOT: func.func
func.func @main(%x: tensor<1x3x4x4xf32> {npu.name = "x"}) -> (tensor<1x2x4x4xf32> {npu.name = "y"}) {
  %t = npu.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %q = npu.quantize %t {npu.tensor = "xq"} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3x!qi> loc("q")
  %w = npu.constant dense<1> : tensor<2x3x3x3xi8> -> tensor<2x3x3x3x!qw>
  %b = npu.constant dense<[7, 8]> : tensor<2xi32> -> tensor<2xi32>
  %c = npu.conv2d(%q, %w, bias %b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, activation = #npu.act<clip, 0.0, 6.0>} : (tensor<1x4x4x3x!qi>, tensor<2x3x3x3x!qw>, tensor<2xi32>) -> tensor<1x4x4x2x!qo> loc("conv")
  %d = npu.dequantize %c : (tensor<1x4x4x2x!qo>) -> tensor<1x4x4x2xf32>
  %y = npu.transpose %d {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// -----

// Float: activation and residual with a clip after it. An NHWC view of an NCHW
// input is copied for the matrix engine, once for both users.

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[V:.*]] = memref.reinterpret_cast %{{.*}} strides: [16, 4, 1, 16]
// CHECK: cmdq.dma on dma_in outs(%[[X:.*]] : memref<1x4x4x3xf32, #cmdq.space<dram>>) ins(%[[V]] :
// CHECK: cmdq.depthwise_conv2d on matrix outs(%[[A:.*]] : {{.*}}) ins(%[[X]], %{{.*}} :
// CHECK-SAME: epilogue = #cmdq.epilogue<function = leaky_relu, alpha = 1.000000e-01>
// CHECK-NOT: cmdq.dma
// CHECK: cmdq.conv2d on matrix outs(%[[O:.*]] : memref<1x4x4x3xf32, #cmdq.space<io>>) ins(%[[X]], %{{.*}} : {{.*}}) residual(%[[A]] :
// CHECK-SAME: epilogue = #cmdq.epilogue<residual, fhi2 = 0x7F800000>
func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32> {
  %t = npu.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  %wd = npu.constant dense<1.0> : tensor<3x3x3xf32> -> tensor<3x3x3xf32>
  %w = npu.constant dense<2.0> : tensor<3x1x1x3xf32> -> tensor<3x1x1x3xf32>
  %a = npu.depthwise_conv2d(%t, %wd) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, activation = #npu.act<leaky_relu, 0.1, 0.0>} : (tensor<1x4x4x3xf32>, tensor<3x3x3xf32>) -> tensor<1x4x4x3xf32>
  %c = npu.conv2d(%t, %w residual %a) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, residual_activation = #npu.act<clip, 0.0, inf>} : (tensor<1x4x4x3xf32>, tensor<3x1x1x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %c : tensor<1x4x4x3xf32>
}

// -----

// A function's argument has up to 10 bits: the table has an entry for each.

!q = !quant.uniform<i8:f32, 0.5:0>
!p = !quant.uniform<i16<-512:511>:f32, 0.25:-100>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.conv2d
// CHECK-SAME: lut(%{{.*}} : memref<1024xi8, #cmdq.space<const>>)
// CHECK-SAME: epilogue = #cmdq.epilogue<lut, wide_lut, mid_zp = -100, lo = -512, hi = 511>
func.func @main(%x: tensor<1x4x4x3x!q>) -> tensor<1x4x4x3x!q> {
  %w = npu.constant dense<2> : tensor<3x1x1x3xi8> -> tensor<3x1x1x3x!w>
  %c = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, activation = #npu.act<sigmoid, 0.0, 0.0>, pre_activation_type = !p} : (tensor<1x4x4x3x!q>, tensor<3x1x1x3x!w>) -> tensor<1x4x4x3x!q>
  return %c : tensor<1x4x4x3x!q>
}

// -----

// A quantised residual: the first term is rounded to pre_activation_type, goes
// through the table to residual_type, and is added.

!q = !quant.uniform<i8:f32, 0.5:0>
!p = !quant.uniform<i8:f32, 0.25:1>
!r = !quant.uniform<i8:f32, 0.125:2>
!o = !quant.uniform<i8:f32, 1.0:3>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.constant {value = dense<1.000000e+00> : tensor<1xf32>}
// CHECK: cmdq.conv2d
// CHECK-SAME: lut(%{{.*}} : memref<256xi8, #cmdq.space<const>>)
// CHECK-SAME: epilogue = #cmdq.epilogue<lut, residual, mid_zp = 1, lo = -128, hi = 127, res_mid_zp = 2, out_zp = 3, lo2 = 3, hi2 = 127, scale_self = 1.250000e-01, scale_res = 5.000000e-01>
func.func @main(%x: tensor<1x4x4x3x!q>) -> tensor<1x4x4x3x!o> {
  %w = npu.constant dense<2> : tensor<3x1x1x3xi8> -> tensor<3x1x1x3x!w>
  %c = npu.conv2d(%x, %w residual %x) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, activation = #npu.act<swish, 1.0, 0.0>, pre_activation_type = !p, residual_type = !r, residual_activation = #npu.act<clip, 0.0, inf>} : (tensor<1x4x4x3x!q>, tensor<3x1x1x3x!w>, tensor<1x4x4x3x!q>) -> tensor<1x4x4x3x!o>
  return %c : tensor<1x4x4x3x!o>
}

// -----

// A fully connected layer is a 1x1 convolution of one row; the filter is seen
// as [N,1,1,K].

// CHECK-LABEL: cmdq.program @main
// CHECK-DAG: %[[X:.*]] = cmdq.io {index = 0
// CHECK-DAG: %[[Y:.*]] = cmdq.io {index = 1
// CHECK: %[[XV:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [1, 1, 6, 5]
// CHECK: %[[WV:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 1, 1, 5]
// CHECK: %[[YV:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [1, 1, 6, 4]
// CHECK: cmdq.conv2d on matrix outs(%[[YV]] : {{.*}}) ins(%[[XV]], %[[WV]] :
func.func @main(%x: tensor<2x3x5xf32>) -> tensor<2x3x4xf32> {
  %w = npu.constant dense<2.0> : tensor<4x5xf32> -> tensor<4x5xf32>
  %y = npu.fully_connected(%x, %w) : (tensor<2x3x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Batches broadcast with a stride of 0; transpose_b swaps two dimensions.

// CHECK-LABEL: cmdq.program @main
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 5, 4], strides: [0, 1, 5]
// CHECK: cmdq.matmul on matrix outs(%{{.*}} : memref<2x3x4xf32, #cmdq.space<io>>)
func.func @main(%a: tensor<2x3x5xf32>, %b: tensor<4x5xf32>) -> tensor<2x3x4xf32> {
  %y = npu.matmul(%a, %b) {transpose_b = true} : (tensor<2x3x5xf32>, tensor<4x5xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Taps of a depthwise convolution accumulate in one buffer, then requantise.

!q = !quant.uniform<i8:f32, 0.5:4>
!o = !quant.uniform<i8:f32, 0.25:1>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// CHECK-LABEL: cmdq.program @main
// CHECK: %[[ACC:.*]] = cmdq.alloc : memref<1x4x4x3xi32, #cmdq.space<dram>>
// CHECK: cmdq.vector_mac on vector outs(%[[ACC]] : {{.*}} {first, in_zp = 4 : i32}
// CHECK: cmdq.vector_mac on vector outs(%[[ACC]] : {{.*}} {in_zp = 4 : i32}
// CHECK: cmdq.requantize on vector outs(%{{.*}} : memref<1x4x4x3xi8, #cmdq.space<io>>) ins(%[[ACC]] :
// CHECK-SAME: epilogue = #cmdq.epilogue<mid_zp = 1, lo = -128, hi = 127>
func.func @main(%x: tensor<1x4x4x3x!q>) -> tensor<1x4x4x3x!o> {
  %w0 = npu.constant dense<[1, 2, 3]> : tensor<3xi8> -> tensor<3x!w>
  %w1 = npu.constant dense<[4, 5, 6]> : tensor<3xi8> -> tensor<3x!w>
  %a = npu.vector_mac(%x, %w0) : (tensor<1x4x4x3x!q>, tensor<3x!w>) -> tensor<1x4x4x3xi32>
  %b = npu.vector_mac(%x, %w1, acc %a) : (tensor<1x4x4x3x!q>, tensor<3x!w>, tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi32>
  %y = npu.rescale(%b) {scales = array<f32: 0.25>} : (tensor<1x4x4x3xi32>) -> tensor<1x4x4x3x!o>
  return %y : tensor<1x4x4x3x!o>
}
