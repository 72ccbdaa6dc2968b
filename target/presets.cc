//===- presets.cc - edge, pc, micro, host ---------------------------------===//
//
// README.md beside this file says where every figure comes from.
//
//===----------------------------------------------------------------------===//
#include "target/target.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace npu::target {
namespace {

/// Kernels that every preset has for integers besides i8 and for floats.
void addCommonKernels(Target &t) {
  t.kernels.i8 = allKernels();
  t.kernels.f32 = allKernels();
  for (const char *i8Only : {"lut", "vector_mac", "requantize"})
    t.kernels.f32.erase(i8Only);
  t.kernels.i32 = {"binary",   "unary",  "convert",   "gather",
                   "resize2d", "argmax", "requantize"};
}

Target edge() {
  Target t;
  t.name = "edge";
  t.clock_mhz = 782;
  t.cores = 1;
  t.matrix.macs_per_cycle = {2048, 1024, 0, 1024, 128};
  t.matrix.block_height = 1;
  t.matrix.block_width = 8;
  t.matrix.block_ic = 16;
  t.matrix.block_oc = 16;
  t.matrix.weights_per_cycle = 32;
  t.matrix.pass_pixels = 128;
  t.matrix.outputs_per_cycle = 32;
  t.matrix.command_cycles = 100;
  t.depthwise.macs_per_cycle = {128, 64, 0, 64, 32};
  t.depthwise.kernel_step = 1;
  t.depthwise.multiplier = true;
  t.vector.lanes = {128, 64, 32, 64, 32};
  t.vector.command_cycles = 60;
  t.memory.sram_bytes = 2 << 20;
  t.memory.sram_banks = 16;
  t.memory.sram_bytes_per_cycle = 64;
  t.memory.dma_channels = 1;
  t.memory.dma_bytes_per_cycle = 16;
  t.memory.dma_latency_cycles = 200;
  t.memory.dram_bytes_per_cycle = 10.8;
  t.memory.const_bytes_per_cycle = 10.8;
  t.memory.const_in_dram = true;
  t.memory.burst_bytes = 64;
  addCommonKernels(t);
  return t;
}

Target pc() {
  Target t;
  t.name = "pc";
  t.clock_mhz = 1000;
  t.cores = 16;
  t.matrix.macs_per_cycle = {256, 64, 0, 128, 32};
  t.matrix.block_height = 1;
  t.matrix.block_width = 4;
  t.matrix.block_ic = 8;
  t.matrix.block_oc = 8;
  t.matrix.weights_per_cycle = 32;
  t.matrix.pass_pixels = 16;
  t.matrix.outputs_per_cycle = 16;
  t.matrix.command_cycles = 80;
  // Depthwise only in float: the reason why this preset exists.
  t.depthwise.macs_per_cycle = {0, 0, 0, 16, 16};
  t.depthwise.kernel_step = 1;
  t.depthwise.multiplier = false;
  t.vector.lanes = {64, 32, 16, 32, 16};
  t.vector.command_cycles = 40;
  t.memory.sram_bytes = 192 << 10;
  t.memory.sram_banks = 8;
  t.memory.sram_bytes_per_cycle = 64;
  t.memory.dma_channels = 1;
  t.memory.dma_bytes_per_cycle = 8;
  t.memory.dma_latency_cycles = 300;
  t.memory.dram_bytes_per_cycle = 60;
  t.memory.const_bytes_per_cycle = 60;
  t.memory.const_in_dram = true;
  t.memory.burst_bytes = 64;
  addCommonKernels(t);
  t.kernels.i8.erase("depthwise_conv2d");
  t.kernels.i8.erase("grouped_conv2d");
  return t;
}

Target micro() {
  Target t;
  t.name = "micro";
  t.clock_mhz = 500;
  t.cores = 1;
  t.matrix.macs_per_cycle = {256, 128, 0, 0, 8};
  t.matrix.block_height = 2;
  t.matrix.block_width = 2;
  t.matrix.block_ic = 8;
  t.matrix.block_oc = 8;
  t.matrix.weights_per_cycle = 8;
  t.matrix.pass_pixels = 8;
  t.matrix.outputs_per_cycle = 4;
  t.matrix.command_cycles = 150;
  t.depthwise.macs_per_cycle = {32, 16, 0, 0, 4};
  t.depthwise.kernel_step = 4;
  t.depthwise.multiplier = false;
  t.vector.lanes = {8, 4, 4, 0, 2};
  t.vector.command_cycles = 100;
  t.memory.sram_bytes = 384 << 10;
  t.memory.sram_banks = 4;
  t.memory.sram_bytes_per_cycle = 8;
  t.memory.dma_channels = 1;
  t.memory.dma_bytes_per_cycle = 8;
  t.memory.dma_latency_cycles = 64;
  t.memory.dram_bytes_per_cycle = 8;
  t.memory.const_bytes_per_cycle = 1;
  t.memory.const_in_dram = false;
  t.memory.burst_bytes = 16;
  addCommonKernels(t);
  return t;
}

Target host() {
  Target t;
  t.name = "host";
  t.clock_mhz = 3000;
  t.cores = 1;
  t.matrix.macs_per_cycle = {48, 32, 0, 0, 16};
  t.matrix.block_height = 1;
  t.matrix.block_width = 4;
  t.matrix.block_ic = 4;
  t.matrix.block_oc = 8;
  t.matrix.weights_per_cycle = 32;
  t.matrix.pass_pixels = 64;
  t.matrix.outputs_per_cycle = 8;
  t.matrix.command_cycles = 300;
  t.depthwise.macs_per_cycle = {16, 16, 0, 0, 12};
  t.depthwise.kernel_step = 1;
  t.depthwise.multiplier = true;
  t.vector.lanes = {32, 16, 8, 0, 8};
  t.vector.command_cycles = 300;
  t.memory.dram_bytes_per_cycle = 8;
  t.memory.const_bytes_per_cycle = 8;
  t.memory.const_in_dram = true;
  t.memory.burst_bytes = 64;
  addCommonKernels(t);
  return t;
}

} // namespace

const std::vector<std::string> &presetNames() {
  static const auto *names =
      new std::vector<std::string>{"edge", "pc", "micro", "host"};
  return *names;
}

absl::StatusOr<Target> preset(absl::string_view name) {
  if (name == "edge")
    return edge();
  if (name == "pc")
    return pc();
  if (name == "micro")
    return micro();
  if (name == "host")
    return host();
  return absl::NotFoundError(absl::StrCat(
      "no target preset '", name, "'; there are ",
      absl::StrJoin(presetNames(), ", "), ", or give the path of a JSON file"));
}

} // namespace npu::target
