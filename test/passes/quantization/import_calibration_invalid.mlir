// RUN: not npu-opt %s --npu-import-calibration="stats=%S/absent.json" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not npu-opt %s --npu-import-calibration="stats=%S/stats.json method=max" 2>&1 | FileCheck %s --check-prefix=METHOD
// RUN: not npu-opt %s --npu-import-calibration="stats=%S/stats.json method=percentile percentile=12" 2>&1 | FileCheck %s --check-prefix=PERCENTILE
// RUN: not npu-opt %s --npu-import-calibration="stats=%S/stats.json" 2>&1 | FileCheck %s --check-prefix=OTHER

// ABSENT: error: npu-import-calibration: {{.*}}absent.json
// METHOD: error: npu-import-calibration: unknown calibration method "max"; use minmax, percentile, entropy or mse
// PERCENTILE: error: npu-import-calibration: percentile 12.{{0*}} is not in (50, 100]
// OTHER: error: npu-import-calibration: '{{.*}}stats.json' has no tensor of this model; calibrate this model
func.func @main(%x: tensor<4xf32> {npu.name = "nobody"}) -> tensor<4xf32> {
  %a = npu.exp %x {npu.tensor = "unknown"} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
