//===- json_object.h - Strict reading of JSON objects -----------*- C++ -*-===//
//
// Configuration files are read with every key accounted for: a key that nobody
// asked for, a value of the wrong type or a missing key is an error that names
// the JSON path, e.g. `$.input[0].mean[2]: expected a number, found "x"`.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_SUPPORT_JSON_OBJECT_H
#define RUNTIME_SUPPORT_JSON_OBJECT_H

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace npu::rt {

using Json = nlohmann::ordered_json;

/// Parses text; the error says where the syntax breaks. `what` names the
/// source (a file, say) in messages.
absl::StatusOr<Json> parseJson(const std::string &text,
                               const std::string &what);

/// Reads and parses a file.
absl::StatusOr<Json> readJsonFile(const std::string &path);

/// `path`: expected `expected`, found `value` (shortened).
absl::Status jsonTypeError(const std::string &path, const char *expected,
                           const Json &value);

/// One JSON object being read. Getters leave `*out` alone when the key is
/// absent; the first error sticks and is returned by finish(), which also
/// refuses the keys that no getter asked for.
class JsonObject {
public:
  JsonObject(const Json &value, std::string path);

  void get(const char *key, bool *out);
  void get(const char *key, int64_t *out);
  void get(const char *key, double *out);
  void get(const char *key, std::string *out);
  /// A single number counts as a list of one.
  void get(const char *key, std::vector<double> *out);
  void get(const char *key, std::vector<int64_t> *out);
  void get(const char *key, std::vector<std::string> *out);
  /// The raw value, or null when absent; for nested objects and lists.
  const Json *get(const char *key);
  /// As get(), but absence is an error.
  template <typename T> void require(const char *key, T *out) {
    if (!has(key))
      fail(absl::InvalidArgumentError(path_ + ": missing key \"" + key + "\""));
    get(key, out);
  }

  bool has(const char *key) const;
  const std::string &path() const { return path_; }
  std::string pathOf(const char *key) const { return path_ + "." + key; }
  /// Records an error found by the caller; the first one wins.
  void fail(absl::Status status);
  absl::Status finish();

private:
  const Json *value_;
  std::string path_;
  std::set<std::string> asked_;
  absl::Status status_;
};

} // namespace npu::rt

#endif // RUNTIME_SUPPORT_JSON_OBJECT_H
