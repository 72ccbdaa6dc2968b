//===- workload.cc - Workloads of shapes and of commands ------------------===//
#include "target/cost_model.h"

#include <algorithm>

using namespace npu::rt;

namespace npu::target {
namespace {

Space workingSpace(const Target &t) {
  return t.unified() ? Space::kDram : Space::kSram;
}

int64_t elements(const Operand &o) {
  int64_t n = o.rank == 0 ? 0 : 1;
  for (int i = 0; i < std::min<int>(o.rank, kMaxRank); ++i)
    n *= o.dims[i];
  return n;
}

/// Elements that really lie in memory (broadcast dimensions once).
int64_t storedElements(const Operand &o) {
  int64_t n = o.rank == 0 ? 0 : 1;
  for (int i = 0; i < std::min<int>(o.rank, kMaxRank); ++i)
    if (o.strides[i] != 0)
      n *= o.dims[i];
  return n;
}

/// Bytes of the contiguous runs of a view.
int64_t runBytes(const Operand &o) {
  int64_t run = 1;
  for (int i = std::min<int>(o.rank, kMaxRank) - 1; i >= 0; --i) {
    if (o.dims[i] == 1)
      continue;
    if (o.strides[i] != run)
      break;
    run *= o.dims[i];
  }
  return run * sizeOf(o.dtype);
}

int64_t dim(const Operand &o, int i) {
  return i >= 0 && i < std::min<int>(o.rank, kMaxRank) ? o.dims[i] : 1;
}

void setConv(Workload &w, const Command &c) {
  const Operand &out = c.operands[0], &weights = c.operands[2];
  w.batch = dim(out, 0);
  w.out_h = dim(out, 1);
  w.out_w = dim(out, 2);
  w.oc = dim(out, 3);
  w.ic = dim(c.operands[1], 3);
  int first = c.opcode == Opcode::kConv2d ? 1 : 0;
  w.kernel_h = dim(weights, first);
  w.kernel_w = dim(weights, first + 1);
  w.groups = c.opcode == Opcode::kConv2d ? std::max(1, c.params.conv.groups)
                                         : std::max<int64_t>(1, w.ic);
  w.residual = c.params.conv.epilogue.flags & kResidualFlag;
  w.function = c.params.conv.epilogue.function;
}

void setMatmul(Workload &w, const Command &c) {
  const Operand &out = c.operands[0], &a = c.operands[1];
  w.out_w = dim(out, out.rank - 2);
  w.oc = dim(out, out.rank - 1);
  w.ic = dim(a, a.rank - 1);
  w.batch = std::max<int64_t>(1, elements(out)) /
            std::max<int64_t>(1, w.out_w * w.oc);
  w.residual = c.params.matmul.epilogue.flags & kResidualFlag;
  w.function = c.params.matmul.epilogue.function;
}

} // namespace

Workload workloadOf(const Command &c) {
  Workload w;
  w.opcode = c.opcode;
  const Operand &out = c.operands[0], &in = c.operands[1];
  w.output = out.dtype;
  w.type = in.rank ? in.dtype : out.dtype;
  w.outputs = elements(out);
  w.reads = elements(in);
  for (const Operand &o : c.operands)
    if (o.rank)
      w.traffic[o.space] += storedElements(o) * sizeOf(o.dtype);
  switch (c.opcode) {
  case Opcode::kConv2d:
  case Opcode::kDepthwiseConv2d:
    setConv(w, c);
    break;
  case Opcode::kMatmul:
    setMatmul(w, c);
    break;
  case Opcode::kPool2d:
    w.reads = w.outputs * c.params.pool.kernel[0] * c.params.pool.kernel[1];
    break;
  case Opcode::kDma:
    w.run_bytes = std::min(runBytes(out), runBytes(in));
    break;
  case Opcode::kResize2d:
  case Opcode::kGather:
    w.reads = w.outputs;
    break;
  case Opcode::kBinary:
    w.function = c.params.binary.function;
    break;
  case Opcode::kUnary:
    w.function = c.params.unary.function;
    break;
  case Opcode::kRequantize:
    w.residual = c.params.requantize.epilogue.flags & kResidualFlag;
    break;
  default:
    break;
  }
  return w;
}

Workload convWorkload(const Target &t, const ConvShape &s) {
  Workload w;
  w.opcode = s.depthwise ? Opcode::kDepthwiseConv2d : Opcode::kConv2d;
  w.type = s.type;
  w.output = s.output;
  w.batch = s.batch;
  w.out_h = s.out_h;
  w.out_w = s.out_w;
  w.oc = s.oc;
  w.ic = s.ic;
  w.kernel_h = s.kernel_h;
  w.kernel_w = s.kernel_w;
  w.groups = s.groups;
  w.residual = s.residual;
  w.outputs = s.batch * s.out_h * s.out_w * s.oc;
  w.reads = s.batch * s.in_h * s.in_w * s.ic;
  int64_t taps = s.kernel_h * s.kernel_w * s.oc;
  int64_t weights =
      s.depthwise ? taps : taps * s.ic / std::max<int64_t>(1, s.groups);
  w.traffic[workingSpace(t)] =
      (w.reads + weights) * sizeOf(s.type) +
      w.outputs * sizeOf(s.output) * (s.residual ? 2 : 1);
  return w;
}

Workload elementwiseWorkload(const Target &t, Opcode opcode, DType type,
                             int64_t count, int inputs, Function function) {
  Workload w;
  w.opcode = opcode;
  w.type = w.output = type;
  w.function = function;
  w.outputs = w.reads = count;
  w.traffic[workingSpace(t)] = (inputs + 1) * count * sizeOf(type);
  return w;
}

Workload dmaWorkload(Space from, Space to, int64_t bytes, int64_t run_bytes) {
  Workload w;
  w.opcode = Opcode::kDma;
  w.run_bytes = run_bytes;
  w.traffic[from] += bytes;
  w.traffic[to] += bytes;
  return w;
}

} // namespace npu::target
