// Every command, in planned form: to a blob, back, and to a blob again, which is
// the same to the byte.
// RUN: npu-translate --npu-to-blob %s -o %t.1
// RUN: npu-translate --blob-to-npu %t.1 -o %t.mlir
// RUN: npu-translate --npu-to-blob %t.mlir -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: FileCheck %s < %t.mlir
// RUN: npu-opt %t.mlir | npu-translate --npu-to-blob | cmp - %t.1

// CHECK: module attributes {npu.info = {note = "by hand"}}
// CHECK: cmdq.program @all attributes {dram_bytes = 8192 : i64, sram_bytes = 8192 : i64}
// CHECK: cmdq.io {index = 0 : i32, name = "x", preprocess = "{}"} : memref<1x4x4x8xi8, #cmdq.space<io>>
// CHECK: cmdq.io {index = 1 : i32, is_output, name = "y"} : memref<1x4x4x8xi8, #cmdq.space<io>>
// CHECK: cmdq.constant {offset = 0 : i64, value = dense<7> : tensor<256xi8>}
// CHECK: cmdq.nop on matrix
// CHECK: cmdq.dma on dma_in outs({{.*}} ins({{.*}}layer = "in", tap = "x"
// CHECK: cmdq.dma on dma_out outs({{.*}} ins(
// CHECK: cmdq.fill on vector outs({{.*}}bits = -7
// CHECK: cmdq.conv2d on matrix outs({{.*}} ins({{.*}} bias({{.*}} multipliers({{.*}}epilogue = #cmdq.epilogue<per_channel, mid_zp = 3, lo = -128, hi = 127>{{.*}}in_zp = -3 : i32, layer = "conv"
// CHECK: cmdq.depthwise_conv2d on matrix outs({{.*}} ins({{.*}} residual({{.*}} bias({{.*}} multipliers({{.*}}epilogue = #cmdq.epilogue<residual, per_channel, mid_zp = 3, lo = -128, hi = 127, res_mid_zp = 1, res_zp = 2, out_zp = 1, lo2 = -100, hi2 = 100, scale_self = 5.000000e-01, scale_res = 2.500000e-01>
// CHECK: cmdq.matmul on matrix outs({{.*}} ins({{.*}} bias({{.*}} multipliers({{.*}} lut({{.*}}a_zp = 5 : i32, epilogue = #cmdq.epilogue<lut, per_channel, lo = -128, hi = 127>
// CHECK: cmdq.pool2d on vector outs({{.*}} ins({{.*}} {count_include_pad, dilations = array<i32: 1, 1>, hi = 127 : i32
// CHECK: cmdq.reduce on vector outs({{.*}} ins({{.*}}axes = array<i32: 1, 2>, hi = 127 : i32, kind = #cmdq<reduce_kind mean>, lo = -128 : i32, multiplier = 6.250000e-02 : f32
// CHECK: cmdq.binary on vector outs({{.*}} ins({{.*}} lut({{.*}}a_mul = 5.000000e-01 : f32, b_mul = 2.500000e-01 : f32, hi = 127 : i32, kind = #cmdq<binary_kind add>, lo = -128 : i32
// CHECK: cmdq.unary on vector outs({{.*}} ins({{.*}}alpha = 1.000000e-01 : f32, function = #cmdq<function leaky_relu>
// CHECK: cmdq.lut on vector outs({{.*}} ins({{.*}} table(
// CHECK: cmdq.softmax on vector outs({{.*}} ins({{.*}} table({{.*}}multiplier = 2.560000e+02 : f32, out_zp = -128 : i32
// CHECK: cmdq.resize2d on vector outs({{.*}} ins({{.*}} taps({{.*}}multiplier = 1.000000e+00 : f32, nearest
// CHECK: cmdq.gather on vector outs({{.*}} ins({{.*}} indices({{.*}}axis = 3 : i32
// CHECK: cmdq.convert on vector outs({{.*}} ins({{.*}}out_zp = -1 : i32, quantize, scale = 1.250000e-01 : f32
// CHECK: cmdq.vector_mac on vector outs({{.*}} ins({{.*}}first, in_zp = 1 : i32, w_zp = 2 : i32
// CHECK: cmdq.requantize on vector outs({{.*}} ins({{.*}} bias({{.*}} multipliers({{.*}}epilogue = #cmdq.epilogue<per_channel, mid_zp = 3, lo = -128, hi = 127>
// CHECK: cmdq.arg_max on vector outs({{.*}} ins(
// CHECK: cmdq.binary on vector outs({{.*}} ins({{.*}}kind = #cmdq<binary_kind shr>
// CHECK: cmdq.compare on vector outs({{.*}} ins({{.*}}kind = #cmdq<compare_kind less_equal>
// CHECK: cmdq.select on vector outs({{.*}} ins({{.*}} : memref<1x4x4x8xi1, #cmdq.space<sram>>, memref<1x4x4x8xui16, #cmdq.space<sram>>
// CHECK: cmdq.unary on vector outs({{.*}} ins({{.*}}function = #cmdq<function sign>
// CHECK: cmdq.convert on vector outs({{.*}} : memref<1x4x4x8xbf16, #cmdq.space<sram>>) ins({{.*}} : memref<1x4x4x8xui16,
// CHECK: cmdq.convert on vector outs({{.*}} : memref<2xf64, #cmdq.space<sram>>) ins({{.*}} : memref<2xui64,
// CHECK: cmdq.dma on dma_out outs({{.*}} ins({{.*}} {waits = [#cmdq.wait<0, 4>, #cmdq.wait<1, 19>, #cmdq.wait<2, 1>]}
module attributes {npu.info = {note = "by hand"}} {
cmdq.program @all attributes {cores = 1 : i32, sram_bytes = 8192 : i64, dram_bytes = 8192 : i64} {
  %x = cmdq.io {index = 0 : i32, name = "x", preprocess = "{}"} : memref<1x4x4x8xi8, #cmdq.space<io>>
  %y = cmdq.io {index = 1 : i32, name = "y", is_output} : memref<1x4x4x8xi8, #cmdq.space<io>>
  %c0 = cmdq.constant {value = dense<7> : tensor<256xi8>, offset = 0 : i64} : memref<256xi8, #cmdq.space<const>>
  %c1 = cmdq.constant {value = dense<1.0> : tensor<256xf32>, offset = 256 : i64} : memref<256xf32, #cmdq.space<const>>
  %c2 = cmdq.constant {value = dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>, offset = 1280 : i64} : memref<8xi32, #cmdq.space<const>>
  %c3 = cmdq.constant {value = dense<0.015625> : tensor<8xf32>, offset = 1312 : i64} : memref<8xf32, #cmdq.space<const>>
  %c4 = cmdq.constant {value = dense<1> : tensor<8x3x3x8xi8>, offset = 1344 : i64} : memref<8x3x3x8xi8, #cmdq.space<const>>
  %c5 = cmdq.constant {value = dense<-1> : tensor<3x3x8xi8>, offset = 1920 : i64} : memref<3x3x8xi8, #cmdq.space<const>>
  %c6 = cmdq.constant {value = dense<[0, 1, 1065353216, 0, 0, 1, 1065353216, 0, 0, 1, 1065353216, 0, 0, 1, 1065353216, 0, 0, 1, 1065353216, 0, 0, 1, 1065353216, 0, 0, 1, 1065353216, 0, 0, 1, 1065353216, 0]> : tensor<32xi32>, offset = 2048 : i64} : memref<32xi32, #cmdq.space<const>>
  %c7 = cmdq.constant {value = dense<[3, 0]> : tensor<2xi32>, offset = 2176 : i64} : memref<2xi32, #cmdq.space<const>>
  %c8 = cmdq.constant {value = dense<2> : tensor<8x8xi8>, offset = 2240 : i64} : memref<8x8xi8, #cmdq.space<const>>
  %b0 = cmdq.buffer {offset = 0 : i64} : memref<1x4x4x8xi8, #cmdq.space<sram>>
  %b1 = cmdq.buffer {offset = 128 : i64} : memref<1x4x4x8xi8, #cmdq.space<sram>>
  %b2 = cmdq.buffer {offset = 256 : i64} : memref<1x4x4x8xi8, #cmdq.space<sram>>
  %b3 = cmdq.buffer {offset = 512 : i64} : memref<1x4x4x8xi32, #cmdq.space<sram>>
  %b4 = cmdq.buffer {offset = 1024 : i64} : memref<1x4x4x8xf32, #cmdq.space<sram>>
  %b5 = cmdq.buffer {offset = 1536 : i64} : memref<1x4x4x8xf32, #cmdq.space<sram>>
  %b6 = cmdq.buffer {offset = 0 : i64, io = 0 : i32} : memref<1x4x4x8xi8, #cmdq.space<io>>
  %b7 = cmdq.buffer {offset = 0 : i64} : memref<256xi8, #cmdq.space<const>>
  %b8 = cmdq.buffer {offset = 256 : i64} : memref<256xf32, #cmdq.space<const>>
  %b9 = cmdq.buffer {offset = 1280 : i64} : memref<8xi32, #cmdq.space<const>>
  %b10 = cmdq.buffer {offset = 1312 : i64} : memref<8xf32, #cmdq.space<const>>
  %b11 = cmdq.buffer {offset = 1344 : i64} : memref<8x3x3x8xi8, #cmdq.space<const>>
  %b12 = cmdq.buffer {offset = 1920 : i64} : memref<3x3x8xi8, #cmdq.space<const>>
  %b13 = cmdq.buffer {offset = 2048 : i64} : memref<32xi32, #cmdq.space<const>>
  %b14 = cmdq.buffer {offset = 2176 : i64} : memref<2xi32, #cmdq.space<const>>
  %b15 = cmdq.buffer {offset = 2240 : i64} : memref<8x8xi8, #cmdq.space<const>>
  %b16 = cmdq.buffer {offset = 0 : i64} : memref<1x4x4x8xi8, strided<[512, 128, 32, 1]>, #cmdq.space<dram>>
  %b17 = cmdq.buffer {offset = 128 : i64} : memref<16x8xi8, #cmdq.space<sram>>
  %b18 = cmdq.buffer {offset = 0 : i64} : memref<16x8xi8, #cmdq.space<sram>>
  %b19 = cmdq.buffer {offset = 128 : i64} : memref<1x2x2x8xi8, #cmdq.space<sram>>
  %b20 = cmdq.buffer {offset = 128 : i64} : memref<1x1x1x8xi8, #cmdq.space<sram>>
  %b21 = cmdq.buffer {offset = 2048 : i64} : memref<1x8x8x8xi8, #cmdq.space<sram>>
  %b22 = cmdq.buffer {offset = 128 : i64} : memref<1x4x4x2xi8, #cmdq.space<sram>>
  %b23 = cmdq.buffer {offset = 128 : i64} : memref<1x4x4x1xi32, #cmdq.space<sram>>
  %b24 = cmdq.buffer {offset = 0 : i64, io = 1 : i32} : memref<1x4x4x8xi8, #cmdq.space<io>>
  %w = cmdq.buffer {offset = 4096 : i64} : memref<8xi8, #cmdq.space<sram>>
  cmdq.nop on matrix
  cmdq.dma on dma_in outs(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b6 : memref<1x4x4x8xi8, #cmdq.space<io>>) {layer = "in", tap = "x", waits = [#cmdq.wait<0, 1>]}
  cmdq.dma on dma_out outs(%b16 : memref<1x4x4x8xi8, strided<[512, 128, 32, 1]>, #cmdq.space<dram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) {waits = [#cmdq.wait<0, 1>, #cmdq.wait<2, 1>]}
  cmdq.fill on vector outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) {bits = -7, waits = [#cmdq.wait<0, 1>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.conv2d on matrix outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b0, %b11 : memref<1x4x4x8xi8, #cmdq.space<sram>>, memref<8x3x3x8xi8, #cmdq.space<const>>) bias(%b9 : memref<8xi32, #cmdq.space<const>>) multipliers(%b10 : memref<8xf32, #cmdq.space<const>>) {strides = array<i32: 1, 1>, dilations = array<i32: 1, 1>, pads = array<i32: 1, 1, 1, 1>, in_zp = -3 : i32, epilogue = #cmdq.epilogue<per_channel, mid_zp = 3, lo = -128, hi = 127>, layer = "conv", waits = [#cmdq.wait<1, 1>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.depthwise_conv2d on matrix outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b0, %b12 : memref<1x4x4x8xi8, #cmdq.space<sram>>, memref<3x3x8xi8, #cmdq.space<const>>) residual(%b2 : memref<1x4x4x8xi8, #cmdq.space<sram>>) bias(%b9 : memref<8xi32, #cmdq.space<const>>) multipliers(%b10 : memref<8xf32, #cmdq.space<const>>) {strides = array<i32: 1, 1>, dilations = array<i32: 1, 1>, pads = array<i32: 1, 1, 1, 1>, epilogue = #cmdq.epilogue<residual, per_channel, mid_zp = 3, lo = -128, hi = 127, res_mid_zp = 1, res_zp = 2, out_zp = 1, lo2 = -100, hi2 = 100, scale_self = 5.000000e-01, scale_res = 2.500000e-01>, waits = [#cmdq.wait<1, 1>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.matmul on matrix outs(%b17 : memref<16x8xi8, #cmdq.space<sram>>) ins(%b18, %b15 : memref<16x8xi8, #cmdq.space<sram>>, memref<8x8xi8, #cmdq.space<const>>) bias(%b9 : memref<8xi32, #cmdq.space<const>>) multipliers(%b10 : memref<8xf32, #cmdq.space<const>>) lut(%b7 : memref<256xi8, #cmdq.space<const>>) {a_zp = 5 : i32, epilogue = #cmdq.epilogue<lut, per_channel, lo = -128, hi = 127>, waits = [#cmdq.wait<1, 1>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.pool2d on vector outs(%b19 : memref<1x2x2x8xi8, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) {count_include_pad, hi = 127 : i32, in_zp = 1 : i32, kernel = array<i32: 2, 2>, kind = #cmdq<pool_kind average>, lo = -128 : i32, multiplier = 2.500000e-01 : f32, out_zp = 1 : i32, pads = array<i32: 0, 0, 0, 0>, strides = array<i32: 2, 2>, dilations = array<i32: 1, 1>, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.reduce on vector outs(%b20 : memref<1x1x1x8xi8, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) {axes = array<i32: 1, 2>, hi = 127 : i32, kind = #cmdq<reduce_kind mean>, lo = -128 : i32, multiplier = 6.250000e-02 : f32, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.binary on vector outs(%b2 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b0, %b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>, memref<1x4x4x8xi8, #cmdq.space<sram>>) lut(%b7 : memref<256xi8, #cmdq.space<const>>) {a_mul = 5.000000e-01 : f32, b_mul = 2.500000e-01 : f32, hi = 127 : i32, kind = #cmdq<binary_kind add>, lo = -128 : i32, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.unary on vector outs(%b5 : memref<1x4x4x8xf32, #cmdq.space<sram>>) ins(%b4 : memref<1x4x4x8xf32, #cmdq.space<sram>>) {alpha = 1.000000e-01 : f32, function = #cmdq<function leaky_relu>, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.lut on vector outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) table(%b7 : memref<256xi8, #cmdq.space<const>>) {waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.softmax on vector outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) table(%b8 : memref<256xf32, #cmdq.space<const>>) {multiplier = 2.560000e+02 : f32, out_zp = -128 : i32, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.resize2d on vector outs(%b21 : memref<1x8x8x8xi8, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) taps(%b13, %b13 : memref<32xi32, #cmdq.space<const>>, memref<32xi32, #cmdq.space<const>>) {multiplier = 1.000000e+00 : f32, nearest, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.gather on vector outs(%b22 : memref<1x4x4x2xi8, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) indices(%b14 : memref<2xi32, #cmdq.space<const>>) {axis = 3 : i32, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.convert on vector outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b4 : memref<1x4x4x8xf32, #cmdq.space<sram>>) {out_zp = -1 : i32, quantize, scale = 1.250000e-01 : f32, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.vector_mac on vector outs(%b3 : memref<1x4x4x8xi32, #cmdq.space<sram>>) ins(%b0, %w : memref<1x4x4x8xi8, #cmdq.space<sram>>, memref<8xi8, #cmdq.space<sram>>) {first, in_zp = 1 : i32, w_zp = 2 : i32, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.requantize on vector outs(%b1 : memref<1x4x4x8xi8, #cmdq.space<sram>>) ins(%b3 : memref<1x4x4x8xi32, #cmdq.space<sram>>) bias(%b9 : memref<8xi32, #cmdq.space<const>>) multipliers(%b10 : memref<8xf32, #cmdq.space<const>>) {epilogue = #cmdq.epilogue<per_channel, mid_zp = 3, lo = -128, hi = 127>, waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  cmdq.arg_max on vector outs(%b23 : memref<1x4x4x1xi32, #cmdq.space<sram>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) {waits = [#cmdq.wait<0, 4>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>]}
  %e0 = cmdq.buffer {offset = 4096 : i64} : memref<1x4x4x8xi1, #cmdq.space<sram>>
  %e1 = cmdq.buffer {offset = 4352 : i64} : memref<1x4x4x8xui16, #cmdq.space<sram>>
  %e2 = cmdq.buffer {offset = 4608 : i64} : memref<1x4x4x8xbf16, #cmdq.space<sram>>
  %e3 = cmdq.buffer {offset = 4864 : i64} : memref<2xui64, #cmdq.space<sram>>
  %e4 = cmdq.buffer {offset = 4880 : i64} : memref<2xf64, #cmdq.space<sram>>
  cmdq.binary on vector outs(%b3 : memref<1x4x4x8xi32, #cmdq.space<sram>>) ins(%b3, %b3 : memref<1x4x4x8xi32, #cmdq.space<sram>>, memref<1x4x4x8xi32, #cmdq.space<sram>>) {kind = #cmdq<binary_kind shr>}
  cmdq.compare on vector outs(%e0 : memref<1x4x4x8xi1, #cmdq.space<sram>>) ins(%b4, %b5 : memref<1x4x4x8xf32, #cmdq.space<sram>>, memref<1x4x4x8xf32, #cmdq.space<sram>>) {kind = #cmdq<compare_kind less_equal>}
  cmdq.select on vector outs(%e1 : memref<1x4x4x8xui16, #cmdq.space<sram>>) ins(%e0, %e1, %e1 : memref<1x4x4x8xi1, #cmdq.space<sram>>, memref<1x4x4x8xui16, #cmdq.space<sram>>, memref<1x4x4x8xui16, #cmdq.space<sram>>)
  cmdq.unary on vector outs(%b5 : memref<1x4x4x8xf32, #cmdq.space<sram>>) ins(%b4 : memref<1x4x4x8xf32, #cmdq.space<sram>>) {function = #cmdq<function sign>}
  cmdq.convert on vector outs(%e2 : memref<1x4x4x8xbf16, #cmdq.space<sram>>) ins(%e1 : memref<1x4x4x8xui16, #cmdq.space<sram>>)
  cmdq.convert on vector outs(%e4 : memref<2xf64, #cmdq.space<sram>>) ins(%e3 : memref<2xui64, #cmdq.space<sram>>)
  cmdq.dma on dma_out outs(%b24 : memref<1x4x4x8xi8, #cmdq.space<io>>) ins(%b0 : memref<1x4x4x8xi8, #cmdq.space<sram>>) {waits = [#cmdq.wait<0, 4>, #cmdq.wait<1, 19>, #cmdq.wait<2, 1>]}
}
}
