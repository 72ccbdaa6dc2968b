// RUN: npu-opt %s --cmdq-prefetch -verify-diagnostics

cmdq.program @main attributes {dram_bytes = 64 : i64} {
  // expected-error @+1 {{has an address already; run cmdq-prefetch before cmdq-plan-memory}}
  %d = cmdq.buffer {offset = 0 : i64} : memref<16xf32, #cmdq.space<dram>>
  cmdq.fill on vector outs(%d : memref<16xf32, #cmdq.space<dram>>) {bits = 0 : i64}
}
