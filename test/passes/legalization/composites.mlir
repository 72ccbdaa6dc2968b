// RUN: npu-opt %s -split-input-file --npu-recognise-composites | FileCheck %s

// x * hardsigmoid(x), x * relu6(x + 3) / 6, x * (clip(x + 3, 0, 6) * 1/6).

// CHECK-LABEL: func.func @hard_swish
// CHECK-DAG: %[[A:.*]] = npu.hard_swish %arg0 {npu.tensor = "y"}
// CHECK-DAG: %[[B:.*]] = npu.hard_swish %arg0
// CHECK-DAG: %[[C:.*]] = npu.hard_swish %arg0
// CHECK: return
func.func @hard_swish(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %three = npu.constant dense<3.0> : tensor<f32> -> tensor<f32>
  %six = npu.constant dense<6.0> : tensor<1x1xf32> -> tensor<1x1xf32>
  %sixth = npu.constant dense<0.16666667> : tensor<f32> -> tensor<f32>
  %h = npu.hard_sigmoid %x {alpha = 0.166666672 : f32, beta = 0.5 : f32} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = npu.mul %h, %x {npu.tensor = "y"} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %a = npu.add %x, %three : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %r = npu.clip %a {min = 0.0 : f32, max = 6.0 : f32} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %m = npu.mul %x, %r : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = npu.div %m, %six : (tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %n = npu.mul %r, %sixth : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %2 = npu.mul %x, %n : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0, %1, %2 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @sigmoids
// CHECK-DAG: npu.hard_sigmoid %arg0 {alpha = 0.16666{{.*}}, beta = 5.0
// CHECK-DAG: npu.sigmoid %arg0
// CHECK-DAG: npu.swish %arg0 {alpha = 1.702
// CHECK-NOT: npu.exp
// CHECK: return
func.func @sigmoids(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %three = npu.constant dense<3.0> : tensor<f32> -> tensor<f32>
  %six = npu.constant dense<6.0> : tensor<f32> -> tensor<f32>
  %one = npu.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %k = npu.constant dense<1.702> : tensor<f32> -> tensor<f32>
  %a = npu.add %x, %three : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %r = npu.clip %a {min = 0.0 : f32, max = 6.0 : f32} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = npu.div %r, %six : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %n = npu.neg %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %e = npu.exp %n : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %p = npu.add %e, %one : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %1 = npu.reciprocal %p : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %kx = npu.mul %x, %k : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %s = npu.sigmoid %kx : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = npu.mul %x, %s : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0, %1, %2 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @gelu
// CHECK-DAG: npu.gelu %arg0 : 
// CHECK-DAG: npu.gelu %arg0 {tanh = true}
// CHECK: return
func.func @gelu(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %half = npu.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %one = npu.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %root = npu.constant dense<1.41421354> : tensor<f32> -> tensor<f32>
  %three = npu.constant dense<3.0> : tensor<f32> -> tensor<f32>
  %c = npu.constant dense<0.044715> : tensor<f32> -> tensor<f32>
  %s = npu.constant dense<0.797884583> : tensor<f32> -> tensor<f32>
  %d = npu.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %e = npu.erf %d : (tensor<8xf32>) -> tensor<8xf32>
  %p = npu.add %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %m = npu.mul %x, %p : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = npu.mul %m, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %x3 = npu.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %cx = npu.mul %x3, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %sum = npu.add %x, %cx : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %u = npu.mul %sum, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = npu.tanh %u : (tensor<8xf32>) -> tensor<8xf32>
  %q = npu.add %t, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %h = npu.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = npu.mul %h, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @clips
// CHECK-DAG: npu.clip %arg0 {max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}
// CHECK-DAG: npu.relu %arg0
// CHECK-DAG: npu.leaky_relu %arg0 {alpha = 1.000000e-01 : f32}
// CHECK-DAG: npu.leaky_relu %arg0 {alpha = 2.500000e-01 : f32}
// CHECK-DAG: npu.reduce_mean %arg1 {axes = array<i64: 1, 2>}
// CHECK: return
func.func @clips(%x: tensor<8xf32>, %y: tensor<1x7x7x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1x1x1x8xf32>) {
  %six = npu.constant dense<6.0> : tensor<f32> -> tensor<f32>
  %zero = npu.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %a = npu.constant dense<0.1> : tensor<f32> -> tensor<f32>
  %b = npu.constant dense<0.25> : tensor<8xf32> -> tensor<8xf32>
  %r = npu.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %0 = npu.min %r, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = npu.max %zero, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %ax = npu.mul %x, %a : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = npu.max %x, %ax : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = npu.prelu %x, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = npu.avg_pool2d %y {kernel = array<i64: 7, 7>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x7x7x8xf32>) -> tensor<1x1x1x8xf32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1x1x1x8xf32>
}

// -----

// Another slope, another x, another bound.

// CHECK-LABEL: func.func @negative
// CHECK-NOT: npu.hard_swish
// CHECK-NOT: npu.swish
// CHECK: return
func.func @negative(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %three = npu.constant dense<3.0> : tensor<f32> -> tensor<f32>
  %h = npu.hard_sigmoid %x {alpha = 0.2 : f32, beta = 0.5 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = npu.mul %h, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %s = npu.sigmoid %y : (tensor<8xf32>) -> tensor<8xf32>
  %1 = npu.mul %x, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %a = npu.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %r = npu.clip %a {min = 0.0 : f32, max = 5.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %m = npu.mul %x, %r : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %m : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
