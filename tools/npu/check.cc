// npu check: where each node of a model would run, without compiling it.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/import.h"
#include "target/target.h"
#include "tools/npu/commands.h"
#include "tools/npu/compiler.h"

namespace npu {
namespace {

using rt::Json;

ImportRequest requestOf(const CheckOptions &options, ImportReport *report) {
  ImportRequest request;
  request.batch = options.batch;
  request.shapeTexts = options.shapes;
  request.dimTexts = options.dims;
  request.valueTexts = options.values;
  request.placement = options.placement;
  request.report = report;
  return request;
}

/// Nodes that keep the model from being compiled.
Json refusedJson(const ImportReport &report) {
  Json list = Json::array();
  for (const Refusal &r : report.refusals)
    list.push_back({{"node", r.node},
                    {"op", r.op},
                    {"kind", refusalName(r.kind)},
                    {"reason", r.reason}});
  return list;
}

void print(const std::string &model, const std::string &target,
           const Compiler &compiler, bool json) {
  const Coverage coverage = compiler.coverage();
  if (!json) {
    std::cout << coverageText(coverage);
    for (const std::string &warning : compiler.warnings())
      std::cout << "warning     " << warning << "\n";
    return;
  }
  Json out = {{"model", model},
              {"target", target},
              {"imports", true},
              {"coverage", coverageJson(coverage)},
              {"warnings", compiler.warnings()}};
  std::cout << out.dump(2) << "\n";
}

} // namespace

absl::Status requireNpu(const Coverage &coverage) {
  if (coverage.hostNodes == 0)
    return absl::OkStatus();
  std::string text =
      absl::StrCat(coverage.hostNodes, " node(s) would run on the host:");
  for (const HostNode &n : coverage.host)
    absl::StrAppend(&text, "\n  ", n.node, ": ", n.reason, "; ", n.fix);
  return absl::FailedPreconditionError(text);
}

absl::Status check(const CheckOptions &options) {
  auto target = target::load(options.target);
  if (!target.ok())
    return target.status();
  Compiler compiler("");
  ImportReport report;
  absl::Status imported =
      compiler.import(options.model, requestOf(options, &report));
  if (imported.ok())
    imported = compiler.optimise();
  if (!imported.ok()) {
    if (options.json)
      std::cout << Json({{"model", options.model},
                         {"target", options.target},
                         {"imports", false},
                         {"error", std::string(imported.message())},
                         {"refused", refusedJson(report)},
                         {"wanted_values", report.wanted}})
                       .dump(2)
                << "\n";
    return imported;
  }
  print(options.model, options.target, compiler, options.json);
  return options.requireNpu ? requireNpu(compiler.coverage())
                            : absl::OkStatus();
}

} // namespace npu
