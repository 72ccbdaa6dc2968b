// RUN: npu-opt %s -split-input-file --cmdq-prefetch | FileCheck %s
// RUN: npu-opt %s -split-input-file --cmdq-prefetch="lookahead=0" | FileCheck %s --check-prefix=OFF

// The second load passes the first computation (and takes its alloc along), the
// load of what the computation stores does not.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.dma on dma_in outs(%[[A:[0-9a-z]+]] :
// CHECK: cmdq.dma on dma_in outs(%[[B:[0-9a-z]+]] :
// CHECK: cmdq.unary on vector outs(%[[A]] :
// CHECK: cmdq.dma on dma_out outs(%[[D:[0-9a-z]+]] : {{.*}} ins(%[[A]] :
// CHECK: cmdq.dma on dma_in {{.*}} ins(%[[D]] :
// CHECK: cmdq.unary on vector outs(%[[B]] :
// OFF-LABEL: cmdq.program @main
// OFF: cmdq.dma on dma_in
// OFF: cmdq.unary on vector
// OFF: cmdq.dma on dma_in
module attributes {npu.target = #npu.target<"edge">} {
cmdq.program @main {
  %x = cmdq.io {index = 0 : i32, name = "x"} : memref<16xf32, #cmdq.space<io>>
  %d = cmdq.alloc : memref<16xf32, #cmdq.space<dram>>
  %a = cmdq.alloc : memref<16xf32, #cmdq.space<sram>>
  cmdq.dma on dma_in outs(%a : memref<16xf32, #cmdq.space<sram>>) ins(%x : memref<16xf32, #cmdq.space<io>>)
  cmdq.unary on vector outs(%a : memref<16xf32, #cmdq.space<sram>>) ins(%a : memref<16xf32, #cmdq.space<sram>>) {function = #cmdq<function abs>}
  cmdq.dma on dma_out outs(%d : memref<16xf32, #cmdq.space<dram>>) ins(%a : memref<16xf32, #cmdq.space<sram>>)
  %b = cmdq.alloc : memref<16xf32, #cmdq.space<sram>>
  cmdq.dma on dma_in outs(%b : memref<16xf32, #cmdq.space<sram>>) ins(%x : memref<16xf32, #cmdq.space<io>>)
  cmdq.unary on vector outs(%b : memref<16xf32, #cmdq.space<sram>>) ins(%b : memref<16xf32, #cmdq.space<sram>>) {function = #cmdq<function neg>}
  %c = cmdq.alloc : memref<16xf32, #cmdq.space<sram>>
  cmdq.dma on dma_in outs(%c : memref<16xf32, #cmdq.space<sram>>) ins(%d : memref<16xf32, #cmdq.space<dram>>)
  cmdq.unary on vector outs(%c : memref<16xf32, #cmdq.space<sram>>) ins(%c : memref<16xf32, #cmdq.space<sram>>) {function = #cmdq<function abs>}
}
}

// -----

// No room for both buffers at once: the load stays behind.

// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.dma on dma_in
// CHECK: cmdq.unary on vector
// CHECK: cmdq.dma on dma_in
module attributes {npu.target = #npu.target<{base="edge", name="tiny", memory={sram_bytes=4096}}>} {
cmdq.program @main {
  %x = cmdq.io {index = 0 : i32, name = "x"} : memref<600xf32, #cmdq.space<io>>
  %a = cmdq.alloc : memref<600xf32, #cmdq.space<sram>>
  %b = cmdq.alloc : memref<600xf32, #cmdq.space<sram>>
  cmdq.dma on dma_in outs(%a : memref<600xf32, #cmdq.space<sram>>) ins(%x : memref<600xf32, #cmdq.space<io>>)
  cmdq.unary on vector outs(%a : memref<600xf32, #cmdq.space<sram>>) ins(%a : memref<600xf32, #cmdq.space<sram>>) {function = #cmdq<function abs>}
  cmdq.dma on dma_in outs(%b : memref<600xf32, #cmdq.space<sram>>) ins(%x : memref<600xf32, #cmdq.space<io>>)
  cmdq.unary on vector outs(%b : memref<600xf32, #cmdq.space<sram>>) ins(%b : memref<600xf32, #cmdq.space<sram>>) {function = #cmdq<function neg>}
}
}
