// RUN: npu-opt %s --npu-import-calibration="stats=%S/stats.json" 2>%t.err | FileCheck %s --check-prefixes=CHECK,MINMAX
// RUN: FileCheck %s --check-prefix=WARN < %t.err
// RUN: npu-opt %s --npu-import-calibration="stats=%S/stats.json method=percentile percentile=99" 2>/dev/null | FileCheck %s --check-prefixes=CHECK,PERCENTILE

// CHECK: func.func @main(
// MINMAX-SAME: %{{.*}}: tensor<1x4xf32> {npu.name = "x", npu.range = array<f64: -1.000000e+00, 1.000000e+00>}
// CHECK-SAME: %{{.*}}: tensor<4xi64> {npu.name = "a"}, %{{.*}}: tensor<1x4xf32> {npu.name = "other"})
// MINMAX: npu.exp {{.*}}npu.range = array<f64: 0.000000e+00, 2.048000e+03>, npu.tensor = "a"
// PERCENTILE: npu.exp {{.*}}npu.range = array<f64: 0.000000e+00, 8.{{.*}}>, npu.tensor = "a"
// CHECK: npu.relu
// CHECK-NOT: npu.range
// CHECK: npu.neg {{.*}}npu.range = array<f64: 0.000000e+00, 5.000000e-01>, npu.tensor = "k"
// WARN: warning: input 2 has no statistics in '{{.*}}stats.json'; what reads it stays in f32
// WARN-NOT: node 'relu'
// WARN: warning: {{.*}}node 'logarithm': tensor 'l' has no statistics in '{{.*}}stats.json' and its range does not follow from its operands'; it stays in f32
// WARN-NOT: warning:
func.func @main(%x: tensor<1x4xf32> {npu.name = "x"}, %i: tensor<4xi64> {npu.name = "a"}, %z: tensor<1x4xf32> {npu.name = "other"}) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %a = npu.exp %x {npu.tensor = "a"} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %r = npu.relu %a {npu.tensor = "r"} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
  %n = npu.neg %a {npu.tensor = "k"} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %l = npu.log %a {npu.tensor = "l"} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("logarithm")
  return %r, %n, %l : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
