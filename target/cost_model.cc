//===- cost_model.cc - Cycles and bytes of a command ----------------------===//
#include "target/cost_model.h"

#include <algorithm>

using namespace npu::rt;

namespace npu::target {
namespace {

double ceilDiv(int64_t a, int64_t b) {
  return static_cast<double>((a + b - 1) / b);
}
double roundUp(int64_t a, int64_t b) {
  return ceilDiv(a, b) * static_cast<double>(b);
}

/// Vector-engine operations per element of a function in f32.
double functionOps(Function f) {
  switch (f) {
  case Function::kIdentity:
    return 0;
  case Function::kClip:
  case Function::kLeakyRelu:
    return 2;
  case Function::kAbs:
  case Function::kNeg:
  case Function::kFloor:
  case Function::kCeil:
  case Function::kRound:
  case Function::kSign:
    return 1;
  case Function::kReciprocal:
  case Function::kSqrt:
  case Function::kHardSigmoid:
    return 4;
  case Function::kHardSwish:
    return 5;
  case Function::kExp:
  case Function::kLog:
    return 12;
  default: // sigmoid, tanh, gelu, erf, ...: an exponential and a division
    return 20;
  }
}

bool isFloat(DType type) {
  return type == DType::kF32 || type == DType::kF16 || type == DType::kBF16 ||
         type == DType::kF64;
}

/// Vector-engine operations per visited element.
double vectorOps(const Workload &w) {
  bool f = isFloat(w.type);
  switch (w.opcode) {
  case Opcode::kFill:
    return 0.5;
  case Opcode::kPool2d:
  case Opcode::kReduce:
  case Opcode::kArgMax:
    return 1;
  case Opcode::kBinary:
    // Integers: subtract two zero points, convert, scale twice, combine,
    // round, clamp.
    return f ? 1 + functionOps(w.function) : 8;
  case Opcode::kCompare:
  case Opcode::kSelect:
    return 1;
  case Opcode::kUnary:
    return std::max(1.0, functionOps(w.function));
  case Opcode::kLut:
    return 2;
  case Opcode::kSoftmax:
    return f ? 16 : 8;
  case Opcode::kResize2d:
    return f ? 6 : 10;
  case Opcode::kGather:
    return 1;
  case Opcode::kConvert:
    return f && isFloat(w.output) ? 1 : 4;
  case Opcode::kVectorMac:
    return 3; // subtract, multiply, add
  case Opcode::kRequantize:
    return w.residual ? 10 : 5;
  default:
    return 1;
  }
}

/// Kernel that `w` needs.
const char *kernelOf(const Workload &w) {
  if (w.opcode == Opcode::kConv2d && w.groups > 1)
    return "grouped_conv2d";
  return kernelName(w.opcode);
}

/// Cycles of a dense (or grouped) convolution or matrix product.
double matrixCycles(const Target &t, const Workload &w) {
  const MatrixEngine &m = t.matrix;
  // Blocks are those of i8; another type needs its own number of beats.
  double beats = m.macs_per_cycle.i8 > 0
                     ? m.macs_per_cycle.i8 / m.macs_per_cycle.of(w.type)
                     : 1;
  double peak = static_cast<double>(m.block_height * m.block_width *
                                    m.block_ic * m.block_oc);
  if (m.macs_per_cycle.i8 > 0)
    beats *= peak / m.macs_per_cycle.i8;
  int64_t icg = std::max<int64_t>(1, w.ic / w.groups);
  int64_t ocg = std::max<int64_t>(1, w.oc / w.groups);
  double weights = static_cast<double>(w.groups) * roundUp(ocg, m.block_oc) *
                   static_cast<double>(w.kernel_h * w.kernel_w) *
                   roundUp(icg, m.block_ic);
  // One row of pixels (a matrix product) fills the block in both directions.
  double pixelBlocks =
      w.out_h == 1 || w.out_w == 1
          ? ceilDiv(w.out_h * w.out_w, m.block_height * m.block_width)
          : ceilDiv(w.out_h, m.block_height) * ceilDiv(w.out_w, m.block_width);
  double weightBlocks = weights / static_cast<double>(m.block_oc * m.block_ic);
  double macCycles =
      static_cast<double>(w.batch) * pixelBlocks * weightBlocks * beats;
  double passes =
      static_cast<double>(w.batch) *
      ceilDiv(w.out_h * w.out_w, std::max<int64_t>(1, m.pass_pixels));
  double loadCycles = passes * weights * sizeOf(w.type) / m.weights_per_cycle;
  return std::max(macCycles, loadCycles);
}

double depthwiseCycles(const Target &t, const Workload &w) {
  const MatrixEngine &m = t.matrix;
  double outputs = static_cast<double>(w.batch) *
                   roundUp(w.out_h, m.block_height) *
                   roundUp(w.out_w, m.block_width) * roundUp(w.oc, m.block_oc);
  return outputs * roundUp(w.kernel_h * w.kernel_w, t.depthwise.kernel_step) /
         t.depthwise.macs_per_cycle.of(w.type);
}

/// Cycles of the epilogue: as many results leave per cycle as the engine's
/// output path takes (wider types take longer).
double epilogueCycles(const Target &t, const Workload &w) {
  double cycles = static_cast<double>(w.outputs) *
                  std::max(1, sizeOf(w.output)) / t.matrix.outputs_per_cycle;
  if (w.residual)
    cycles *= 2;
  double lanes = t.vector.lanes.of(w.type);
  double ops = isFloat(w.type) ? functionOps(w.function) : 0;
  if (ops > 2 && lanes > 0)
    cycles = std::max(cycles, static_cast<double>(w.outputs) * ops / lanes);
  return cycles;
}

int64_t macsOf(const Workload &w) {
  int64_t pixels = w.batch * w.out_h * w.out_w;
  switch (w.opcode) {
  case Opcode::kConv2d:
  case Opcode::kMatmul:
    return pixels * w.oc * w.kernel_h * w.kernel_w *
           std::max<int64_t>(1, w.ic / w.groups);
  case Opcode::kDepthwiseConv2d:
    return pixels * w.oc * w.kernel_h * w.kernel_w;
  case Opcode::kVectorMac:
    return w.outputs;
  default:
    return 0;
  }
}

double memoryCycles(const Target &t, const Traffic &traffic, bool dma) {
  const Memory &m = t.memory;
  double dram = static_cast<double>(traffic[Space::kDram]) +
                static_cast<double>(traffic[Space::kIo]);
  double constant = static_cast<double>(traffic[Space::kConst]);
  double dramCycles, constCycles = constant / m.const_bytes_per_cycle;
  if (m.const_in_dram)
    dramCycles = (dram + constant) / m.dram_bytes_per_cycle;
  else
    dramCycles = dram / m.dram_bytes_per_cycle;
  double cycles = std::max(dramCycles, constCycles);
  double sram = static_cast<double>(traffic[Space::kSram]);
  if (sram > 0 && m.sram_bytes_per_cycle > 0)
    cycles = std::max(cycles, sram / m.sram_bytes_per_cycle);
  if (dma && m.dma_bytes_per_cycle > 0)
    cycles =
        std::max(cycles, (dram + constant + sram) / 2 / m.dma_bytes_per_cycle);
  return cycles;
}

} // namespace

Engine engineOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::kConv2d:
  case Opcode::kDepthwiseConv2d:
  case Opcode::kMatmul:
    return Engine::kMatrix;
  case Opcode::kDma:
    return Engine::kDmaIn;
  default:
    return Engine::kVector;
  }
}

