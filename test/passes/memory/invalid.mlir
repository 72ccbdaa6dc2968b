// RUN: npu-opt %s -split-input-file --cmdq-plan-memory -verify-diagnostics

module attributes {npu.target = #npu.target<{base="edge", name="tiny", memory={sram_bytes=4096}}>} {
cmdq.program @main {
  %a = cmdq.alloc : memref<3000xi8, #cmdq.space<sram>>
  %b = cmdq.alloc : memref<3000xi8, #cmdq.space<sram>>
  // expected-error @+1 {{layer 'relu1' needs 6016 bytes of SRAM on core 0 (6000 of them live at once), but target 'tiny' has 4096}}
  cmdq.dma on vector outs(%a : memref<3000xi8, #cmdq.space<sram>>) ins(%b : memref<3000xi8, #cmdq.space<sram>>) {layer = "relu1"}
}
}

// -----

cmdq.program @main attributes {cores = 2 : i32} {
  %a = cmdq.alloc {core = 1 : i32} : memref<4xi8, #cmdq.space<sram>>
  // expected-error @+1 {{cannot reach the SRAM of core 1; a command uses the SRAM of its own core only}}
  cmdq.fill on vector outs(%a : memref<4xi8, #cmdq.space<sram>>) {bits = 0 : i64}
}

// -----

// expected-error @+1 {{mixes planned and unplanned buffers}}
cmdq.program @main {
  %a = cmdq.alloc : memref<4xi8, #cmdq.space<dram>>
  %b = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<dram>>
  cmdq.dma on dma_in outs(%a : memref<4xi8, #cmdq.space<dram>>) ins(%b : memref<4xi8, #cmdq.space<dram>>)
}
