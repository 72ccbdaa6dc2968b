// Reading and verifying the host segments of a blob.
#include "runtime/blob/blob.h"
#include "runtime/blob/reading.h"

namespace npu::rt {
namespace {

/// The dense operand of a tensor, or InvalidArgument.
absl::StatusOr<Operand> readOperand(const fb::HostTensor &t) {
  Operand o{};
  o.space = static_cast<Space>(t.space());
  o.dtype = static_cast<DType>(t.dtype());
  o.io = t.io();
  if (t.dtype() >= kNumDTypes)
    return invalid(absl::StrCat("unknown element type ", int(t.dtype())));
  if (t.dims()->size() < 1 || t.dims()->size() > kMaxRank)
    return invalid(
        absl::StrCat("rank ", t.dims()->size(), " is not 1 to ", kMaxRank));
  if (t.offset() > uint64_t(kMaxBytes))
    return invalid(absl::StrCat("impossible offset ", t.offset()));
  o.offset = static_cast<int64_t>(t.offset());
  o.rank = static_cast<uint8_t>(t.dims()->size());
  int64_t count = 1;
  for (int i = o.rank - 1; i >= 0; --i) {
    int32_t dim = t.dims()->Get(i);
    if (dim < 1 || count * dim > INT32_MAX)
      return invalid(absl::StrCat("impossible dimension ", dim));
    o.dims[i] = dim;
    o.strides[i] = static_cast<int32_t>(count);
    count *= dim;
  }
  return o;
}

absl::Status readOperands(
    const flatbuffers::Vector<flatbuffers::Offset<fb::HostTensor>> &from,
    std::vector<Operand> *to) {
  for (const fb::HostTensor *t : from) {
    absl::StatusOr<Operand> operand = readOperand(*t);
    if (!operand.ok())
      return operand.status();
    to->push_back(*operand);
  }
  return absl::OkStatus();
}

int64_t endOf(const Operand &o) {
  int64_t count = 1;
  for (int i = 0; i < o.rank; ++i)
    count *= o.dims[i];
  return o.offset + count * sizeOf(o.dtype);
}

absl::Status verifyPlace(const Operand &o, const SpaceSizes &sizes,
                         bool written) {
  int64_t size = o.space == Space::kDram ? sizes.dram
                 : o.space == Space::kIo && o.io < sizes.io.size()
                     ? sizes.io[o.io]
                     : -1;
  if (size < 0)
    return invalid("a tensor lies neither in the arena nor in a bound tensor");
  if (o.offset % sizeOf(o.dtype) || endOf(o) > size)
    return invalid(absl::StrCat("bytes ", o.offset, " to ", endOf(o),
                                " are not aligned or leave a space of ", size));
  if (written && o.space == Space::kIo && o.io < sizes.inputs)
    return invalid("a result lies in an input of the program");
  return absl::OkStatus();
}

bool touch(const Operand &a, const Operand &b) {
  return a.space == b.space && (a.space != Space::kIo || a.io == b.io) &&
         a.offset < endOf(b) && b.offset < endOf(a);
}

absl::Status verifyCall(const HostCall &call, const SpaceSizes &sizes) {
  for (const Operand &o : call.inputs)
    if (absl::Status s = verifyPlace(o, sizes, false); !s.ok())
      return s;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Operand &o = call.outputs[i];
    if (absl::Status s = verifyPlace(o, sizes, true); !s.ok())
      return s;
    bool shared = false;
    for (const Operand &input : call.inputs)
      shared |= touch(o, input);
    for (size_t k = 0; k < i; ++k)
      shared |= touch(o, call.outputs[k]);
    if (shared)
      return invalid("a result overlaps another tensor of the segment");
  }
  return absl::OkStatus();
}

} // namespace

absl::Status Blob::readHostCalls(const void *metadata, int64_t start) {
  const auto &program = *static_cast<const fb::Program *>(metadata);
  if (!program.host_calls())
    return absl::OkStatus();
  for (const fb::HostCall *in : *program.host_calls()) {
    if (!inside(in->model(), start, size_))
      return damaged("a host segment's model lies outside the file");
    HostCall call;
    call.before = in->before();
    call.model = {reinterpret_cast<const char *>(data_) + in->model()->offset(),
                  static_cast<size_t>(in->model()->size())};
    absl::Status status = readOperands(*in->inputs(), &call.inputs);
    if (status.ok())
      status = readOperands(*in->outputs(), &call.outputs);
    if (!status.ok())
      return invalid(absl::StrCat("host segment ", hostCalls_.size(), ": ",
                                  status.message()));
    for (const fb::HostNode *n : *in->nodes())
      call.nodes.push_back({n->name()->str(), n->op()->str(),
                            n->reason()->str(), n->fix()->str(),
                            static_cast<int64_t>(n->macs()),
                            static_cast<int64_t>(n->bytes())});
    hostCalls_.push_back(std::move(call));
  }
  return absl::OkStatus();
}

absl::Status Blob::verifyHostCalls() const {
  int64_t previous = 0;
  for (size_t i = 0; i < hostCalls_.size(); ++i) {
    const HostCall &call = hostCalls_[i];
    absl::Status status = verifyCall(call, sizes_);
    if (call.before < previous || call.before > numCommands_)
      status = invalid(absl::StrCat("runs before command ", call.before,
                                    ", out of order or of ", numCommands_));
    if (!status.ok())
      return invalid(absl::StrCat("host segment ", i, ": ", status.message()));
    previous = call.before;
  }
  return absl::OkStatus();
}

} // namespace npu::rt
