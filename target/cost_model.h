//===- cost_model.h - Cycles and bytes of a command -------------*- C++ -*-===//
//
// The one cost model: depthwise legalisation, tiling, fusion, scheduling and
// the timing simulation all ask it. It works on a plain `Workload`, so that it
// can be asked about npu ops, cmdq ops, encoded commands, and things that do
// not exist yet. No MLIR here; see target/npu_cost.h for npu operators.
//
//===----------------------------------------------------------------------===//
#ifndef TARGET_COST_MODEL_H
#define TARGET_COST_MODEL_H

#include "runtime/queue/command.h"
#include "target/target.h"

#include <cstdint>

namespace npu::target {

constexpr int kNumSpaces = 4;

/// Bytes by memory space, index is `rt::Space`.
struct Traffic {
  int64_t bytes[kNumSpaces] = {0, 0, 0, 0};
  int64_t &operator[](rt::Space s) { return bytes[static_cast<int>(s)]; }
  int64_t operator[](rt::Space s) const { return bytes[static_cast<int>(s)]; }
  int64_t total() const { return bytes[0] + bytes[1] + bytes[2] + bytes[3]; }
};

/// What one command has to do. Only the fields of its kind matter.
struct Workload {
  rt::Opcode opcode = rt::Opcode::kNop;
  rt::DType type = rt::DType::kI8;   ///< of the computation: of input 0
  rt::DType output = rt::DType::kI8; ///< of the result
  rt::Function function = rt::Function::kIdentity; ///< kUnary, f32 epilogues
  bool residual = false; ///< the epilogue adds a second tensor

  /// kConv2d, kDepthwiseConv2d, kMatmul (batch = N, out_w = rows, ic = K,
  /// oc = columns). `ic` and `oc` are those of all groups together.
  int64_t batch = 1, out_h = 1, out_w = 1, oc = 1, ic = 1;
  int64_t kernel_h = 1, kernel_w = 1, groups = 1;

  int64_t outputs = 0; ///< elements written
  int64_t reads = 0;   ///< elements that the vector engine has to visit

  /// kDma: length of the contiguous runs in the source and destination, bytes.
  int64_t run_bytes = 0;
  Traffic traffic; ///< read and written, together
};

/// Convolution as a workload; `weight_space` is where the weights are read.
/// `type` is of input and weights; groups = ic = oc means depthwise, which
/// becomes kDepthwiseConv2d if `depthwise` is set.
struct ConvShape {
  int64_t batch, in_h, in_w, ic, out_h, out_w, oc, kernel_h, kernel_w;
  int64_t groups = 1;
  bool depthwise = false;
  bool residual = false;
  rt::DType type = rt::DType::kI8;
  rt::DType output = rt::DType::kI8;
};
/// Operands in SRAM (or DRAM, if the target has unified memory).
Workload convWorkload(const Target &target, const ConvShape &shape);

/// `elements` outputs of an elementwise command with `inputs` operands.
Workload elementwiseWorkload(const Target &target, rt::Opcode opcode,
                             rt::DType type, int64_t elements, int inputs = 1,
                             rt::Function function = rt::Function::kIdentity);

/// A transfer of `bytes` in contiguous runs of `run_bytes` between two spaces.
Workload dmaWorkload(rt::Space from, rt::Space to, int64_t bytes,
                     int64_t run_bytes);

/// The workload of an encoded command.
Workload workloadOf(const rt::Command &command);

/// The engine a compute command runs on; copies run on a DMA engine by
/// direction.
rt::Engine engineOf(rt::Opcode opcode);

struct Cost {
  bool supported = true; ///< false: the target has no such kernel for the type
  double compute = 0;    ///< cycles of the arithmetic, utilisation included
  double memory = 0;     ///< cycles of the busiest memory port, if alone
  double overhead = 0;   ///< start of the command, latency of the transfer
  int64_t macs = 0;      ///< multiply-accumulates that the result needs
  Traffic traffic;       ///< bytes moved, bursts included

  /// Cycles of the command when nothing else uses the memory.
  double cycles() const {
    return overhead + (compute > memory ? compute : memory);
  }
};

/// The cost of `work` on one core.
Cost cost(const Target &target, const Workload &work);

} // namespace npu::target

#endif // TARGET_COST_MODEL_H
