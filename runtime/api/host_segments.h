//===- host_segments.h - The host's share of a program ----------*- C++ -*-===//
#ifndef RUNTIME_API_HOST_SEGMENTS_H
#define RUNTIME_API_HOST_SEGMENTS_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/host/host_model.h"

namespace npu::rt {

/// What one layer cost in the last profiled run.
struct LayerProfile {
  std::string layer;
  std::string engine; ///< of most of its time: "matrix", "vector", "dma",
                      ///< or "host"
  int64_t commands = 0;
  int64_t nanoseconds = 0;
};

/// The models of a program's host segments, and the run that alternates
/// between them and the device.
class HostSegments {
public:
  /// Loads the models; each must have the inputs and outputs that the blob
  /// states.
  static absl::StatusOr<std::unique_ptr<HostSegments>>
  create(const Blob &blob, DeviceProgram &device, const HostOptions &options);

  /// Runs the whole program. `poll`, if not null, may end it between segments.
  absl::Status run(DeviceProgram &device, const std::vector<Region> &io,
                   const JobHooks &hooks,
                   const std::function<absl::Status()> *poll);

  void setProfiling(bool on);
  std::vector<LayerProfile> profile() const;

private:
  HostSegments() = default;
  absl::Status add(const HostCall &call, DeviceProgram &device,
                   const HostOptions &options);
  absl::Status runModel(size_t index, DeviceProgram &device,
                        const std::vector<Region> &io);

  struct Segment {
    const HostCall *call;
    std::unique_ptr<HostModel> model;
    std::string name; ///< for people
    int64_t nanoseconds = 0;
  };
  std::vector<Segment> segments_;
  int64_t numCommands_ = 0;
  bool profiling_ = false;
  std::vector<uint8_t *> in_, out_;
};

} // namespace npu::rt

#endif // RUNTIME_API_HOST_SEGMENTS_H
