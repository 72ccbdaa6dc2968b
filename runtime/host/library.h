//===- library.h - Finding and loading ONNX Runtime -------------*- C++ -*-===//
#ifndef RUNTIME_HOST_LIBRARY_H
#define RUNTIME_HOST_LIBRARY_H

#include <string>

#include "absl/status/statusor.h"
#include "runtime/host/ort_api.h"

namespace npu::rt {

/// The loaded library; one per process, never unloaded (its threads may
/// outlive any session).
struct HostLibrary {
  const void *const *table = nullptr;
  ort::Env *env = nullptr;
  std::string version;

  /// Takes ownership of a status of the library.
  absl::Status check(ort::Status *status, const std::string &what) const;
};

/// Loads it on the first call; `path` as in HostOptions.
absl::StatusOr<const HostLibrary *> hostLibrary(const std::string &path);

} // namespace npu::rt

#endif // RUNTIME_HOST_LIBRARY_H
