//===- device.h - What an NPU has to offer the runtime ----------*- C++ -*-===//
//
// A chip vendor adds a device by implementing these two classes. The runtime
// calls a device from one thread per queue; a device with one command
// processor serialises jobs itself.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/blob/blob.h"

namespace npu::rt {

/// What happens while a job runs.
struct JobHooks {
  /// Called after command `index` has completed, before the next one starts;
  /// an error ends the job with it. Taps, cancellation and deadlines use it.
  std::function<absl::Status(int64_t index)> after;
  /// If not null: room for one number per command, its nanoseconds.
  int64_t *nanoseconds = nullptr;
};

/// A program in a device's memory, with the memory for one job at a time.
class DeviceProgram {
public:
  virtual ~DeviceProgram() = default;
  /// Runs the commands from `first` up to before `last`, to the end. `io`: the
  /// bound inputs, then outputs, each of the size that the blob states and
  /// aligned to its element. No allocation.
  virtual absl::Status run(const std::vector<Region> &io, int64_t first,
                           int64_t last, const JobHooks &hooks) = 0;
  /// DRAM as the host may read and write it between two runs, for host
  /// segments; null if the device has no such memory.
  virtual uint8_t *dram(int64_t offset) = 0;
  /// The memory behind an operand between two commands, for taps; null if the
  /// device cannot show it.
  virtual const uint8_t *peek(const Operand &operand, int core) const = 0;
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// One line for people: what it is and how it runs.
  virtual std::string description() const = 0;
  /// Allocates what the blob needs. ResourceExhausted with the sizes if it
  /// does not fit.
  virtual absl::StatusOr<std::unique_ptr<DeviceProgram>>
  load(std::shared_ptr<const Blob> blob) = 0;
};

} // namespace npu::rt

#endif // RUNTIME_DEVICE_DEVICE_H
