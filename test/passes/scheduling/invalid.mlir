// RUN: npu-opt %s -split-input-file --cmdq-verify-schedule -verify-diagnostics

cmdq.program @main attributes {sram_bytes = 64 : i64} {
  %a = cmdq.buffer {offset = 0 : i64} : memref<32xi8, #cmdq.space<sram>>
  %b = cmdq.buffer {offset = 16 : i64} : memref<32xi8, #cmdq.space<sram>>
  // expected-note @+1 {{the other command is here (layer 'first')}}
  cmdq.fill on dma_in outs(%a : memref<32xi8, #cmdq.space<sram>>) {bits = 0 : i64, layer = "first"}
  // expected-error @+1 {{command 1 may run together with command 0 of queue 2: both touch bytes 16 to 32 of sram of core 0, and one of them writes; it has to wait for 1 command(s) of that queue (layer 'second')}}
  cmdq.fill on vector outs(%b : memref<32xi8, #cmdq.space<sram>>) {bits = 0 : i64, layer = "second"}
}

// -----

cmdq.program @main attributes {sram_bytes = 64 : i64} {
  %a = cmdq.buffer {offset = 0 : i64} : memref<32xi8, #cmdq.space<sram>>
  // expected-error @+1 {{command 0 waits for 1 command(s) of queue 2, which has fewer of them before it: it would never start}}
  cmdq.fill on vector outs(%a : memref<32xi8, #cmdq.space<sram>>) {bits = 0 : i64, waits = [#cmdq.wait<2, 1>]}
  cmdq.fill on dma_in outs(%a : memref<32xi8, #cmdq.space<sram>>) {bits = 0 : i64}
}

// -----

cmdq.program @main attributes {sram_bytes = 64 : i64} {
  // expected-error @+1 {{bytes 48 to 80 leave the space 'sram' of 64 bytes}}
  %a = cmdq.buffer {offset = 48 : i64} : memref<32xi8, #cmdq.space<sram>>
  cmdq.fill on vector outs(%a : memref<32xi8, #cmdq.space<sram>>) {bits = 0 : i64}
}

// -----

cmdq.program @main attributes {dram_bytes = 64 : i64} {
  // expected-error @+1 {{leave the space 'io' of 0 bytes}}
  %a = cmdq.buffer {offset = 0 : i64, io = 3 : i32} : memref<32xi8, #cmdq.space<io>>
  cmdq.fill on vector outs(%a : memref<32xi8, #cmdq.space<io>>) {bits = 0 : i64}
}

// -----

cmdq.program @main {
  %a = cmdq.alloc : memref<32xi8, #cmdq.space<dram>>
  // expected-error @+1 {{has an operand without an address; run cmdq-plan-memory first}}
  cmdq.fill on vector outs(%a : memref<32xi8, #cmdq.space<dram>>) {bits = 0 : i64}
}
