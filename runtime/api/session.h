//===- session.h - Running programs -----------------------------*- C++ -*-===//
//
//   auto device = openDevice({});                    // the software NPU
//   auto program = Program::load("model.npub");
//   auto session = Session::create(*device, *program);
//   (*session)->input(0) ...                         // fill in
//   Queue queue(*device);
//   Fence fence;
//   queue.submit(**session, &fence);  fence.wait();  // or (*session)->run()
//
// Errors are absl::Status: what, where, what to do. npu.h is the same in C.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_API_SESSION_H
#define RUNTIME_API_SESSION_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/api/host_segments.h"
#include "runtime/device/device.h"
#include "runtime/kernels/context.h"

namespace npu::rt {

struct DeviceOptions {
  std::string name = "software";
  int threads = 1;       ///< software NPU: worker threads, 0: one per CPU
  bool portable = false; ///< software NPU: kernels without AVX2
};

/// Names for openDevice().
std::vector<std::string> deviceNames();
/// NotFound lists the devices there are.
absl::StatusOr<std::shared_ptr<Device>>
openDevice(const DeviceOptions &options);

/// A loaded and verified blob; shared by any number of sessions.
using Program = Blob;

/// A tensor that a command of the program has just completed.
struct TapView {
  const std::string &name;
  const Operand &operand; ///< type and dims
  const uint8_t *data;
};
using TapFunction = std::function<absl::Status(const TapView &)>;

/// Memory and bound tensors of one program; runs one job at a time.
class Session {
public:
  static absl::StatusOr<std::unique_ptr<Session>>
  create(std::shared_ptr<Device> device, std::shared_ptr<const Program> program,
         const HostOptions &host = {});

  const Program &program() const { return *program_; }
  /// Memory of input or output `i`, owned by the session unless bound to the
  /// caller's: program().inputs()[i].bytes() bytes, row-major.
  Region input(int i) { return io_[i]; }
  Region output(int i) { return io_[program_->inputs().size() + i]; }
  /// Copies an input in. InvalidArgument names the input, the expected and the
  /// given type, shape or size.
  absl::Status setInput(const std::string &name, DType type,
                        const std::vector<int64_t> &shape, const void *data);
  /// Uses the caller's memory for a tensor (zero copy) until bound again; it
  /// has to outlive the runs. Null: the session's own again.
  absl::Status bind(const std::string &name, void *data, int64_t bytes);

  /// Runs now, on the caller's thread.
  absl::Status run();

  /// Is shown every tapped tensor as it is completed; null: none.
  void setTap(TapFunction tap) { tap_ = std::move(tap); }
  /// Measures every command from now on.
  void setProfiling(bool on);
  /// By layer, in order of first execution, then the host segments; empty
  /// unless profiled.
  std::vector<LayerProfile> profile() const;

private:
  friend class Queue;
  Session() = default;
  absl::StatusOr<int> indexOf(const std::string &name) const;
  absl::Status execute(const std::function<absl::Status()> *poll);
  absl::Status afterCommand(int64_t index);

  std::shared_ptr<Device> device_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<DeviceProgram> loaded_;
  std::unique_ptr<HostSegments> host_; ///< null: the program has none
  std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> own_;
  std::vector<Region> io_;
  TapFunction tap_;
  std::multimap<int64_t, const Blob::Tap *> tapsByCommand_;
  std::vector<int64_t> nanoseconds_;
  const std::function<absl::Status()> *poll_ = nullptr;
  JobHooks hooks_;
};

} // namespace npu::rt

#endif // RUNTIME_API_SESSION_H
