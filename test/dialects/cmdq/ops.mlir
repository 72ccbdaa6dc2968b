// RUN: npu-opt %s -split-input-file | npu-opt -split-input-file | FileCheck %s

// CHECK-LABEL: cmdq.program @main
// CHECK-SAME: attributes {cores = 2 : i32, dram_bytes = 64 : i64, sram_bytes = 128 : i64}
// CHECK: cmdq.io {index = 0 : i32, name = "x", preprocess = "{}"} : memref<4xi8, #cmdq.space<io>>
// CHECK: cmdq.constant {offset = 16 : i64, value = dense<0> : tensor<256xi8>}
// CHECK: cmdq.buffer {offset = 64 : i64} : memref<4xi8, strided<[2]>, #cmdq.space<dram>>
// CHECK: cmdq.buffer {core = 1 : i32, offset = 0 : i64} : memref<4xi8, #cmdq.space<sram>>
// CHECK: cmdq.dma on dma_in outs({{.*}} {core = 1 : i32, layer = "l", waits = [#cmdq.wait<0, 3>, #cmdq.wait<5, 1>]}
// CHECK: cmdq.lut on vector outs({{.*}}) ins({{.*}}) table({{.*}})
// CHECK: cmdq.nop on matrix
cmdq.program @main attributes {cores = 2 : i32, sram_bytes = 128 : i64, dram_bytes = 64 : i64} {
  %x = cmdq.io {index = 0 : i32, name = "x", preprocess = "{}"} : memref<4xi8, #cmdq.space<io>>
  %t = cmdq.constant {value = dense<0> : tensor<256xi8>, offset = 16 : i64} : memref<256xi8, #cmdq.space<const>>
  %d = cmdq.buffer {offset = 64 : i64} : memref<4xi8, strided<[2]>, #cmdq.space<dram>>
  %s = cmdq.buffer {offset = 0 : i64, core = 1 : i32} : memref<4xi8, #cmdq.space<sram>>
  cmdq.dma on dma_in outs(%s : memref<4xi8, #cmdq.space<sram>>) ins(%d : memref<4xi8, strided<[2]>, #cmdq.space<dram>>) {core = 1 : i32, layer = "l", waits = [#cmdq.wait<0, 3>, #cmdq.wait<5, 1>]}
  cmdq.lut on vector outs(%s : memref<4xi8, #cmdq.space<sram>>) ins(%s : memref<4xi8, #cmdq.space<sram>>) table(%t : memref<256xi8, #cmdq.space<const>>)
  cmdq.nop on matrix
}

// -----

// No field of an epilogue is lost, not even the sign of zero and infinity.

// CHECK-LABEL: cmdq.program @main
// CHECK: #cmdq.epilogue<lut, residual, per_channel, mid_zp = 1, lo = 2, hi = 3, res_mid_zp = 4, res_zp = 5, out_zp = 6, lo2 = 7, hi2 = 8, function = swish, scale_self = 1.000000e-01, scale_res = -0.000000e+00, alpha = 0xFF800000, beta = 1.000000e+00, flo2 = 0x7FC00001, fhi2 = 2.000000e+00>
cmdq.program @main {
  %o = cmdq.alloc : memref<1x1x1x2xi8, #cmdq.space<sram>>
  %i = cmdq.alloc : memref<1x1x1x2xi32, #cmdq.space<sram>>
  %m = cmdq.constant {value = dense<1.0> : tensor<2xf32>} : memref<2xf32, #cmdq.space<const>>
  %t = cmdq.constant {value = dense<0> : tensor<256xi8>} : memref<256xi8, #cmdq.space<const>>
  cmdq.requantize on vector outs(%o : memref<1x1x1x2xi8, #cmdq.space<sram>>) ins(%i : memref<1x1x1x2xi32, #cmdq.space<sram>>) residual(%o : memref<1x1x1x2xi8, #cmdq.space<sram>>) multipliers(%m : memref<2xf32, #cmdq.space<const>>) lut(%t : memref<256xi8, #cmdq.space<const>>) {epilogue = #cmdq.epilogue<lut, residual, per_channel, mid_zp = 1, lo = 2, hi = 3, res_mid_zp = 4, res_zp = 5, out_zp = 6, lo2 = 7, hi2 = 8, function = swish, scale_self = 0.1, scale_res = -0.0, alpha = 0xFF800000, beta = 1.0, flo2 = 0x7FC00001, fhi2 = 2.0>}
}
