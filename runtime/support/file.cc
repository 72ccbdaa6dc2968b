#include "runtime/support/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace npu::rt {

namespace fs = std::filesystem;

absl::StatusOr<std::string> readFile(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read ", path, ": not a regular file"));
  std::ifstream in(path, std::ios::binary);
  std::string bytes(info.st_size, '\0');
  if (!in || !in.read(bytes.data(), bytes.size()))
    return absl::ErrnoToStatus(errno ? errno : EIO,
                               absl::StrCat("cannot read ", path));
  return bytes;
}

static absl::Status writeAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return absl::ErrnoToStatus(errno, "write");
    bytes.remove_prefix(n);
  }
  if (::fsync(fd) != 0 && errno != EINVAL)
    return absl::ErrnoToStatus(errno, "fsync");
  return absl::OkStatus();
}

absl::Status writeFileAtomically(const std::string &path,
                                 absl::string_view bytes) {
  std::string temporary = absl::StrCat(path, ".tmp.", ::getpid());
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  absl::Status status = writeAll(fd, bytes);
  ::close(fd);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = absl::ErrnoToStatus(errno, "rename");
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return absl::Status(status.code(), absl::StrCat("cannot write ", path, ": ",
                                                    status.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>>
listFiles(const std::string &folder,
          const std::vector<std::string> &extensions) {
  std::error_code error;
  std::vector<std::string> files;
  fs::directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::string name = absl::AsciiStrToLower(it->path().filename().string());
    bool wanted = std::any_of(
        extensions.begin(), extensions.end(),
        [&](const std::string &e) { return absl::EndsWith(name, e); });
    std::error_code ignored;
    if (wanted && it->is_regular_file(ignored))
      files.push_back(it->path().string());
  }
  if (error)
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("cannot list ", folder));
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace npu::rt
