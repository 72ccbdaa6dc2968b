// RUN: npu-opt %s --cmdq-plan-memory | FileCheck %s --check-prefix=SLACK
// RUN: npu-opt %s --cmdq-plan-memory="sram-slack=0" | FileCheck %s --check-prefix=TIGHT

// With room, a buffer's place is not taken at once.

// SLACK: sram_bytes = 128 : i64
// TIGHT: sram_bytes = 64 : i64
module attributes {npu.target = #npu.target<"edge">} {
cmdq.program @main {
  %a = cmdq.alloc : memref<64xi8, #cmdq.space<sram>>
  %b = cmdq.alloc : memref<64xi8, #cmdq.space<sram>>
  cmdq.fill on vector outs(%a : memref<64xi8, #cmdq.space<sram>>) {bits = 0 : i64}
  cmdq.fill on vector outs(%b : memref<64xi8, #cmdq.space<sram>>) {bits = 0 : i64}
}
}