Cost cost(const Target &t, const Workload &w) {
  Cost c;
  c.traffic = w.traffic;
  c.macs = macsOf(w);
  if (w.opcode == Opcode::kNop)
    return c;
  if (w.opcode == Opcode::kDma) {
    // Runs shorter than a burst cost a burst outside the chip.
    if (w.run_bytes > 0 && w.run_bytes < t.memory.burst_bytes)
      for (Space s : {Space::kConst, Space::kDram, Space::kIo})
        c.traffic[s] = c.traffic[s] / w.run_bytes * t.memory.burst_bytes;
    c.memory = memoryCycles(t, c.traffic, /*dma=*/true);
    c.overhead = t.memory.dma_latency_cycles;
    return c;
  }
  c.memory = memoryCycles(t, w.traffic, /*dma=*/false);
  const char *kernel = kernelOf(w);
  bool hasKernel = !*kernel || t.hasKernel(kernel, w.type);
  if (engineOf(w.opcode) == Engine::kMatrix) {
    bool depthwise = w.opcode == Opcode::kDepthwiseConv2d;
    const Rates &rates =
        depthwise ? t.depthwise.macs_per_cycle : t.matrix.macs_per_cycle;
    c.supported = hasKernel && rates.of(w.type) > 0;
    if (!c.supported)
      return c;
    c.overhead = t.matrix.command_cycles;
    c.compute = std::max(depthwise ? depthwiseCycles(t, w) : matrixCycles(t, w),
                         epilogueCycles(t, w));
    return c;
  }
  double lanes = t.vector.lanes.of(w.type);
  // What integer types without lanes of their own do in i32 lanes.
  if (lanes <= 0)
    lanes = isFloat(w.type) ? t.vector.lanes.f32 : t.vector.lanes.i32;
  c.supported = hasKernel && lanes > 0;
  if (!c.supported)
    return c;
  c.overhead = t.vector.command_cycles;
  c.compute =
      static_cast<double>(std::max(w.reads, w.outputs)) * vectorOps(w) / lanes;
  return c;
}

} // namespace npu::target
