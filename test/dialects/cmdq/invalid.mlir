// RUN: npu-opt %s -split-input-file -verify-diagnostics

cmdq.program @main {
  %c = cmdq.constant {value = dense<0> : tensor<4xi8>} : memref<4xi8, #cmdq.space<const>>
  // expected-error @+1 {{writes constant memory}}
  cmdq.fill on vector outs(%c : memref<4xi8, #cmdq.space<const>>) {bits = 0 : i64}
}

// -----

cmdq.program @main {
  %c = cmdq.buffer {offset = 0 : i64} : memref<4xi8, strided<[0]>, #cmdq.space<dram>>
  // expected-error @+1 {{has a stride of 0: only inputs broadcast}}
  cmdq.fill on vector outs(%c : memref<4xi8, strided<[0]>, #cmdq.space<dram>>) {bits = 0 : i64}
}

// -----

cmdq.program @main {
  %a = cmdq.alloc : memref<4xi8, #cmdq.space<sram>>
  %t = cmdq.alloc : memref<256xi8, #cmdq.space<sram>>
  // expected-error @+1 {{must be dense and in #cmdq.space<const>}}
  cmdq.lut on vector outs(%a : memref<4xi8, #cmdq.space<sram>>) ins(%a : memref<4xi8, #cmdq.space<sram>>) table(%t : memref<256xi8, #cmdq.space<sram>>)
}

// -----

cmdq.program @main {
  %a = cmdq.alloc : memref<4xi8, #cmdq.space<sram>>
  %b = cmdq.alloc : memref<5xi8, #cmdq.space<sram>>
  // expected-error @+1 {{input has dims of}}
  cmdq.dma on dma_in outs(%a : memref<4xi8, #cmdq.space<sram>>) ins(%b : memref<5xi8, #cmdq.space<sram>>)
}

// -----

cmdq.program @main {
  // expected-error @+1 {{cannot be in space 'const'}}
  %a = cmdq.alloc : memref<4xi8, #cmdq.space<const>>
}

// -----

cmdq.program @main {
  // expected-error @+1 {{the type's own offset must be 0}}
  %a = cmdq.buffer {offset = 0 : i64} : memref<4xi8, strided<[1], offset: 3>, #cmdq.space<dram>>
}

// -----

cmdq.program @main {
  // expected-error @+1 {{must be memref of rank 1 to 6, static shape and strides, in a #cmdq.space}}
  %a = cmdq.alloc : memref<4xi8>
}

// -----

cmdq.program @main {
  // expected-error @+1 {{is on core 1 of a program with 1 core(s)}}
  cmdq.nop on vector {core = 1 : i32}
}

// -----

cmdq.program @main {
  %x = cmdq.alloc : memref<1x4x4x3xf32, #cmdq.space<sram>>
  %w = cmdq.alloc : memref<2x3x3x3xf32, #cmdq.space<sram>>
  %y = cmdq.alloc : memref<1x4x4x2xf32, #cmdq.space<sram>>
  // expected-error @+1 {{output must be [1, 2, 2, C]}}
  cmdq.conv2d on matrix outs(%y : memref<1x4x4x2xf32, #cmdq.space<sram>>) ins(%x, %w : memref<1x4x4x3xf32, #cmdq.space<sram>>, memref<2x3x3x3xf32, #cmdq.space<sram>>) {strides = array<i32: 1, 1>, dilations = array<i32: 1, 1>, pads = array<i32: 0, 0, 0, 0>, epilogue = #cmdq.epilogue<>}
}

// -----

cmdq.program @main {
  %x = cmdq.alloc : memref<1x4x4x3xi8, #cmdq.space<sram>>
  %w = cmdq.alloc : memref<2x1x1x3xi8, #cmdq.space<sram>>
  %y = cmdq.alloc : memref<1x4x4x2xi8, #cmdq.space<sram>>
  // expected-error @+1 {{multipliers must be there exactly when the output is i8}}
  cmdq.conv2d on matrix outs(%y : memref<1x4x4x2xi8, #cmdq.space<sram>>) ins(%x, %w : memref<1x4x4x3xi8, #cmdq.space<sram>>, memref<2x1x1x3xi8, #cmdq.space<sram>>) {strides = array<i32: 1, 1>, dilations = array<i32: 1, 1>, pads = array<i32: 0, 0, 0, 0>, epilogue = #cmdq.epilogue<>}
}

// -----

cmdq.program @main {
  %x = cmdq.alloc : memref<2x3x4xf32, #cmdq.space<sram>>
  %y = cmdq.alloc : memref<2x3x5xf32, #cmdq.space<sram>>
  // expected-error @+1 {{[..,M,N] = [..,M,K] x [..,K,N] does not hold}}
  cmdq.matmul on matrix outs(%y : memref<2x3x5xf32, #cmdq.space<sram>>) ins(%x, %x : memref<2x3x4xf32, #cmdq.space<sram>>, memref<2x3x4xf32, #cmdq.space<sram>>) {epilogue = #cmdq.epilogue<>}
}

// -----

cmdq.program @main {
  // expected-error @+1 {{has 7 waits; a command holds 6}}
  cmdq.nop on vector {waits = [#cmdq.wait<0, 1>, #cmdq.wait<1, 1>, #cmdq.wait<2, 1>, #cmdq.wait<3, 1>, #cmdq.wait<4, 1>, #cmdq.wait<5, 1>, #cmdq.wait<6, 1>]}
}

// -----

cmdq.program @main {
  %o = cmdq.alloc : memref<1x1x1x2xi8, #cmdq.space<sram>>
  %i = cmdq.alloc : memref<1x1x1x2xi32, #cmdq.space<sram>>
  %m = cmdq.constant {value = dense<1.0> : tensor<1xf32>} : memref<1xf32, #cmdq.space<const>>
  %t = cmdq.constant {value = dense<0> : tensor<256xi8>} : memref<256xi8, #cmdq.space<const>>
  // expected-error @+1 {{lut}}
  cmdq.requantize on vector outs(%o : memref<1x1x1x2xi8, #cmdq.space<sram>>) ins(%i : memref<1x1x1x2xi32, #cmdq.space<sram>>) multipliers(%m : memref<1xf32, #cmdq.space<const>>) lut(%t : memref<256xi8, #cmdq.space<const>>) {epilogue = #cmdq.epilogue<lut, wide_lut, lo = -512, hi = 511>}
}

// -----

cmdq.program @main {
  %o = cmdq.alloc : memref<1x1x1x2xi8, #cmdq.space<sram>>
  %i = cmdq.alloc : memref<1x1x1x2xi32, #cmdq.space<sram>>
  %m = cmdq.constant {value = dense<1.0> : tensor<1xf32>} : memref<1xf32, #cmdq.space<const>>
  // expected-error @+1 {{epilogue flag 'wide_lut' needs the operand lut}}
  cmdq.requantize on vector outs(%o : memref<1x1x1x2xi8, #cmdq.space<sram>>) ins(%i : memref<1x1x1x2xi32, #cmdq.space<sram>>) multipliers(%m : memref<1xf32, #cmdq.space<const>>) {epilogue = #cmdq.epilogue<wide_lut, lo = -512, hi = 511>}
}
