//===- file.h - Whole files in and out --------------------------*- C++ -*-===//
#ifndef RUNTIME_SUPPORT_FILE_H
#define RUNTIME_SUPPORT_FILE_H

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace npu::rt {

/// The bytes of a regular file; NotFound, PermissionDenied or InvalidArgument
/// (a folder, say) with the path and the reason.
absl::StatusOr<std::string> readFile(const std::string &path);

/// Writes under a temporary name beside `path`, then renames: a reader sees the
/// old file or the whole new one, and a failure leaves nothing behind.
absl::Status writeFileAtomically(const std::string &path,
                                 absl::string_view bytes);

/// The regular files of a folder whose names end (case-insensitively) in one
/// of `extensions` (with the dot), sorted by name.
absl::StatusOr<std::vector<std::string>>
listFiles(const std::string &folder,
          const std::vector<std::string> &extensions);

} // namespace npu::rt

#endif // RUNTIME_SUPPORT_FILE_H
