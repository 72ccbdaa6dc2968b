// RUN: npu-opt --split-input-file --npu-split-channels %s | FileCheck %s
// RUN: npu-opt --split-input-file --npu-split-channels=max-groups=1 %s | FileCheck %s --check-prefix=ONE
// RUN: npu-opt --split-input-file --npu-split-channels=gain=4 %s | FileCheck %s --check-prefix=ONE
// RUN: npu-opt --split-input-file --npu-split-channels --remark-format=emitRemark --remarks-filter="npu-split-channels" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Channel 1 is 64 times as large as channel 0: each gets its part of all
// constants, of what is known, and a range of its own; the last function's
// results are joined at one scale. The channels changed places.
// CHECK-LABEL: func @split
// CHECK: %[[W1:.*]] = npu.constant dense<{{\[\[}}3.000000e+00, 4.000000e+00]]>
// CHECK: %[[B1:.*]] = npu.constant dense<2.000000e+00> : tensor<1xf32>
// CHECK: %[[C1:.*]] = npu.fully_connected(%arg0, %[[W1]], bias %[[B1]]) {{.*}}npu.range = array<f64: -6.400000e+01, 6.400000e+01>
// CHECK: %[[S1:.*]] = npu.swish %[[C1]] {{.*}}npu.mean = array<f64: 8.000000e+00>, npu.range = array<f64: -2.500000e-01, 6.400000e+01>
// CHECK: %[[D1:.*]] = npu.constant dense<6.000000e+00> : tensor<1x1x1xf32>
// CHECK: npu.depthwise_conv2d(%[[S1]], %[[D1]])
// CHECK: %[[R1:.*]] = npu.hard_swish {{.*}}npu.range = array<f64: 0.000000e+00, 6.400000e+01>
// CHECK: %[[W0:.*]] = npu.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]>
// CHECK: %[[B0:.*]] = npu.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK: %[[C0:.*]] = npu.fully_connected(%arg0, %[[W0]], bias %[[B0]]) {{.*}}npu.range = array<f64: -1.000000e+00, 1.000000e+00>
// CHECK: %[[S0:.*]] = npu.swish %[[C0]] {{.*}}npu.mean = array<f64: 5.000000e-01>, npu.range = array<f64: -2.500000e-01, 1.000000e+00>
// CHECK: %[[D0:.*]] = npu.constant dense<5.000000e+00> : tensor<1x1x1xf32>
// CHECK: npu.depthwise_conv2d(%[[S0]], %[[D0]]) {{.*}}npu.range = array<f64: -1.000000e+00, 1.000000e+00>
// CHECK: %[[R0:.*]] = npu.hard_swish {{.*}}npu.range = array<f64: 0.000000e+00, 6.400000e+01>
// CHECK: %[[J:.*]] = npu.concat %[[R1]], %[[R0]] {axis = 3 : i64, {{.*}}npu.tensor = "r"
// CHECK: %[[G:.*]] = npu.constant dense<[8.000000e+00, 7.000000e+00]>
// CHECK: %[[M:.*]] = npu.mul %[[J]], %[[G]]
// CHECK: %[[W:.*]] = npu.constant dense<{{\[\[}}2.000000e+00, 1.000000e+00], [4.000000e+00, 3.000000e+00]]>
// CHECK: npu.fully_connected(%[[M]], %[[W]])
// ONE-LABEL: func @split
// ONE-NOT: npu.concat
// REMARK: remark: {{.*}}groups of 1, 1 channels with scales of their own: they lose 0.0 bits a channel, before {{2.[0-9]|3.0}}
func.func @split(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = npu.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %b = npu.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %d = npu.constant dense<[[[5.0, 6.0]]]> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %g = npu.constant dense<[7.0, 8.0]> : tensor<2xf32> -> tensor<2xf32>
  %0 = npu.fully_connected(%x, %w, bias %b) {npu.tensor = "c", npu.range = array<f64: -64.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -64.0, 64.0>} : (tensor<1x2x2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = npu.swish %0 {npu.tensor = "s", npu.range = array<f64: -0.25, 64.0>, npu.mean = array<f64: 0.5, 8.0>, npu.channel_range = array<f64: -0.25, 1.0, -0.25, 64.0>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = npu.depthwise_conv2d(%1, %d) {npu.range = array<f64: -8.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -8.0, 64.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = npu.hard_swish %2 {npu.tensor = "r", npu.range = array<f64: 0.0, 64.0>, npu.channel_range = array<f64: 0.0, 1.0, 0.0, 64.0>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %4 = npu.mul %3, %g : (tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %5 = npu.fully_connected(%4, %w) : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  return %5 : tensor<1x2x2x2xf32>
}

// -----

// Equalisation's business (relu), another reader, a result whose order a
// caller sees: as they were.
// CHECK-LABEL: func @not
// CHECK-NOT: npu.concat
// ONE-LABEL: func @not
func.func @not(%x: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %w = npu.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
  %d = npu.constant dense<[[[5.0, 6.0]]]> : tensor<1x1x2xf32> -> tensor<1x1x2xf32>
  %0 = npu.fully_connected(%x, %w) {npu.range = array<f64: -64.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -64.0, 64.0>} : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = npu.relu %0 {npu.range = array<f64: 0.0, 64.0>, npu.channel_range = array<f64: 0.0, 1.0, 0.0, 64.0>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = npu.depthwise_conv2d(%1, %d) {npu.range = array<f64: -8.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -8.0, 64.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = npu.fully_connected(%2, %w) {npu.range = array<f64: -64.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -64.0, 64.0>} : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  %4 = npu.swish %3 {npu.range = array<f64: -0.25, 64.0>, npu.channel_range = array<f64: -0.25, 1.0, -0.25, 64.0>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %5 = npu.depthwise_conv2d(%4, %d) {npu.range = array<f64: -8.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -8.0, 64.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %6 = npu.fully_connected(%x, %w) {npu.range = array<f64: -64.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -64.0, 64.0>} : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  %7 = npu.swish %6 {npu.range = array<f64: -0.25, 64.0>, npu.channel_range = array<f64: -0.25, 1.0, -0.25, 64.0>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %8 = npu.depthwise_conv2d(%7, %d) {npu.range = array<f64: -8.0, 64.0>, npu.channel_range = array<f64: -1.0, 1.0, -8.0, 64.0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %9 = npu.fully_connected(%8, %w) : (tensor<1x2x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2x2xf32>
  return %9, %5, %7 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}
