//===- observer_bench.cc - What calibration costs per picture -------------===//
#include <random>

#include "benchmark/benchmark.h"
#include "passes/quantization/calibration/observer.h"
#include "passes/quantization/calibration/ranges.h"

namespace npu::calibration {
namespace {

std::vector<float> activations(size_t n) {
  std::mt19937 rng(1);
  std::normal_distribution<float> d;
  std::vector<float> x(n);
  for (float &v : x)
    v = std::max(0.0f, d(rng));
  return x;
}

/// As many values as MobileNetV2 224x224 has activations, 64 tensors.
void observePicture(benchmark::State &state) {
  constexpr size_t kTensors = 64, kValues = 6700000 / kTensors / 96 * 96;
  std::vector<float> x = activations(kValues);
  Observer observer;
  for (auto _ : state)
    for (size_t t = 0; t < kTensors; ++t)
      if (!observer.observe(std::to_string(t), x.data(), kValues, 96).ok())
        state.SkipWithError("observe");
}
BENCHMARK(observePicture)->Unit(benchmark::kMillisecond);

void rangeOfTensor(benchmark::State &state) {
  std::vector<float> x = activations(100000);
  Observer observer;
  if (!observer.observe("t", x.data(), x.size()).ok())
    return state.SkipWithError("observe");
  TensorStats stats = observer.finish().tensors[0];
  for (auto _ : state)
    benchmark::DoNotOptimize(
        chooseRange(stats, {static_cast<Method>(state.range(0))}));
}
BENCHMARK(rangeOfTensor)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace npu::calibration

BENCHMARK_MAIN();
