// RUN: npu-opt %s | npu-opt | FileCheck %s

// CHECK-LABEL: func @integers
func.func @integers(%a: tensor<2x3xi32>, %b: tensor<3xi32>, %u: tensor<3xui64>, %t: tensor<3xi1>) {
  // CHECK: npu.rem {{.*}} -> tensor<2x3xi32>
  %0 = npu.rem %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: npu.mod
  %1 = npu.mod %u, %u : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
  // CHECK: npu.and
  %2 = npu.and %t, %t : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  // CHECK: npu.or
  %3 = npu.or %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: npu.xor
  %4 = npu.xor %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: npu.shl
  %5 = npu.shl %u, %u : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
  // CHECK: npu.shr
  %6 = npu.shr %u, %u : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
  return
}

// CHECK-LABEL: func @choices
func.func @choices(%a: tensor<2x1xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: npu.equal {{.*}} -> tensor<2x3xi1>
  %0 = npu.equal %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: npu.less
  %1 = npu.less %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: npu.less_equal
  %2 = npu.less_equal %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: npu.select
  %3 = npu.select %1, %a, %b : (tensor<2x3xi1>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
