//===- target.h - What a target can do, in figures --------------*- C++ -*-===//
//
// One plain struct describes a target; `target/README.md` explains each field
// and where the presets' figures come from. It has three equal forms: this
// struct, a JSON file, and the MLIR attribute `#npu.target` (dialects/npu).
// No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/queue/command.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace npu::target {

/// A rate per element type, per cycle and core; 0: the type is not supported.
struct Rates {
  double i8 = 0, i16 = 0, i32 = 0, f16 = 0, f32 = 0;

  /// The rate of `type`; u8 and bool count as i8, i64 as half an i32.
  double of(rt::DType type) const;
  bool operator==(const Rates &o) const {
    return i8 == o.i8 && i16 == o.i16 && i32 == o.i32 && f16 == o.f16 &&
           f32 == o.f32;
  }
};

/// The matrix engine of one core. It computes a block of `block_height` x
/// `block_width` output pixels x `block_oc` output channels, `block_ic` input
/// channels at a time; whatever does not fill a block is lost.
struct MatrixEngine {
  Rates macs_per_cycle; ///< dense peak; block sizes hold for i8
  int64_t block_height = 1, block_width = 1, block_ic = 1, block_oc = 1;
  double weights_per_cycle = 0; ///< i8 weights loaded per cycle
  int64_t pass_pixels = 0;      ///< output pixels served by one weight load
  double outputs_per_cycle = 0; ///< i8 results through the epilogue
  double command_cycles = 0;    ///< start of a command
};

/// The depthwise path of the matrix engine. Whether a kernel exists at all is
/// in `Target::kernels`.
struct DepthwiseEngine {
  Rates macs_per_cycle;
  int64_t kernel_step = 1; ///< taps are processed in groups of this many
  bool multiplier = false; ///< channel multiplier > 1 is supported
};

struct VectorEngine {
  Rates lanes; ///< simple operations (add, max, convert) per cycle
  double command_cycles = 0;
};

struct Memory {
  int64_t sram_bytes = 0;           ///< per core; 0: unified memory, no DMA
  int64_t sram_banks = 0;           ///< 0 exactly when sram_bytes is 0
  double sram_bytes_per_cycle = 0;  ///< port of a core's engines to its SRAM
  int64_t dma_channels = 0;         ///< per core and direction
  double dma_bytes_per_cycle = 0;   ///< of one channel
  double dma_latency_cycles = 0;    ///< until the first byte
  double dram_bytes_per_cycle = 0;  ///< shared by all cores
  double const_bytes_per_cycle = 0; ///< where weights lie: flash, or the DRAM
  bool const_in_dram = true;        ///< weights share the DRAM's bandwidth
  int64_t burst_bytes = 1;          ///< a shorter contiguous run costs as much
};

/// Names of the kernels a target has for a data type: "conv2d",
/// "depthwise_conv2d", "grouped_conv2d", "matmul", "pool2d", "reduce",
/// "binary", "unary", "lut", "softmax", "resize2d", "gather", "convert",
/// "vector_mac", "requantize", "argmax".
struct Kernels {
  std::set<std::string> i8, i16, i32, f16, f32;
  const std::set<std::string> &of(rt::DType type) const;
  std::set<std::string> &of(rt::DType type);
  bool operator==(const Kernels &o) const {
    return i8 == o.i8 && i16 == o.i16 && i32 == o.i32 && f16 == o.f16 &&
           f32 == o.f32;
  }
};

struct Target {
  std::string name;
  double clock_mhz = 0;
  int64_t cores = 1;
  MatrixEngine matrix;
  DepthwiseEngine depthwise;
  VectorEngine vector;
  Memory memory;
  Kernels kernels;

  /// True if commands work on DRAM and constants directly and there is no DMA.
  bool unified() const { return memory.sram_bytes == 0; }
  bool hasKernel(const std::string &kernel, rt::DType type) const {
    return kernels.of(type).count(kernel) != 0;
  }
  /// The native depthwise kernel, for `multiplier` output channels per input
  /// channel.
  bool hasDepthwise(rt::DType type, int64_t multiplier = 1) const {
    return hasKernel("depthwise_conv2d", type) &&
           (multiplier == 1 || depthwise.multiplier);
  }
  bool hasGroupedConv(rt::DType type) const {
    return hasKernel("grouped_conv2d", type);
  }
  double cyclesToMs(double cycles) const { return cycles / (clock_mhz * 1e3); }
  /// Peak dense MACs per cycle of all cores.
  double peakMacs(rt::DType type) const {
    return matrix.macs_per_cycle.of(type) * static_cast<double>(cores);
  }
};
bool operator==(const Target &a, const Target &b);

/// All kernel names, sorted.
const std::set<std::string> &allKernels();
/// Kernel name of a command; "" for kNop, kDma and kFill, which every target
/// has.
const char *kernelName(rt::Opcode opcode);

/// "edge", "pc", "micro", "host".
const std::vector<std::string> &presetNames();
/// NotFound, listing the presets, for any other name.
absl::StatusOr<Target> preset(absl::string_view name);

/// Parses the JSON form. Strict: an unknown or repeated key, a wrong type or a
/// value out of range is InvalidArgument with the JSON path ("/memory/sram").
/// With `"base": "<preset>"` the missing fields come from that preset, without
/// it all fields are required.
absl::StatusOr<Target> parseJson(absl::string_view text);
/// The complete JSON form; parses back to an equal target.
std::string toJson(const Target &target);

/// A preset's name, or the path of a JSON file (anything with '/' or '.').
absl::StatusOr<Target> load(const std::string &name_or_path);

} // namespace npu::target

#endif // TARGET_TARGET_H
