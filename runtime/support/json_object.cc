#include "runtime/support/json_object.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/support/file.h"

namespace npu::rt {

absl::StatusOr<Json> parseJson(const std::string &text,
                               const std::string &what) {
  // The parser reports positions through its exception only; keep it inside.
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception &e) {
    std::string why = e.what();
    if (size_t close = why.find("] "); close != std::string::npos)
      why = why.substr(close + 2);
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": not valid JSON: ", why));
  }
}

absl::StatusOr<Json> readJsonFile(const std::string &path) {
  absl::StatusOr<std::string> text = readFile(path);
  if (!text.ok())
    return text.status();
  return parseJson(*text, path);
}

absl::Status jsonTypeError(const std::string &path, const char *expected,
                           const Json &value) {
  std::string found =
      value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (found.size() > 40)
    found = found.substr(0, 37) + "...";
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": expected ", expected, ", found ", found));
}

JsonObject::JsonObject(const Json &value, std::string path)
    : value_(&value), path_(std::move(path)) {
  if (!value.is_object()) {
    fail(jsonTypeError(path_, "an object", value));
    value_ = nullptr;
  }
}

bool JsonObject::has(const char *key) const {
  return value_ && value_->contains(key);
}

const Json *JsonObject::get(const char *key) {
  asked_.insert(key);
  return has(key) ? &(*value_)[key] : nullptr;
}

void JsonObject::get(const char *key, bool *out) {
  if (const Json *v = get(key)) {
    if (v->is_boolean())
      *out = v->get<bool>();
    else
      fail(jsonTypeError(pathOf(key), "true or false", *v));
  }
}

void JsonObject::get(const char *key, int64_t *out) {
  if (const Json *v = get(key)) {
    if (v->is_number_integer())
      *out = v->get<int64_t>();
    else
      fail(jsonTypeError(pathOf(key), "an integer", *v));
  }
}

void JsonObject::get(const char *key, double *out) {
  if (const Json *v = get(key)) {
    if (v->is_number())
      *out = v->get<double>();
    else
      fail(jsonTypeError(pathOf(key), "a number", *v));
  }
}

void JsonObject::get(const char *key, std::string *out) {
  if (const Json *v = get(key)) {
    if (v->is_string())
      *out = v->get<std::string>();
    else
      fail(jsonTypeError(pathOf(key), "a string", *v));
  }
}

// Lists, and a bare element as a list of one.
template <typename T, typename Is>
static absl::Status readList(const Json &value, const std::string &path,
                             const char *expected, Is is, std::vector<T> *out) {
  out->clear();
  if (is(value)) {
    out->push_back(value.get<T>());
    return absl::OkStatus();
  }
  if (!value.is_array())
    return jsonTypeError(path, absl::StrCat("a list of ", expected).c_str(),
                         value);
  for (size_t i = 0; i < value.size(); ++i) {
    if (!is(value[i]))
      return jsonTypeError(absl::StrCat(path, "[", i, "]"), expected, value[i]);
    out->push_back(value[i].get<T>());
  }
  return absl::OkStatus();
}

void JsonObject::get(const char *key, std::vector<double> *out) {
  if (const Json *v = get(key))
    fail(readList(
        *v, pathOf(key), "numbers", [](const Json &e) { return e.is_number(); },
        out));
}

void JsonObject::get(const char *key, std::vector<int64_t> *out) {
  if (const Json *v = get(key))
    fail(readList(
        *v, pathOf(key), "integers",
        [](const Json &e) { return e.is_number_integer(); }, out));
}

void JsonObject::get(const char *key, std::vector<std::string> *out) {
  if (const Json *v = get(key))
    fail(readList(
        *v, pathOf(key), "strings", [](const Json &e) { return e.is_string(); },
        out));
}

void JsonObject::fail(absl::Status status) {
  if (status_.ok())
    status_ = std::move(status);
}

absl::Status JsonObject::finish() {
  if (!status_.ok() || !value_)
    return status_;
  for (auto it = value_->begin(); it != value_->end(); ++it)
    if (!asked_.count(it.key()))
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ".", it.key(),
          ": unknown key; known here: ", absl::StrJoin(asked_, ", ")));
  return absl::OkStatus();
}

} // namespace npu::rt
