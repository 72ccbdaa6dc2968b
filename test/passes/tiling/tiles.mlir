// RUN: npu-opt %s -split-input-file --npu-tile=resident=false | FileCheck %s

// Row tiles of a 3x3 convolution overlap by the halo; only the outer ones keep
// the padding.

!qi = !quant.uniform<i8:f32, 0.1:-3>
!qo = !quant.uniform<i8:f32, 0.2:5>
!qw = !quant.uniform<i8<-127:127>:f32:0, {0.01,0.02}>

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [1, 5, 64, 3]
// CHECK: npu.conv2d(%[[A]], {{.*}} pads = array<i64: 1, 1, 0, 1>
// CHECK-NOT: npu.tensor
// CHECK: tensor.insert_slice {{.*}}[0, 0, 0, 0] [1, 4, 64, 2]
// CHECK: %[[B:.*]] = tensor.extract_slice %arg0[0, 3, 0, 0] [1, 6, 64, 3]
// CHECK: npu.conv2d(%[[B]], {{.*}} pads = array<i64: 0, 1, 0, 1>
// CHECK: tensor.insert_slice {{.*}}[0, 4, 0, 0] [1, 4, 64, 2]
// CHECK: %[[C:.*]] = tensor.extract_slice %arg0[0, 7, 0, 0] [1, 5, 64, 3]
// CHECK: npu.conv2d(%[[C]], {{.*}} pads = array<i64: 0, 1, 1, 1>
// CHECK: %[[R:.*]] = tensor.insert_slice {{.*}}[0, 8, 0, 0] [1, 4, 64, 2]
// CHECK: return %[[R]]
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x12x64x3x!qi>) -> tensor<1x12x64x2x!qo> {
  %w = npu.constant dense<1> : tensor<2x3x3x3xi8> -> tensor<2x3x3x3x!qw>
  %b = npu.constant dense<[7, 8]> : tensor<2xi32> -> tensor<2xi32>
  %c = npu.conv2d(%x, %w, bias %b) {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, npu.tensor = "c"} : (tensor<1x12x64x3x!qi>, tensor<2x3x3x3x!qw>, tensor<2xi32>) -> tensor<1x12x64x2x!qo>
  return %c : tensor<1x12x64x2x!qo>
}
}

// -----

// Strided and dilated windows, and a last tile that is smaller.

// CHECK-LABEL: func.func @main
// CHECK: npu.depthwise_conv2d({{.*}} pads = array<i64: 1, 1, 0, 0>
// CHECK: npu.depthwise_conv2d({{.*}} pads = array<i64: 0, 1, 0, 0>
// CHECK: npu.depthwise_conv2d({{.*}} pads = array<i64: 0, 1, 1, 0>
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x27x16x4xf32>) -> tensor<1x13x8x4xf32> {
  %w = npu.constant dense<1.0> : tensor<3x3x4xf32> -> tensor<3x3x4xf32>
  %c = npu.depthwise_conv2d(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 2, 0>, dilations = array<i64: 2, 1>} : (tensor<1x27x16x4xf32>, tensor<3x3x4xf32>) -> tensor<1x13x8x4xf32>
  return %c : tensor<1x13x8x4xf32>
}
}

// -----

// Weights larger than the SRAM: output channels are cut, the constant too, with
// its scales.

!qi = !quant.uniform<i8:f32, 0.1:-3>
!qo = !quant.uniform<i8:f32, 0.2:5>
!qw = !quant.uniform<i8<-127:127>:f32:0, {0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2.0,2.1,2.2,2.3,2.4}>

// CHECK-LABEL: func.func @main
// CHECK: npu.constant dense<1> : tensor<8x160xi8> -> tensor<8x160x!quant.uniform<i8<-127:127>:f32:0, {1.000000e-01,{{.*}},8.000000e-01}>>
// CHECK: %[[B:.*]] = tensor.extract_slice %{{.*}}[0] [8] [1] : tensor<24xi32> to tensor<8xi32>
// CHECK: npu.fully_connected(%arg0, %{{.*}}, bias %[[B]])
// CHECK: npu.constant {{.*}} {9.000000e-01,1.000000e+00,
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x160x!qi>) -> tensor<1x24x!qo> {
  %w = npu.constant dense<1> : tensor<24x160xi8> -> tensor<24x160x!qw>
  %b = npu.constant dense<3> : tensor<24xi32> -> tensor<24xi32>
  %c = npu.fully_connected(%x, %w, bias %b) : (tensor<1x160x!qi>, tensor<24x160x!qw>, tensor<24xi32>) -> tensor<1x24x!qo>
  return %c : tensor<1x24x!qo>
}
}

