#include "runtime/host/library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"

namespace npu::rt {
namespace {

std::string programFolder() {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0)
    return "";
  std::string text(path, size);
  return text.substr(0, text.rfind('/') + 1);
}

std::vector<std::string> candidates(const std::string &given) {
  if (!given.empty())
    return {given};
  if (const char *path = std::getenv("NPU_ONNXRUNTIME"); path && *path)
    return {path};
  std::string folder = programFolder();
  return {absl::StrCat(folder, "libonnxruntime.so.1"),
          absl::StrCat(folder, "../lib/libonnxruntime.so.1"),
          "libonnxruntime.so.1", "libonnxruntime.so"};
}

absl::Status initialise(void *handle, const std::string &path,
                        HostLibrary *library) {
  auto base = reinterpret_cast<const ort::ApiBase *(*)()>(
      dlsym(handle, "OrtGetApiBase"));
  if (!base)
    return absl::UnavailableError(
        absl::StrCat(path, " is not ONNX Runtime (no OrtGetApiBase)"));
  library->version = base()->getVersionString();
  library->table = base()->getApi(ort::kApiVersion);
  if (!library->table)
    return absl::UnavailableError(absl::StrCat(
        path, ": ONNX Runtime ", library->version, " has no API version ",
        ort::kApiVersion, "; install another version"));
  return library->check(
      ort::call<ort::Status *>(library->table, ort::kCreateEnv, ort::kLogError,
                               "npu", &library->env),
      "ONNX Runtime");
}

absl::StatusOr<const HostLibrary *> load(const std::string &path) {
  std::string why;
  for (const std::string &candidate : candidates(path)) {
    void *handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      why = dlerror();
      continue;
    }
    auto *library = new HostLibrary;
    if (absl::Status s = initialise(handle, candidate, library); !s.ok())
      return s;
    return library;
  }
  return absl::UnavailableError(absl::StrCat(
      "host segments need ONNX Runtime, which cannot be loaded (", why,
      "); install libonnxruntime and set NPU_ONNXRUNTIME to its path (in the "
      "repository: tools/dev/setup.sh test)"));
}

} // namespace

absl::Status HostLibrary::check(ort::Status *status,
                                const std::string &what) const {
  if (!status)
    return absl::OkStatus();
  std::string text = ort::call<const char *>(
      table, ort::kGetErrorMessage, static_cast<const ort::Status *>(status));
  ort::call<void>(table, ort::kReleaseStatus, status);
  for (char &c : text)
    c = c == '\n' ? ' ' : c;
  return absl::InternalError(absl::StrCat(what, ": ONNX Runtime: ", text));
}

absl::StatusOr<const HostLibrary *> hostLibrary(const std::string &path) {
  static auto *mutex = new std::mutex;
  static auto *loaded =
      new std::map<std::string, absl::StatusOr<const HostLibrary *>>;
  std::lock_guard<std::mutex> lock(*mutex);
  const char *variable = path.empty() ? std::getenv("NPU_ONNXRUNTIME") : "";
  std::string key = path.empty() && variable ? variable : path;
  auto it = loaded->find(key);
  if (it == loaded->end())
    it = loaded->emplace(key, load(path)).first;
  return it->second;
}

} // namespace npu::rt
