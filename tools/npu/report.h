//===- report.h - What a build did, as text and JSON ------------*- C++ -*-===//
//
// report.json's schema is docs/report.md. Keys are only ever added.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_NPU_REPORT_H
#define TOOLS_NPU_REPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/support/json_object.h"

namespace npu {

/// A node that the target does not run.
struct HostNode {
  std::string node, op, reason, fix;
};

struct Coverage {
  int64_t npuNodes = 0, hostNodes = 0;
  int64_t npuMacs = 0, hostMacs = 0;
  int64_t npuSubgraphs = 0, hostSubgraphs = 0;
  std::vector<HostNode> host;
};

struct Estimate {
  int64_t cycles = 0;
  double latencyMs = 0;
  double macEfficiency = 0; ///< MACs done over MACs possible in `cycles`
};

struct MemoryUse {
  int64_t sramPeak = 0, sramCapacity = 0;
  int64_t dramArena = 0, dramLowerBound = 0;
  int64_t weights = 0;
};

struct Similarity {
  std::string output;
  double cosine = 0, maxError = 0;
  int64_t samples = 0;
};

/// A way to choose ranges, and the smallest cosine of an output that it gave.
struct Trial {
  std::string method;
  double percentile = 0;      ///< for method percentile
  int64_t splitChannels = 1;  ///< most groups of channels; 1: not split
  bool biasCorrected = false; ///< biases corrected by measuring
  double cosine = 0;
};

/// Neighbouring layers that stay in f32, and the cosine with that.
struct FloatLayers {
  std::vector<std::string> nodes;
  double cosine = 0;
};

struct QuantizationReport {
  std::string method; ///< empty: nothing was quantised
  double percentile = 0;
  int64_t splitChannels = 1;
  bool biasCorrected = false;
  std::vector<Trial> tried;
  double minCosine = 0; ///< asked for; 0: not
  std::vector<FloatLayers> keptFloat;
};

struct Report {
  std::string model, blob, target, mode;
  Coverage coverage;
  Estimate estimate;
  MemoryUse memory;
  std::vector<Similarity> similarity;
  QuantizationReport quantization;
  std::vector<std::pair<std::string, double>> seconds; ///< stage, in order
  std::map<std::string, std::string> versions;
  std::vector<std::string> warnings;
  std::vector<std::string> files; ///< what was written
};

/// Key `coverage` of report.json (docs/report.md).
rt::Json coverageJson(const Coverage &coverage);
/// Its lines in summary(): nodes, subgraphs, every node on the host.
std::string coverageText(const Coverage &coverage);

rt::Json toJson(const Report &report);

/// The summary that ends `npu build`.
std::string summary(const Report &report);

/// Cosine of the angle between two vectors; 1 when both are all zero, NaN
/// stays NaN.
double cosine(const float *a, const float *b, int64_t count);

} // namespace npu

#endif // TOOLS_NPU_REPORT_H
