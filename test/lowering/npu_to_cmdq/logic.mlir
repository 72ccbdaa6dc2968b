// RUN: npu-opt --npu-to-cmdq %s | FileCheck %s

// Operands broadcast by strides of 0.
// CHECK-LABEL: cmdq.program @main
// CHECK: cmdq.compare on vector outs({{.*}}xi1{{.*}}) ins({{.*}}) {kind = #cmdq<compare_kind less>
// CHECK: cmdq.select on vector outs({{.*}}xf32{{.*}}) ins({{.*}}xi1
// CHECK: cmdq.binary on vector {{.*}}kind = #cmdq<binary_kind mod>
func.func @main(%a: tensor<4x3xf32>, %b: tensor<3xf32>, %i: tensor<4xi64>, %j: tensor<4xi64>) -> (tensor<4x3xf32>, tensor<4xi64>) {
  %0 = npu.less %a, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  %1 = npu.select %0, %a, %b : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %2 = npu.mod %i, %j : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %1, %2 : tensor<4x3xf32>, tensor<4xi64>
}
