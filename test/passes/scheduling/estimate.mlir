// RUN: npu-opt %s --cmdq-insert-waits --cmdq-estimate | FileCheck %s

// 1 MiB in, then half of it out: nothing overlaps.

// CHECK: npu.estimate = {busy = {dma_in = [[IN:[0-9]+]] : i64, dma_out = {{[0-9]+}} : i64, matrix = 0 : i64, vector = 0 : i64}, cycles = {{[0-9]+}} : i64, host_calls = 0 : i64, latency_ms = {{.*}} : f64, mac_efficiency = 0.000000e+00 : f64, macs = 0 : i64}
module attributes {npu.target = #npu.target<"edge">} {
cmdq.program @main attributes {sram_bytes = 1048576 : i64, dram_bytes = 1048576 : i64} {
  %d = cmdq.buffer {offset = 0 : i64} : memref<1048576xi8, #cmdq.space<dram>>
  %e = cmdq.buffer {offset = 0 : i64} : memref<524288xi8, #cmdq.space<dram>>
  %s = cmdq.buffer {offset = 0 : i64} : memref<1048576xi8, #cmdq.space<sram>>
  %t = cmdq.buffer {offset = 0 : i64} : memref<524288xi8, #cmdq.space<sram>>
  cmdq.dma on dma_in outs(%s : memref<1048576xi8, #cmdq.space<sram>>) ins(%d : memref<1048576xi8, #cmdq.space<dram>>)
  cmdq.dma on dma_out outs(%e : memref<524288xi8, #cmdq.space<dram>>) ins(%t : memref<524288xi8, #cmdq.space<sram>>)
}
}
