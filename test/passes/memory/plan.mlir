// RUN: npu-opt %s -split-input-file --cmdq-plan-memory | FileCheck %s

// %a is dead when %c is born, so they share an address; views have offsets of
// their own; equal constants are there once, unused ones not at all.

// CHECK-LABEL: cmdq.program @main
// CHECK-SAME: dram_bytes = 256 : i64, npu.dram_lower_bound = 200 : i64, sram_bytes = 0 : i64
// CHECK-NOT: cmdq.alloc
// CHECK: cmdq.io {index = 0 : i32, name = "x"}
// CHECK: cmdq.io {index = 1 : i32, is_output, name = "y"}
// CHECK: cmdq.constant {offset = 0 : i64, value = dense<1> : tensor<100xi8>}
// CHECK: cmdq.constant {offset = 128 : i64, value = dense<2> : tensor<100xi8>}
// CHECK: cmdq.constant {offset = 0 : i64, value = dense<1> : tensor<100xi8>}
// CHECK-NOT: cmdq.constant
// CHECK: %[[A:.*]] = cmdq.buffer {offset = {{.*}} : i64} : memref<100xi8, #cmdq.space<dram>>
// CHECK: %[[X:.*]] = cmdq.buffer {offset = 0 : i64} : memref<100xi8, #cmdq.space<io>>
// CHECK: cmdq.dma on dma_in outs(%[[A]] : {{.*}} ins(%[[X]]
// CHECK: %[[B:.*]] = cmdq.buffer {offset = {{.*}} : i64} : memref<100xi8, #cmdq.space<dram>>
// CHECK: cmdq.binary on vector outs(%[[B]]
// CHECK: cmdq.binary on vector outs(%[[B]] {{.*}} ins(%[[B]],
// CHECK: cmdq.binary on vector outs(%[[A]] {{.*}} ins(%[[B]],
// CHECK: cmdq.buffer {io = 1 : i32, offset = 0 : i64} : memref<10x2xi8, strided<[10, 1]>, #cmdq.space<io>>
// CHECK: cmdq.buffer {offset = {{.*}} : i64} : memref<10x2xi8, strided<[10, 1]>, #cmdq.space<dram>>
cmdq.program @main {
  %x = cmdq.io {index = 0 : i32, name = "x"} : memref<100xi8, #cmdq.space<io>>
  %y = cmdq.io {index = 1 : i32, is_output, name = "y"} : memref<100xi8, #cmdq.space<io>>
  %k = cmdq.constant {value = dense<1> : tensor<100xi8>} : memref<100xi8, #cmdq.space<const>>
  %l = cmdq.constant {value = dense<2> : tensor<100xi8>} : memref<100xi8, #cmdq.space<const>>
  %m = cmdq.constant {value = dense<1> : tensor<100xi8>} : memref<100xi8, #cmdq.space<const>>
  %n = cmdq.constant {value = dense<3> : tensor<100xi8>} : memref<100xi8, #cmdq.space<const>>
  %a = cmdq.alloc : memref<100xi8, #cmdq.space<dram>>
  %b = cmdq.alloc : memref<100xi8, #cmdq.space<dram>>
  %c = cmdq.alloc : memref<100xi8, #cmdq.space<dram>>
  cmdq.dma on dma_in outs(%a : memref<100xi8, #cmdq.space<dram>>) ins(%x : memref<100xi8, #cmdq.space<io>>)
  cmdq.binary on vector outs(%b : memref<100xi8, #cmdq.space<dram>>) ins(%a, %k : memref<100xi8, #cmdq.space<dram>>, memref<100xi8, #cmdq.space<const>>) {kind = #cmdq<binary_kind add>}
  cmdq.binary on vector outs(%b : memref<100xi8, #cmdq.space<dram>>) ins(%b, %l : memref<100xi8, #cmdq.space<dram>>, memref<100xi8, #cmdq.space<const>>) {kind = #cmdq<binary_kind add>}
  cmdq.binary on vector outs(%c : memref<100xi8, #cmdq.space<dram>>) ins(%b, %m : memref<100xi8, #cmdq.space<dram>>, memref<100xi8, #cmdq.space<const>>) {kind = #cmdq<binary_kind add>}
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [10, 2], strides: [10, 1] : memref<100xi8, #cmdq.space<io>> to memref<10x2xi8, strided<[10, 1]>, #cmdq.space<io>>
  %w = memref.reinterpret_cast %c to offset: [8], sizes: [10, 2], strides: [10, 1] : memref<100xi8, #cmdq.space<dram>> to memref<10x2xi8, strided<[10, 1], offset: 8>, #cmdq.space<dram>>
  cmdq.dma on dma_out outs(%v : memref<10x2xi8, strided<[10, 1]>, #cmdq.space<io>>) ins(%w : memref<10x2xi8, strided<[10, 1], offset: 8>, #cmdq.space<dram>>)
}

// -----

// Each core has its own SRAM; a host call keeps its buffers alive.

// CHECK-LABEL: cmdq.program @main
// CHECK-SAME: dram_bytes = 128 : i64
// CHECK-SAME: sram_bytes = 64 : i64
// CHECK: cmdq.buffer {offset = 0 : i64} : memref<64xi8, #cmdq.space<sram>>
// CHECK: cmdq.buffer {core = 1 : i32, offset = 0 : i64} : memref<64xi8, #cmdq.space<sram>>
// CHECK: cmdq.host_call
cmdq.program @main attributes {cores = 2 : i32} {
  %s = cmdq.alloc : memref<64xi8, #cmdq.space<sram>>
  %t = cmdq.alloc {core = 1 : i32} : memref<64xi8, #cmdq.space<sram>>
  %d = cmdq.alloc : memref<64xi8, #cmdq.space<dram>>
  %e = cmdq.alloc : memref<64xi8, #cmdq.space<dram>>
  cmdq.fill on vector outs(%s : memref<64xi8, #cmdq.space<sram>>) {bits = 0 : i64}
  cmdq.fill on vector outs(%t : memref<64xi8, #cmdq.space<sram>>) {bits = 0 : i64, core = 1 : i32}
  cmdq.dma on dma_out outs(%d : memref<64xi8, #cmdq.space<dram>>) ins(%s : memref<64xi8, #cmdq.space<sram>>)
  cmdq.host_call outs(%e : memref<64xi8, #cmdq.space<dram>>) ins(%d : memref<64xi8, #cmdq.space<dram>>) {model = "m", nodes = [{name = "n", op = "o", reason = "r", fix = "f"}]}
}
