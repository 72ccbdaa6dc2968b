#include <iostream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/blob/blob.h"
#include "runtime/support/json_object.h"
#include "target/cost_model.h"
#include "tools/npu/commands.h"
#include "tools/npu/table.h"

namespace npu {
namespace {

using rt::Blob;
using rt::Json;

/// Facts that are JSON themselves; an empty object if they are not there.
Json fact(const Blob &blob, const char *key) {
  auto json = rt::parseJson(blob.info(key), key);
  return json.ok() && json->is_object() ? *json : Json::object();
}

Json tensors(const std::vector<rt::TensorInfo> &list) {
  Json json = Json::array();
  for (const rt::TensorInfo &t : list) {
    Json one = {
        {"name", t.name}, {"type", rt::dtypeName(t.dtype)}, {"shape", t.shape}};
    if (!t.preprocess.empty())
      if (auto spec = rt::parseJson(t.preprocess, t.name); spec.ok())
        one["preprocess"] = *spec;
    json.push_back(std::move(one));
  }
  return json;
}

struct LayerCost {
  int64_t commands = 0, macs = 0;
  double cycles = 0;
  std::map<rt::Engine, double> engines;
};

/// Cost by the blob's own target, in order of first execution.
std::vector<std::pair<std::string, LayerCost>>
layerCosts(const Blob &blob, const target::Target &target) {
  std::vector<std::pair<std::string, LayerCost>> rows;
  std::map<uint32_t, size_t> index;
  for (int64_t i = 0; i < blob.numCommands(); ++i) {
    const rt::Command &command = blob.commands()[i];
    auto [it, isNew] = index.try_emplace(command.layer, rows.size());
    if (isNew)
      rows.emplace_back(blob.layers()[command.layer], LayerCost());
    LayerCost &row = rows[it->second].second;
    target::Cost cost = target::cost(target, target::workloadOf(command));
    ++row.commands;
    row.macs += cost.macs;
    row.cycles += cost.cycles();
    row.engines[command.engine] += cost.cycles();
  }
  return rows;
}

const char *engineName(rt::Engine engine) {
  static const char *const names[] = {"matrix", "vector", "dma in", "dma out"};
  return names[static_cast<int>(engine)];
}

void printLayers(const Blob &blob, const target::Target &target) {
  std::vector<std::vector<std::string>> table = {
      {"layer", "engine", "commands", "MACs", "cycles"}};
  for (const auto &[name, cost] : layerCosts(blob, target)) {
    rt::Engine engine = rt::Engine::kVector;
    double most = -1;
    for (const auto &[e, cycles] : cost.engines)
      if (cycles > most) {
        most = cycles;
        engine = e;
      }
    table.push_back({name.empty() ? "(transfers)" : name, engineName(engine),
                     absl::StrCat(cost.commands), absl::StrCat(cost.macs),
                     absl::StrFormat("%.0f", cost.cycles)});
  }
  std::cout << "\n" << formatTable(table);
}

Json toJson(const Blob &blob) {
  Json json;
  for (const char *key :
       {"compiler", "model", "model_digest", "mode", "calibration_digest"})
    if (std::string value = blob.info(key); !value.empty())
      json[key] = value;
  json["inputs"] = tensors(blob.inputs());
  json["outputs"] = tensors(blob.outputs());
  for (const char *key : {"target", "coverage", "estimate"})
    json[key] = fact(blob, key);
  const rt::SpaceSizes &sizes = blob.sizes();
  json["memory"] = {{"weight_bytes", sizes.constants},
                    {"dram_arena_bytes", sizes.dram},
                    {"sram_peak_bytes", sizes.sram}};
  json["memory"].update(fact(blob, "memory"));
  json["cores"] = sizes.cores;
  json["commands"] = blob.numCommands();
  json["file_bytes"] = blob.fileBytes();
  return json;
}

void printText(const Blob &blob) {
  auto line = [](const char *what, const std::string &value) {
    std::cout << absl::StrFormat("%-12s%s\n", what, value);
  };
  line("model",
       absl::StrCat(blob.info("model"), "  ", blob.info("model_digest")));
  line("compiler", blob.info("compiler"));
  line("mode", blob.info("mode"));
  for (const rt::TensorInfo &t : blob.inputs())
    line("input", absl::StrCat(t.name, "  ", rt::typeText(t),
                               t.preprocess.empty() ? "" : "  pictures: ",
                               t.preprocess));
  for (const rt::TensorInfo &t : blob.outputs())
    line("output", absl::StrCat(t.name, "  ", rt::typeText(t)));
  Json target = fact(blob, "target"), estimate = fact(blob, "estimate"),
       coverage = fact(blob, "coverage");
  line("target", absl::StrCat(target.value("name", std::string("unknown")),
                              ", ", blob.sizes().cores, " core(s)"));
  line("coverage", absl::StrFormat("%d nodes on the NPU, %d on the host",
                                   coverage.value("npu_nodes", int64_t(0)),
                                   coverage.value("host_nodes", int64_t(0))));
  line("estimate",
       absl::StrFormat("%.3f ms, %d cycles", estimate.value("latency_ms", 0.0),
                       estimate.value("cycles", int64_t(0))));
  line("memory", absl::StrFormat("weights %d, DRAM arena %d, SRAM %d bytes",
                                 blob.sizes().constants, blob.sizes().dram,
                                 blob.sizes().sram));
  line("commands", absl::StrCat(blob.numCommands()));
}

} // namespace

absl::Status info(const InfoOptions &options) {
  auto blob = Blob::open(options.blob);
  if (!blob.ok())
    return blob.status();
  if (options.json) {
    std::cout << toJson(**blob).dump(2) << "\n";
    return absl::OkStatus();
  }
  printText(**blob);
  if (!options.layers)
    return absl::OkStatus();
  auto target = target::parseJson((*blob)->info("target"));
  if (!target.ok())
    return absl::FailedPreconditionError(
        "the blob does not say what target it is for: no costs to show");
  printLayers(**blob, *target);
  return absl::OkStatus();
}

} // namespace npu
