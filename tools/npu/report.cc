#include "tools/npu/report.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace npu {

using rt::Json;

static double macFraction(const Coverage &c) {
  int64_t all = c.npuMacs + c.hostMacs;
  if (all)
    return double(c.npuMacs) / all;
  return c.hostNodes ? 0 : 1;
}

Json coverageJson(const Coverage &c) {
  Json host = Json::array();
  for (const HostNode &n : c.host)
    host.push_back(
        {{"node", n.node}, {"op", n.op}, {"reason", n.reason}, {"fix", n.fix}});
  return {{"host_nodes", c.hostNodes},
          {"npu_nodes", c.npuNodes},
          {"npu_macs", c.npuMacs},
          {"npu_mac_fraction", macFraction(c)},
          {"npu_subgraphs", c.npuSubgraphs},
          {"host_subgraphs", c.hostSubgraphs},
          {"host", host}};
}

/// How ranges are chosen, biases corrected and channels grouped; `Choice` is a
/// Trial or the report.
template <typename Choice> static Json choiceJson(const Choice &c) {
  return {{"method", c.method},
          {"percentile", c.percentile},
          {"split_channels", c.splitChannels},
          {"bias_corrected", c.biasCorrected}};
}

template <typename Choice> static std::string choiceText(const Choice &c) {
  std::string text = c.method;
  if (c.method == "percentile")
    absl::StrAppend(&text, " ", c.percentile);
  if (c.splitChannels > 1)
    text += " with channels split";
  if (c.biasCorrected)
    text += c.splitChannels > 1 ? " and biases corrected"
                                : " with biases corrected";
  return text;
}

static Json quantizationJson(const QuantizationReport &q) {
  Json tried = Json::array(), kept = Json::array();
  for (const Trial &t : q.tried) {
    tried.push_back(choiceJson(t));
    tried.back()["cosine"] = t.cosine;
  }
  for (const FloatLayers &layers : q.keptFloat)
    kept.push_back({{"nodes", layers.nodes}, {"cosine", layers.cosine}});
  Json json = choiceJson(q);
  json["tried"] = tried;
  json["min_cosine"] = q.minCosine;
  json["kept_float"] = kept;
  return json;
}

Json toJson(const Report &r) {
  Json json;
  json["model"] = r.model;
  json["blob"] = r.blob;
  json["target"] = r.target;
  json["mode"] = r.mode;
  json["coverage"] = coverageJson(r.coverage);
  json["estimate"] = {{"cycles", r.estimate.cycles},
                      {"latency_ms", r.estimate.latencyMs},
                      {"mac_efficiency", r.estimate.macEfficiency}};
  json["memory"] = {{"sram_peak_bytes", r.memory.sramPeak},
                    {"sram_capacity_bytes", r.memory.sramCapacity},
                    {"dram_arena_bytes", r.memory.dramArena},
                    {"dram_arena_lower_bound_bytes", r.memory.dramLowerBound},
                    {"weight_bytes", r.memory.weights}};
  json["similarity"] = Json::object();
  for (const Similarity &s : r.similarity)
    json["similarity"][s.output] = {{"cosine", s.cosine},
                                    {"max_error", s.maxError},
                                    {"samples", s.samples}};
  if (!r.quantization.method.empty())
    json["quantization"] = quantizationJson(r.quantization);
  json["seconds"] = Json::object();
  for (const auto &[stage, seconds] : r.seconds)
    json["seconds"][stage] = seconds;
  json["versions"] = Json::object();
  for (const auto &[name, version] : r.versions)
    json["versions"][name] = version;
  json["warnings"] = r.warnings;
  json["files"] = r.files;
  return json;
}

static std::string bytes(int64_t n) {
  if (n >= 1 << 20)
    return absl::StrFormat("%.2f MiB", n / double(1 << 20));
  return absl::StrFormat("%.1f KiB", n / 1024.0);
}

std::string coverageText(const Coverage &c) {
  std::string text;
  absl::StrAppendFormat(
      &text, "coverage    %d of %d nodes on the NPU, %.1f %% of %.1f M MACs\n",
      c.npuNodes, c.npuNodes + c.hostNodes, 100 * macFraction(c),
      (c.npuMacs + c.hostMacs) / 1e6);
  absl::StrAppendFormat(&text, "subgraphs   %d, %d on the NPU\n",
                        c.npuSubgraphs + c.hostSubgraphs, c.npuSubgraphs);
  for (const HostNode &n : c.host)
    absl::StrAppendFormat(&text, "  on host   %s (%s): %s; %s\n", n.node, n.op,
                          n.reason, n.fix);
  return text;
}

std::string summary(const Report &r) {
  std::string text = coverageText(r.coverage);
  absl::StrAppendFormat(
      &text, "estimate    %.3f ms on %s, %d cycles, MAC efficiency %.1f %%\n",
      r.estimate.latencyMs, r.target, r.estimate.cycles,
      100 * r.estimate.macEfficiency);
  absl::StrAppendFormat(
      &text, "memory      weights %s, DRAM arena %s (lower bound %s)",
      bytes(r.memory.weights), bytes(r.memory.dramArena),
      bytes(r.memory.dramLowerBound));
  if (r.memory.sramCapacity)
    absl::StrAppendFormat(&text, ", SRAM peak %s of %s",
                          bytes(r.memory.sramPeak),
                          bytes(r.memory.sramCapacity));
  text += "\n";
  const QuantizationReport &q = r.quantization;
  if (!q.tried.empty()) {
    absl::StrAppend(&text, "method      ", choiceText(q), "; tried:");
    for (size_t i = 0; i < q.tried.size(); ++i)
      absl::StrAppendFormat(&text, "%s %s %.5f", i ? "," : "",
                            choiceText(q.tried[i]), q.tried[i].cosine);
    text += "\n";
  }
  for (const FloatLayers &layers : q.keptFloat)
    absl::StrAppendFormat(&text, "in f32      %s: cosine %.5f with it\n",
                          absl::StrJoin(layers.nodes, ", "), layers.cosine);
  for (const Similarity &s : r.similarity)
    absl::StrAppendFormat(
        &text, "similarity  %s: cosine %.5f, largest error %.4g, %d samples\n",
        s.output, s.cosine, s.maxError, s.samples);
  double total = 0;
  for (const auto &stage : r.seconds)
    total += stage.second;
  absl::StrAppendFormat(&text, "time        %.2f s:", total);
  for (const auto &[stage, seconds] : r.seconds)
    absl::StrAppendFormat(&text, " %s %.2f", stage, seconds);
  text += "\n";
  for (const std::string &warning : r.warnings)
    absl::StrAppend(&text, "warning     ", warning, "\n");
  for (const std::string &file : r.files)
    absl::StrAppend(&text, "wrote       ", file, "\n");
  return text;
}

double cosine(const float *a, const float *b, int64_t count) {
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < count; ++i) {
    ab += double(a[i]) * b[i];
    aa += double(a[i]) * a[i];
    bb += double(b[i]) * b[i];
  }
  if (aa == 0 && bb == 0)
    return 1;
  if (aa == 0 || bb == 0)
    return 0;
  return ab / std::sqrt(aa * bb);
}

} // namespace npu
