// RUN: npu-opt %s -split-input-file --cmdq-estimate -verify-diagnostics

module attributes {npu.target = #npu.target<"edge">} {
// expected-error @+1 {{command 0 never starts}}
cmdq.program @main attributes {dram_bytes = 64 : i64} {
  %d = cmdq.buffer {offset = 0 : i64} : memref<16xi8, #cmdq.space<dram>>
  cmdq.fill on vector outs(%d : memref<16xi8, #cmdq.space<dram>>) {bits = 0 : i64, waits = [#cmdq.wait<0, 1>]}
}
}

// -----

module attributes {npu.target = #npu.target<"edge">} {
cmdq.program @main {
  %a = cmdq.alloc : memref<32xi8, #cmdq.space<dram>>
  // expected-error @+1 {{has an operand without an address; run cmdq-plan-memory first}}
  cmdq.fill on vector outs(%a : memref<32xi8, #cmdq.space<dram>>) {bits = 0 : i64}
}
}
