// Single kernels on one thread at the shapes of MobileNetV2 at 224 x 224.
// GMAC/s (or GB/s of output for kernels without products) are counters.
#include <cstring>
#include <functional>
#include <vector>

#include "benchmark/benchmark.h"
#include "runtime/kernels/kernels.h"

namespace npu::rt {
namespace {

/// One command over memory of its own: activations in DRAM, the rest constant.
class Bench {
public:
  explicit Bench(Opcode opcode) : pool_(1) {
    std::memset(&command, 0, sizeof(command));
    command.opcode = opcode;
    std::fill(std::begin(command.aux), std::end(command.aux), -1);
    constants_.reserve(1 << 23); // offsets stay, and so do addresses
  }

  void activation(int i, DType type, std::vector<int32_t> dims) {
    describe(i, Space::kDram, type, dims, int64_t(dram_.size()));
    dram_.resize(dram_.size() + bytes(type, dims), 3);
  }
  void weights(int i, DType type, std::vector<int32_t> dims) {
    align();
    describe(i, Space::kConst, type, dims, int64_t(constants_.size()));
    constants_.resize(constants_.size() + bytes(type, dims), 1);
  }
  template <typename T> void table(int i, const std::vector<T> &values) {
    align();
    command.aux[i] = int64_t(constants_.size());
    const auto *data = reinterpret_cast<const uint8_t *>(values.data());
    constants_.insert(constants_.end(), data, data + values.size() * sizeof(T));
  }