// -----

// Groups: a tile of output channels takes the input channels of its groups.

// CHECK-LABEL: func.func @main
// CHECK-DAG: tensor.extract_slice %arg0[0, 0, 0, 0] [1, 1, {{[0-9]+}}, 16]
// CHECK-DAG: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [16, 1, 1, 16]
// CHECK-NOT: groups
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 16] [1, 1, {{[0-9]+}}, 16]
// CHECK: tensor.extract_slice %{{.*}}[16, 0, 0, 0] [16, 1, 1, 16]
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x1x16x64xf32>) -> tensor<1x1x16x64xf32> {
  %w = npu.constant dense<1.0> : tensor<64x1x1x16xf32> -> tensor<64x1x1x16xf32>
  %c = npu.conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x1x16x64xf32>, tensor<64x1x1x16xf32>) -> tensor<1x1x16x64xf32>
  return %c : tensor<1x1x16x64xf32>
}
}

// -----

// Softmax is never cut along its axis; broadcast operands keep their
// dimensions of 1.

// CHECK-LABEL: func.func @main
// CHECK: npu.softmax %{{.*}} : (tensor<1x1x300xf32>)
// CHECK: npu.softmax
// CHECK: npu.add %{{.*}}, %{{.*}} : (tensor<1x[[N:[0-9]+]]x{{[0-9]+}}xf32>, tensor<[[N]]x1xf32>)
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x8x300xf32>, %y: tensor<8x1xf32>) -> (tensor<1x8x300xf32>, tensor<1x8x300xf32>) {
  %0 = npu.softmax %x {axis = 2 : i64} : (tensor<1x8x300xf32>) -> tensor<1x8x300xf32>
  %1 = npu.add %x, %y : (tensor<1x8x300xf32>, tensor<8x1xf32>) -> tensor<1x8x300xf32>
  return %0, %1 : tensor<1x8x300xf32>, tensor<1x8x300xf32>
}
}

// -----

// A tile of a resize knows where it lies in the whole.

// CHECK-LABEL: func.func @main
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 0] [1, 5, 8, 2]
// CHECK: npu.resize {{.*}} npu.window = array<i64: 0, 16, 0, 32, 0, 8, 0, 16>, {{.*}} sizes = array<i64: 8, 16>
// CHECK: tensor.extract_slice %arg0[0, 3, 0, 0] [1, 6, 8, 2]
// CHECK: npu.resize {{.*}} npu.window = array<i64: 3, 16, 8, 32, 0, 8, 0, 16>
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x16x8x2xf32>) -> tensor<1x32x16x2xf32> {
  %0 = npu.resize %x {mode = #npu<resize_mode linear>, coordinate_mode = #npu<coordinate_mode half_pixel>, nearest_mode = #npu<nearest_mode floor>, sizes = array<i64: 32, 16>, scales = array<f32: 2.0, 2.0>} : (tensor<1x16x8x2xf32>) -> tensor<1x32x16x2xf32>
  return %0 : tensor<1x32x16x2xf32>
}
}

// -----

// A global average reads all rows of its tile of channels.

// CHECK-LABEL: func.func @main
// CHECK: tensor.extract_slice %arg0[0, 0, 0, 16] [1, 4, 4, 16]
// CHECK: npu.reduce_mean {{.*}} -> tensor<1x16xf32>
module attributes {npu.target = #npu.target<{base="micro", name="tiny", memory={sram_bytes=4096}}>} {
func.func @main(%x: tensor<1x4x4x96xf32>) -> tensor<1x96xf32> {
  %0 = npu.reduce_mean %x {axes = array<i64: 1, 2>, keepdims = false} : (tensor<1x4x4x96xf32>) -> tensor<1x96xf32>
  return %0 : tensor<1x96xf32>
}
}

// -----

// Unified memory: nothing to do.

// CHECK-LABEL: func.func @main
// CHECK-NOT: slice
// CHECK: return
module attributes {npu.target = #npu.target<"host">} {
func.func @main(%x: tensor<1x4000x4000x96xf32>) -> tensor<1x4000x4000x96xf32> {
  %0 = npu.relu %x : (tensor<1x4000x4000x96xf32>) -> tensor<1x4000x4000x96xf32>
  return %0 : tensor<1x4000x4000x96xf32>
}
}
