#include "tools/npu/config.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/support/file.h"

namespace npu {

using rt::Json;
using rt::JsonObject;

namespace {

std::string resolve(const std::string &folder, const std::string &path) {
  if (path.empty() || path[0] == '/' || folder.empty())
    return path;
  return (std::filesystem::path(folder) / path).string();
}

void checkOneOf(JsonObject &object, const char *key, const std::string &value,
                const std::vector<std::string> &known) {
  for (const std::string &k : known)
    if (k == value)
      return;
  object.fail(absl::InvalidArgumentError(
      absl::StrCat(object.pathOf(key), ": \"", value, "\" is none of ",
                   absl::StrJoin(known, ", "))));
}

void checkReadable(JsonObject &object, const char *key,
                   const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    object.fail(
        absl::NotFoundError(absl::StrCat(object.pathOf(key), ": ", path,
                                         " does not exist; paths are relative "
                                         "to the configuration file")));
}

absl::StatusOr<InputConfig> readInput(const Json &json,
                                      const std::string &path) {
  JsonObject object(json, path);
  InputConfig input;
  for (const char *key : {"format", "layout", "mean", "std", "fit", "filter",
                          "resize", "crop", "fill"})
    input.isPicture |= object.has(key);
  input.preprocess = rt::readPreprocess(object);
  object.get("name", &input.preprocess.name);
  object.get("shape", &input.shape);
  for (int64_t d : input.shape)
    if (d <= 0)
      object.fail(absl::InvalidArgumentError(
          absl::StrCat(path, ".shape: dimension ", d, " is not positive")));
  if (absl::Status status = object.finish(); !status.ok())
    return status;
  return input;
}

absl::Status readInputs(JsonObject &root, Config *config) {
  const Json *json = root.get("input");
  if (!json)
    return absl::OkStatus();
  bool list = json->is_array();
  for (size_t i = 0, n = list ? json->size() : 1; i < n; ++i) {
    absl::StatusOr<InputConfig> input =
        list ? readInput((*json)[i], absl::StrCat("$.input[", i, "]"))
             : readInput(*json, "$.input");
    if (!input.ok())
      return input.status();
    config->inputs.push_back(*std::move(input));
  }
  return absl::OkStatus();
}

absl::Status readOutput(JsonObject &root, const std::string &folder,
                        Config *config) {
  const Json *json = root.get("output");
  if (!json)
    return absl::OkStatus();
  JsonObject object(*json, "$.output");
  std::string labels;
  object.get("labels", &labels);
  if (absl::Status status = object.finish(); !status.ok() || labels.empty())
    return status;
  absl::StatusOr<std::string> text = rt::readFile(resolve(folder, labels));
  if (!text.ok())
    return absl::Status(
        text.status().code(),
        absl::StrCat("$.output.labels: ", text.status().message()));
  for (absl::string_view line : absl::StrSplit(*text, '\n'))
    config->labels.emplace_back(absl::StripAsciiWhitespace(line));
  while (!config->labels.empty() && config->labels.back().empty())
    config->labels.pop_back();
  return absl::OkStatus();
}

absl::Status readOverrides(JsonObject &object, QuantizeConfig *config) {
  const Json *json = object.get("overrides");
  if (!json)
    return absl::OkStatus();
  if (!json->is_array())
    return rt::jsonTypeError("$.quantize.overrides", "a list", *json);
  for (size_t i = 0; i < json->size(); ++i) {
    JsonObject entry((*json)[i], absl::StrCat("$.quantize.overrides[", i, "]"));
    LayerOverride override;
    entry.require("layer", &override.layer);
    entry.require("mode", &override.mode);
    checkOneOf(entry, "mode", override.mode, {"int8", "fp32"});
    if (absl::Status status = entry.finish(); !status.ok())
      return status;
    config->overrides.push_back(std::move(override));
  }
  return absl::OkStatus();
}

absl::Status readQuantize(JsonObject &root, const std::string &folder,
                          QuantizeConfig *config) {
  const Json *json = root.get("quantize");
  if (!json)
    return absl::OkStatus();
  JsonObject object(*json, "$.quantize");
  object.get("mode", &config->mode);
  if (object.has("mode"))
    checkOneOf(object, "mode", config->mode, {"int8", "fp32", "mixed"});
  object.get("calibration_dataset", &config->dataset);
  config->dataset = resolve(folder, config->dataset);
  if (!config->dataset.empty())
    checkReadable(object, "calibration_dataset", config->dataset);
  object.get("calibration_steps", &config->steps);
  if (config->steps < 1)
    object.fail(absl::InvalidArgumentError(absl::StrCat(
        "$.quantize.calibration_steps: ", config->steps, " is less than 1")));
  object.get("method", &config->method);
  checkOneOf(object, "method", config->method,
             {"auto", "minmax", "percentile", "entropy", "mse"});
  object.get("bias_correction", &config->biasCorrection);
  object.get("percentile", &config->percentile);
  if (!(config->percentile > 50 && config->percentile <= 100))
    object.fail(absl::InvalidArgumentError(
        absl::StrCat("$.quantize.percentile: ", config->percentile,
                     " is outside (50, 100]")));
  object.get("min_cosine", &config->minCosine);
  if (!(config->minCosine >= 0 && config->minCosine < 1))
    object.fail(absl::InvalidArgumentError(absl::StrCat(
        "$.quantize.min_cosine: ", config->minCosine, " is outside [0, 1)")));
  object.fail(readOverrides(object, config));
  return object.finish();
}

absl::Status readTarget(JsonObject &root, const std::string &folder,
                        Config *config) {
  const Json *json = root.get("target");
  if (!json)
    return absl::OkStatus();
  JsonObject object(*json, "$.target");
  object.get("hardware", &config->hardware);
  if (absl::EndsWith(config->hardware, ".json")) {
    config->hardware = resolve(folder, config->hardware);
    checkReadable(object, "hardware", config->hardware);
  }
  object.get("npu_cores", &config->cores);
  if (object.has("npu_cores") && config->cores < 1)
    object.fail(absl::InvalidArgumentError(absl::StrCat(
        "$.target.npu_cores: ", config->cores, " is less than 1")));
  return object.finish();
}

} // namespace

absl::StatusOr<Config> parseConfig(const std::string &text,
                                   const std::string &what,
                                   const std::string &folder) {
  absl::StatusOr<Json> json = rt::parseJson(text, what);
  if (!json.ok())
    return json.status();
  Config config;
  config.text = text;
  JsonObject root(*json, "$");
  root.fail(readInputs(root, &config));
  root.fail(readOutput(root, folder, &config));
  root.fail(readQuantize(root, folder, &config.quantize));
  root.fail(readTarget(root, folder, &config));
  if (absl::Status status = root.finish(); !status.ok())
    return absl::Status(status.code(),
                        absl::StrCat(what, ": ", status.message()));
  return config;
}

absl::StatusOr<Config> readConfig(const std::string &path) {
  absl::StatusOr<std::string> text = rt::readFile(path);
  if (!text.ok())
    return text.status();
  return parseConfig(*text, path,
                     std::filesystem::path(path).parent_path().string());
}

} // namespace npu
