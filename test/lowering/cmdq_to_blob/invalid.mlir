// What cannot be put into a blob, and why.
// RUN: not npu-translate --npu-to-blob --split-input-file %s -o %t 2>&1 | FileCheck %s

// CHECK: error: a blob holds one cmdq.program, the module has 0; run npu-backend-pipeline on the npu dialect first
module {}

// -----

// CHECK: error: a blob holds one cmdq.program, the module has 2
cmdq.program @a {}
cmdq.program @b {}

// -----

// CHECK: error: has no memory plan (sram_bytes, dram_bytes); run cmdq-plan-memory first
cmdq.program @sizes {}

// -----

// Not planned: a buffer without an address.
// CHECK: error: 'cmdq.alloc' op is not of the planned form; run cmdq-plan-memory
cmdq.program @alloc attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %a = cmdq.alloc : memref<4xi8, #cmdq.space<sram>>
  cmdq.fill on vector outs(%a : memref<4xi8, #cmdq.space<sram>>) {bits = 0}
}

// -----

// CHECK: error: 'cmdq.fill' op operand 'memref<4xi8, #cmdq.space<io>>' has no address; run cmdq-plan-memory first
cmdq.program @io attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %y = cmdq.io {index = 0 : i32, name = "y", is_output} : memref<4xi8, #cmdq.space<io>>
  cmdq.fill on vector outs(%y : memref<4xi8, #cmdq.space<io>>) {bits = 0}
}

// -----

// CHECK: error: 'cmdq.constant' op has no offset; run cmdq-plan-memory
cmdq.program @constant attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %c = cmdq.constant {value = dense<0> : tensor<4xi8>} : memref<4xi8, #cmdq.space<const>>
}

// -----

// CHECK: error: 'cmdq.constant' op offset 9223372036854775807 leaves a gap in the constants that no alignment explains; run cmdq-plan-memory
cmdq.program @far attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %b = cmdq.constant {offset = 4 : i64, value = dense<0> : tensor<4xi8>} : memref<4xi8, #cmdq.space<const>>
  %c = cmdq.constant {offset = 9223372036854775807 : i64, value = dense<0> : tensor<4xi8>} : memref<4xi8, #cmdq.space<const>>
}

// -----

// CHECK: error: 'cmdq.host_call' op node {name = "n"} must have name, op, reason and fix
cmdq.program @host attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %x = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<io>>
  cmdq.host_call outs(%x : memref<4xi8, #cmdq.space<io>>) ins(%x : memref<4xi8, #cmdq.space<io>>) {model = "m", nodes = [{name = "n"}]}
}

// -----

// CHECK: error: the blob: host segment 0: a tensor lies neither in the arena nor in a bound tensor
cmdq.program @host attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %x = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<io>>
  cmdq.host_call outs(%x : memref<4xi8, #cmdq.space<io>>) ins(%x : memref<4xi8, #cmdq.space<io>>) {model = "m", nodes = [{name = "n", op = "o", reason = "r", fix = "f"}]}
}

// -----

// CHECK: error: 'cmdq.io' op index 1 is out of order: inputs first, then outputs
cmdq.program @order attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %x = cmdq.io {index = 1 : i32, name = "x"} : memref<4xi8, #cmdq.space<io>>
}

// -----

// CHECK: error: npu.info: 'note' must be a string
module attributes {npu.info = {note = 3}} {
  cmdq.program @info attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {}
}

// -----

// What the runtime would refuse is not written: an address outside the memory,
// a wait for a queue that is not there, a race.
// CHECK: error: the blob: command 0: output: bytes 0 to 4 leave a space of 2
cmdq.program @small attributes {sram_bytes = 2 : i64, dram_bytes = 0 : i64} {
  %y = cmdq.io {index = 0 : i32, name = "y", is_output} : memref<4xi8, #cmdq.space<io>>
  %a = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<sram>>
  cmdq.fill on vector outs(%a : memref<4xi8, #cmdq.space<sram>>) {bits = 0}
}

// -----

// CHECK: error: the blob: command 0: waits for unknown queue 9
cmdq.program @queue attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %y = cmdq.io {index = 0 : i32, name = "y", is_output} : memref<4xi8, #cmdq.space<io>>
  %a = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<io>>
  cmdq.fill on vector outs(%a : memref<4xi8, #cmdq.space<io>>) {bits = 0, waits = [#cmdq.wait<9, 1>]}
}

// -----

// CHECK: error: the blob: command 1 may run together with command 0 of queue 1: both touch bytes 0 to 4 of sram of core 0
cmdq.program @race attributes {sram_bytes = 64 : i64, dram_bytes = 0 : i64} {
  %y = cmdq.io {index = 0 : i32, name = "y", is_output} : memref<4xi8, #cmdq.space<io>>
  %a = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<sram>>
  %b = cmdq.buffer {offset = 0 : i64} : memref<4xi8, #cmdq.space<io>>
  cmdq.fill on vector outs(%a : memref<4xi8, #cmdq.space<sram>>) {bits = 0}
  cmdq.dma on dma_out outs(%b : memref<4xi8, #cmdq.space<io>>) ins(%a : memref<4xi8, #cmdq.space<sram>>)
}
