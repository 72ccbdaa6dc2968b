// RUN: npu-opt %s -split-input-file --npu-legalize-depthwise --remarks-filter=npu-legalize-depthwise 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: npu-opt %s -split-input-file --npu-legalize-depthwise=force=vector_mac -verify-diagnostics=only-expected | FileCheck %s --check-prefix=MAC

!a = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8<-127:127>:f32:2, {0.5, 0.25, 0.5, 0.25}>

// No i8 depthwise kernel on this target.

// CHECK-LABEL: func.func @pc
// CHECK-NOT: npu.depthwise_conv2d
// CHECK: return
// REMARK: Remark="dw: {{dense in blocks of [0-9]+ group\(s\)|vector_mac}}{{.*}} cycles; instead of native impossible (no depthwise kernel for the type); {{.*}}cycles; expand impossible (no channel multiplier)"

// MAC-LABEL: func.func @pc
// MAC: %[[P:.*]] = npu.pad %arg0 {{.*}} -> tensor<1x10x10x4x
// MAC: %[[S0:.*]] = npu.slice %[[P]] {sizes = array<i64: 1, 4, 4, 4>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 2, 2, 1>}
// MAC: %[[A0:.*]] = npu.vector_mac(%[[S0]], %{{.*}}) :
// MAC: npu.slice %[[P]] {sizes = array<i64: 1, 4, 4, 4>, starts = array<i64: 0, 0, 1, 0>
// MAC: npu.vector_mac(%{{.*}}, %{{.*}}, acc %[[A0]])
// MAC: npu.rescale(%{{.*}}, bias %{{.*}}) {activation = #npu.act<clip{{.*}}scales = array<f32: 2.500000e-02, 1.250000e-02, 2.500000e-02, 1.250000e-02>
module attributes {npu.target = #npu.target<"pc">} {
func.func @pc(%x: tensor<1x8x8x4x!a>) -> tensor<1x4x4x4x!a> {
  %w = npu.constant dense<1> : tensor<3x3x4xi8> -> tensor<3x3x4x!w>
  %b = npu.constant dense<[1, 2, 3, 4]> : tensor<4xi32> -> tensor<4xi32>
  %0 = npu.depthwise_conv2d(%x, %w, bias %b) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, activation = #npu.act<clip, 0.0, 6.0>} : (tensor<1x8x8x4x!a>, tensor<3x3x4x!w>, tensor<4xi32>) -> tensor<1x4x4x4x!a> loc("dw")
  return %0 : tensor<1x4x4x4x!a>
}
}

// -----

!a = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8<-127:127>:f32, 0.5>

// CHECK-LABEL: func.func @edge
// CHECK: npu.depthwise_conv2d
// REMARK: Remark="dw: native {{[0-9]+}} cycles; instead of dense in blocks of
module attributes {npu.target = #npu.target<"edge">} {
func.func @edge(%x: tensor<1x56x56x256x!a>) -> tensor<1x56x56x256x!a> {
  %w = npu.constant dense<1> : tensor<5x5x256xi8> -> tensor<5x5x256x!w>
  %0 = npu.depthwise_conv2d(%x, %w) {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x56x56x256x!a>, tensor<5x5x256x!w>) -> tensor<1x56x56x256x!a> loc("dw")
  return %0 : tensor<1x56x56x256x!a>
}
}
