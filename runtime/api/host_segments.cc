#include "runtime/api/host_segments.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace npu::rt {
namespace {

using Clock = std::chrono::steady_clock;

int64_t countOf(const Operand &o) {
  int64_t n = 1;
  for (int i = 0; i < o.rank; ++i)
    n *= o.dims[i];
  return n;
}

/// A model's tensor must be what the blob has for it. The blob's dimensions
/// are those of the memory (a scalar has one), the model's are ONNX's.
absl::Status checkTensors(const std::vector<Operand> &operands,
                          const std::vector<HostTensorInfo> &infos,
                          const char *what) {
  if (operands.size() != infos.size())
    return absl::InvalidArgumentError(
        absl::StrCat("its model has ", infos.size(), " ", what, ", the blob ",
                     operands.size()));
  for (size_t i = 0; i < infos.size(); ++i) {
    const HostTensorInfo &info = infos[i];
    int64_t count = 1;
    bool known = true;
    for (int64_t d : info.shape) {
      known &= d >= 0;
      count *= d;
    }
    if (!known || info.type != toOnnxType(operands[i].dtype) ||
        count != countOf(operands[i]))
      return absl::InvalidArgumentError(absl::StrCat(
          "'", info.name, "' of its model has ONNX type ", info.type, " [",
          absl::StrJoin(info.shape, ","), "], the blob ",
          dtypeName(operands[i].dtype), " with ", countOf(operands[i]),
          " elements; build the model again"));
  }
  return absl::OkStatus();
}

/// "host: Loop_3, Cast_4 and 7 more".
std::string nameOf(const HostCall &call) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names;
  for (const HostNode &n : call.nodes)
    if (names.size() < kNamed)
      names.push_back(n.name);
  std::string text = absl::StrCat("host: ", absl::StrJoin(names, ", "));
  if (call.nodes.size() > kNamed)
    absl::StrAppend(&text, " and ", call.nodes.size() - kNamed, " more");
  return text;
}

} // namespace

absl::StatusOr<std::unique_ptr<HostSegments>>
HostSegments::create(const Blob &blob, DeviceProgram &device,
                     const HostOptions &options) {
  std::unique_ptr<HostSegments> segments(new HostSegments);
  segments->numCommands_ = blob.numCommands();
  for (const HostCall &call : blob.hostCalls())
    if (absl::Status s = segments->add(call, device, options); !s.ok())
      return s;
  return segments;
}

absl::Status HostSegments::add(const HostCall &call, DeviceProgram &device,
                               const HostOptions &options) {
  std::string what = absl::StrCat("host segment ", segments_.size());
  auto model = HostModel::load(call.model, what, options);
  if (!model.ok())
    return model.status();
  absl::Status status = checkTensors(call.inputs, (*model)->inputs(), "inputs");
  if (status.ok())
    status = checkTensors(call.outputs, (*model)->outputs(), "outputs");
  if (!status.ok())
    return absl::Status(status.code(),
                        absl::StrCat(what, ": ", status.message()));
  for (const auto *list : {&call.inputs, &call.outputs})
    for (const Operand &o : *list)
      if (o.space == Space::kDram && !device.dram(o.offset))
        return absl::UnimplementedError(
            absl::StrCat(what, ": the device does not share its DRAM with the "
                               "host; use a device that does"));
  segments_.push_back({&call, *std::move(model), nameOf(call)});
  return absl::OkStatus();
}

absl::Status HostSegments::runModel(size_t index, DeviceProgram &device,
                                    const std::vector<Region> &io) {
  Segment &segment = segments_[index];
  auto resolve = [&](const std::vector<Operand> &operands,
                     std::vector<uint8_t *> *list) {
    list->clear();
    for (const Operand &o : operands)
      list->push_back(o.space == Space::kIo ? io[o.io].data + o.offset
                                            : device.dram(o.offset));
  };
  resolve(segment.call->inputs, &in_);
  resolve(segment.call->outputs, &out_);
  Clock::time_point start = Clock::now();
  absl::Status status = segment.model->run(in_, out_);
  if (profiling_)
    segment.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(
                              Clock::now() - start)
                              .count();
  return status;
}

absl::Status HostSegments::run(DeviceProgram &device,
                               const std::vector<Region> &io,
                               const JobHooks &hooks,
                               const std::function<absl::Status()> *poll) {
  int64_t done = 0;
  for (size_t i = 0; i <= segments_.size(); ++i) {
    int64_t to =
        i < segments_.size() ? segments_[i].call->before : numCommands_;
    if (to > done)
      if (absl::Status s = device.run(io, done, to, hooks); !s.ok())
        return s;
    done = to;
    if (i == segments_.size())
      break;
    if (poll)
      if (absl::Status s = (*poll)(); !s.ok())
        return s;
    if (absl::Status s = runModel(i, device, io); !s.ok())
      return s;
  }
  return absl::OkStatus();
}

void HostSegments::setProfiling(bool on) { profiling_ = on; }

std::vector<LayerProfile> HostSegments::profile() const {
  std::vector<LayerProfile> rows;
  if (profiling_)
    for (const Segment &s : segments_)
      rows.push_back({s.name, "host", 1, s.nanoseconds});
  return rows;
}

} // namespace npu::rt