  /// `work`: products (GMAC/s) or output bytes (GB/s) of one run.
  void run(benchmark::State &state, const char *unit, double work) {
    MemoryMap memory;
    memory.constants = {constants_.data(), int64_t(constants_.size())};
    memory.dram = {dram_.data(), int64_t(dram_.size())};
    SpaceSizes sizes;
    sizes.constants = memory.constants.size;
    sizes.dram = memory.dram.size;
    absl::Status status =
        validateCommand(command, sizes, memory.constants.data);
    if (!status.ok()) {
      state.SkipWithError(std::string(status.message()).c_str());
      return;
    }
    std::unordered_map<int64_t, PackedWeights> packed;
    Context context;
    context.isa = detectIsa();
    context.pool = &pool_;
    context.memory = &memory;
    context.scratch.resize(1);
    context.command = 0;
    context.packed = &packed;
    PackedWeights own;
    if (packWeights(command, memory, context.isa, &own))
      packed.emplace(0, std::move(own));
    for (auto _ : state)
      execute(command, context);
    state.counters[unit] = benchmark::Counter(
        work * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  }

  Command command;

private:
  static int64_t bytes(DType type, const std::vector<int32_t> &dims) {
    int64_t n = sizeOf(type);
    for (int32_t d : dims)
      n *= d;
    return (n + 63) / 64 * 64;
  }
  void align() { constants_.resize((constants_.size() + 63) / 64 * 64); }
  void describe(int i, Space space, DType type,
                const std::vector<int32_t> &dims, int64_t offset) {
    Operand &o = command.operands[i];
    o.space = space;
    o.dtype = type;
    o.rank = uint8_t(dims.size());
    o.offset = offset;
    int32_t stride = 1;
    for (int d = o.rank - 1; d >= 0; --d) {
      o.dims[d] = dims[d];
      o.strides[d] = stride;
      stride *= dims[d];
    }
  }

  ThreadPool pool_;
  std::vector<uint8_t> constants_, dram_;
};

void clampI8(Epilogue &e) {
  e.lo = -128, e.hi = 127;
  e.flags = kPerChannelScale;
}
void clampF32(Epilogue &e) {
  e.function = Function::kClip;
  e.alpha = 0, e.beta = 6;
}
void epilogue(Bench &b, Epilogue &e, bool f32, int channels) {
  if (f32) {
    clampF32(e);
    b.table(0, std::vector<float>(channels, 1));
    return;
  }
  clampI8(e);
  b.table(0, std::vector<int32_t>(channels, 100));
  b.table(1, std::vector<float>(channels, 0.001f));
}

// Arguments: f32?, size of the input, channels in, out, kernel, stride.
void conv(benchmark::State &state, bool depthwise) {
  bool f32 = state.range(0);
  DType type = f32 ? DType::kF32 : DType::kI8;
  auto arg = [&](int i) { return int32_t(state.range(i)); };
  int32_t size = arg(1), in = arg(2), oc = arg(3), k = arg(4), s = arg(5);
  int32_t pad = k / 2, outSize = (size + 2 * pad - k) / s + 1;
  Bench b(depthwise ? Opcode::kDepthwiseConv2d : Opcode::kConv2d);
  b.activation(0, type, {1, outSize, outSize, oc});
  b.activation(1, type, {1, size, size, in});
  if (depthwise)
    b.weights(2, type, {k, k, in});
  else
    b.weights(2, type, {oc, k, k, in});
  ConvParams &p = b.command.params.conv;
  for (int i = 0; i < 2; ++i)
    p.stride[i] = s, p.dilation[i] = 1, p.pad[i] = p.pad[i + 2] = pad;
  p.groups = 1;
  epilogue(b, p.epilogue, f32, oc);
  b.run(state, "GMAC/s",
        double(outSize) * outSize * oc * k * k * (depthwise ? 1 : in));
}

void BM_Conv(benchmark::State &state) { conv(state, false); }
void BM_Depthwise(benchmark::State &state) { conv(state, true); }

void convShapes(benchmark::internal::Benchmark *b) {
  b->ArgNames({"f32", "size", "in", "out", "kernel", "stride"});
  for (int f32 : {0, 1}) {
    b->Args({f32, 224, 3, 32, 3, 2});
    b->Args({f32, 56, 32, 32, 3, 1});
    b->Args({f32, 112, 32, 16, 1, 1});
    b->Args({f32, 112, 16, 96, 1, 1});
    b->Args({f32, 28, 192, 32, 1, 1});
    b->Args({f32, 14, 96, 576, 1, 1});
    b->Args({f32, 7, 960, 320, 1, 1});
    b->Args({f32, 7, 320, 1280, 1, 1});
    b->Args({f32, 1, 1280, 1001, 1, 1});
  }
}
BENCHMARK(BM_Conv)->Apply(convShapes);

void depthwiseShapes(benchmark::internal::Benchmark *b) {
  b->ArgNames({"f32", "size", "in", "out", "kernel", "stride"});
  for (int f32 : {0, 1}) {
    b->Args({f32, 112, 32, 32, 3, 1});
    b->Args({f32, 112, 96, 96, 3, 2});
    b->Args({f32, 56, 144, 144, 3, 1});
    b->Args({f32, 14, 576, 576, 3, 1});
    b->Args({f32, 14, 576, 576, 3, 2});
    b->Args({f32, 14, 240, 240, 5, 1});
  }
}
BENCHMARK(BM_Depthwise)->Apply(depthwiseShapes);

void BM_Matmul(benchmark::State &state) {
  bool f32 = state.range(0);
  DType type = f32 ? DType::kF32 : DType::kI8;
  int32_t m = int32_t(state.range(1)), k = int32_t(state.range(2)),
          n = int32_t(state.range(3));
  Bench b(Opcode::kMatmul);
  b.activation(0, type, {1, m, n});
  b.activation(1, type, {1, m, k});
  b.activation(2, type, {1, k, n});
  epilogue(b, b.command.params.matmul.epilogue, f32, n);
  b.run(state, "GMAC/s", double(m) * n * k);
}
BENCHMARK(BM_Matmul)
    ->ArgNames({"f32", "m", "k", "n"})
    ->Args({0, 196, 64, 196})
    ->Args({1, 196, 64, 196})
    ->Args({0, 196, 196, 64})
    ->Args({1, 196, 196, 64})
    ->Args({0, 1, 1280, 1001})
    ->Args({1, 1, 1280, 1001});

void BM_Add(benchmark::State &state) {
  bool f32 = state.range(0);
  DType type = f32 ? DType::kF32 : DType::kI8;
  int32_t size = int32_t(state.range(1)), c = int32_t(state.range(2));
  Bench b(Opcode::kBinary);
  for (int i = 0; i < 3; ++i)
    b.activation(i, type, {1, size, size, c});
  BinaryParams &p = b.command.params.binary;
  p.kind = BinaryKind::kAdd;
  p.a_mul = p.b_mul = 0.5f;
  p.lo = -128, p.hi = 127;
  b.run(state, "GB/s", double(size) * size * c * sizeOf(type));
}
BENCHMARK(BM_Add)
    ->ArgNames({"f32", "size", "c"})
    ->Args({0, 56, 24})
    ->Args({1, 56, 24})
    ->Args({0, 14, 96});

void BM_Lut(benchmark::State &state) {
  int32_t size = int32_t(state.range(0)), c = int32_t(state.range(1));
  Bench b(Opcode::kLut);
  b.activation(0, DType::kI8, {1, size, size, c});
  b.activation(1, DType::kI8, {1, size, size, c});
  b.table(0, std::vector<int8_t>(256, 7));
  b.run(state, "GB/s", double(size) * size * c);
}
BENCHMARK(BM_Lut)->ArgNames({"size", "c"})->Args({112, 16})->Args({14, 576});

void BM_Resize(benchmark::State &state) {
  bool f32 = state.range(0), nearest = state.range(1);
  DType type = f32 ? DType::kF32 : DType::kI8;
  int32_t size = int32_t(state.range(2)), c = int32_t(state.range(3));
  Bench b(Opcode::kResize2d);
  b.activation(0, type, {1, 2 * size, 2 * size, c});
  b.activation(1, type, {1, size, size, c});
  std::vector<ResizeTap> taps(2 * size);
  for (int32_t i = 0; i < 2 * size; ++i)
    taps[i] = {i / 2, std::min(i / 2 + 1, size - 1), 0.75f, 0.25f};
  b.table(0, taps);
  b.table(1, taps);
  ResizeParams &p = b.command.params.resize;
  p.multiplier = 1;
  p.nearest = nearest;
  b.run(state, "GB/s", 4.0 * size * size * c * sizeOf(type));
}
BENCHMARK(BM_Resize)
    ->ArgNames({"f32", "nearest", "size", "c"})
    ->Args({0, 0, 28, 96})
    ->Args({0, 1, 28, 96})
    ->Args({1, 0, 28, 96})
    ->Args({1, 1, 28, 96});

} // namespace
} // namespace npu::rt

BENCHMARK_MAIN();
