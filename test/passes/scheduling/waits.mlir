// RUN: npu-opt %s -split-input-file --cmdq-insert-waits --cmdq-verify-schedule | FileCheck %s

// Read after write, write after read; what other waits include is left out.

// CHECK-LABEL: cmdq.program @main
// CHECK-NOT: cmdq.nop
// CHECK: cmdq.dma on dma_in {{.*}}#cmdq.space<dram>>){{$}}
// CHECK: cmdq.unary on vector {{.*}} waits = [#cmdq.wait<2, 1>]}
// CHECK: cmdq.dma on dma_out {{.*}} {waits = [#cmdq.wait<1, 1>]}
// The load overwrites what the vector engine has read.
// CHECK: cmdq.dma on dma_in {{.*}} {waits = [#cmdq.wait<1, 1>]}
// Writes %b, after the store and so after all that it waited for.
// CHECK: cmdq.unary on vector {{.*}} waits = [#cmdq.wait<2, 2>, #cmdq.wait<3, 1>]}
cmdq.program @main attributes {sram_bytes = 128 : i64, dram_bytes = 128 : i64} {
  %a = cmdq.buffer {offset = 0 : i64} : memref<16xf32, #cmdq.space<sram>>
  %b = cmdq.buffer {offset = 64 : i64} : memref<16xf32, #cmdq.space<sram>>
  %d = cmdq.buffer {offset = 0 : i64} : memref<16xf32, #cmdq.space<dram>>
  %e = cmdq.buffer {offset = 64 : i64} : memref<16xf32, #cmdq.space<dram>>
  cmdq.nop on dma_in {waits = [#cmdq.wait<1, 7>]}
  cmdq.dma on dma_in outs(%a : memref<16xf32, #cmdq.space<sram>>) ins(%d : memref<16xf32, #cmdq.space<dram>>) {waits = [#cmdq.wait<1, 7>]}
  cmdq.unary on vector outs(%b : memref<16xf32, #cmdq.space<sram>>) ins(%a : memref<16xf32, #cmdq.space<sram>>) {function = #cmdq<function abs>}
  cmdq.dma on dma_out outs(%e : memref<16xf32, #cmdq.space<dram>>) ins(%b : memref<16xf32, #cmdq.space<sram>>)
  cmdq.dma on dma_in outs(%a : memref<16xf32, #cmdq.space<sram>>) ins(%d : memref<16xf32, #cmdq.space<dram>>)
  cmdq.unary on vector outs(%b : memref<16xf32, #cmdq.space<sram>>) ins(%a : memref<16xf32, #cmdq.space<sram>>) {function = #cmdq<function abs>}
}

// -----

// Interleaved columns do not conflict; a host segment orders everything.

// CHECK-LABEL: cmdq.program @main
// CHECK-NOT: waits
cmdq.program @main attributes {dram_bytes = 64 : i64} {
  %io_ = cmdq.io {index = 0 : i32, name = "x"} : memref<4xi8, #cmdq.space<io>>
  %l = cmdq.buffer {offset = 0 : i64} : memref<8x4xi8, strided<[8, 1]>, #cmdq.space<dram>>
  %r = cmdq.buffer {offset = 4 : i64} : memref<8x4xi8, strided<[8, 1]>, #cmdq.space<dram>>
  %io = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<io>>
  cmdq.fill on vector outs(%l : memref<8x4xi8, strided<[8, 1]>, #cmdq.space<dram>>) {bits = 0 : i64}
  cmdq.fill on dma_in outs(%r : memref<8x4xi8, strided<[8, 1]>, #cmdq.space<dram>>) {bits = 0 : i64}
  cmdq.host_call outs(%io : memref<4xi8, #cmdq.space<io>>) ins(%io : memref<4xi8, #cmdq.space<io>>) {model = "m", nodes = [{name = "n", op = "o", reason = "r", fix = "f"}]}
  cmdq.fill on dma_out outs(%r : memref<8x4xi8, strided<[8, 1]>, #cmdq.space<dram>>) {bits = 0 : i64}
}

// -----

// Seven queues to wait for: six by a nop, one by the command.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.nop on vector {layer = "sum", waits = [#cmdq.wait<2, 1>, #cmdq.wait<6, 1>, #cmdq.wait<10, 1>, #cmdq.wait<14, 1>, #cmdq.wait<18, 1>, #cmdq.wait<22, 1>]}
// CHECK-NEXT: cmdq.fill on vector {{.*}} waits = [#cmdq.wait<26, 1>]}
cmdq.program @main attributes {cores = 7 : i32, dram_bytes = 64 : i64} {
  %0 = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<dram>>
  %1 = cmdq.buffer {offset = 4 : i64} : memref<4xi8, #cmdq.space<dram>>
  %2 = cmdq.buffer {offset = 8 : i64} : memref<4xi8, #cmdq.space<dram>>
  %3 = cmdq.buffer {offset = 12 : i64} : memref<4xi8, #cmdq.space<dram>>
  %4 = cmdq.buffer {offset = 16 : i64} : memref<4xi8, #cmdq.space<dram>>
  %5 = cmdq.buffer {offset = 20 : i64} : memref<4xi8, #cmdq.space<dram>>
  %6 = cmdq.buffer {offset = 24 : i64} : memref<4xi8, #cmdq.space<dram>>
  %all = cmdq.buffer {offset = 0 : i64} : memref<64xi8, #cmdq.space<dram>>
  cmdq.fill on dma_in outs(%0 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64}
  cmdq.fill on dma_in outs(%1 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64, core = 1 : i32}
  cmdq.fill on dma_in outs(%2 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64, core = 2 : i32}
  cmdq.fill on dma_in outs(%3 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64, core = 3 : i32}
  cmdq.fill on dma_in outs(%4 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64, core = 4 : i32}
  cmdq.fill on dma_in outs(%5 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64, core = 5 : i32}
  cmdq.fill on dma_in outs(%6 : memref<4xi8, #cmdq.space<dram>>) {bits = 0 : i64, core = 6 : i32}
  cmdq.fill on vector outs(%all : memref<64xi8, #cmdq.space<dram>>) {bits = 0 : i64, layer = "sum"}
}
