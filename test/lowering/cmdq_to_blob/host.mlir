// Host segments before, between and after the commands: to a blob, back, and to
// a blob again, which is the same to the byte.
// RUN: npu-translate --npu-to-blob %s -o %t.1
// RUN: npu-translate --blob-to-npu %t.1 -o %t.mlir
// RUN: npu-translate --npu-to-blob %t.mlir -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: FileCheck %s < %t.mlir

// CHECK-LABEL: cmdq.program @host
// CHECK: cmdq.host_call outs(%[[A:.*]] : memref<4xf32, #cmdq.space<dram>>) ins(%{{.*}} : memref<2x2xf32, #cmdq.space<io>>) {model = "\01two", nodes = [{fix = "f", macs = 5 : i64, name = "n", op = "Odd", reason = "r"}]}
// CHECK: cmdq.unary
// CHECK: cmdq.host_call outs(%{{.*}} : memref<4xi64, #cmdq.space<dram>>) {model = "m", nodes = []}
// CHECK: cmdq.host_call
// CHECK: cmdq.unary
// CHECK: cmdq.host_call
cmdq.program @host attributes {sram_bytes = 0 : i64, dram_bytes = 64 : i64} {
  %x_ = cmdq.io {index = 0 : i32, name = "x"} : memref<2x2xf32, #cmdq.space<io>>
  %y_ = cmdq.io {index = 1 : i32, name = "y", is_output} : memref<4xf32, #cmdq.space<io>>
  %x = cmdq.buffer {offset = 0 : i64} : memref<2x2xf32, #cmdq.space<io>>
  %y = cmdq.buffer {offset = 0 : i64, io = 1 : i32} : memref<4xf32, #cmdq.space<io>>
  %a = cmdq.buffer {offset = 0 : i64} : memref<4xf32, #cmdq.space<dram>>
  %b = cmdq.buffer {offset = 16 : i64} : memref<4xf32, #cmdq.space<dram>>
  %c = cmdq.buffer {offset = 32 : i64} : memref<4xi64, #cmdq.space<dram>>
  cmdq.host_call outs(%a : memref<4xf32, #cmdq.space<dram>>) ins(%x : memref<2x2xf32, #cmdq.space<io>>) {model = "\01two", nodes = [{name = "n", op = "Odd", reason = "r", fix = "f", macs = 5 : i64}]}
  cmdq.unary on vector outs(%b : memref<4xf32, #cmdq.space<dram>>) ins(%a : memref<4xf32, #cmdq.space<dram>>) {function = #cmdq<function exp>, alpha = 0.0 : f32, beta = 0.0 : f32}
  cmdq.host_call outs(%c : memref<4xi64, #cmdq.space<dram>>) {model = "m", nodes = []}
  cmdq.host_call outs(%a : memref<4xf32, #cmdq.space<dram>>) ins(%b : memref<4xf32, #cmdq.space<dram>>) {model = "m", nodes = []}
  cmdq.unary on vector outs(%b : memref<4xf32, #cmdq.space<dram>>) ins(%a : memref<4xf32, #cmdq.space<dram>>) {function = #cmdq<function exp>, alpha = 0.0 : f32, beta = 0.0 : f32}
  cmdq.host_call outs(%y : memref<4xf32, #cmdq.space<io>>) ins(%b : memref<4xf32, #cmdq.space<dram>>) {model = "m", nodes = []}
}
