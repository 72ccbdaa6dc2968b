// A pass that npu-opt does not know before it loads it; see examples/pass_plugin.
// RUN: npu-opt %s --load-pass-plugin=%root/examples/pass_plugin/large_constants.so --pass-pipeline="builtin.module(func.func(example-large-constants{least=100}))" 2>&1 | FileCheck %s
// RUN: npu-opt %s --load-pass-plugin=%root/none.so 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not npu-opt %s --pass-pipeline="builtin.module(func.func(example-large-constants))" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-NOT: remark: constant of 4 elements
// CHECK: remark: {{.*}}constant of 128 elements at node 'large'
// CHECK: func.func @main
// NONE: Failed to load passes from '{{.*}}none.so'
// UNKNOWN: error: 'example-large-constants' does not refer to a registered pass
func.func @main() -> (tensor<4xf32>, tensor<128xf32>) {
  %small = npu.constant dense<0.5> : tensor<4xf32> -> tensor<4xf32> loc("small")
  %large = npu.constant dense<0.5> : tensor<128xf32> -> tensor<128xf32> loc("large")
  return %small, %large : tensor<4xf32>, tensor<128xf32>
}
