// Writes docs/SUPPORTED_OPS.md out of the importer's registry and the outcomes
// of ONNX's backend tests.
#include <algorithm>
#include <cstdio>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lowering/onnx_to_npu/registry.h"
#include "onnx/defs/schema.h"
#include "test/conformance/expected.h"

namespace npu::conformance {
namespace {

/// Cases by outcome: on the NPU alone, with the host, refused.
struct Counts {
  int npu = 0, host = 0, refused = 0;
  void add(const std::string &outcome) {
    switch (rankOf(outcome)) {
    case 0:
      ++npu;
      break;
    case 1:
      ++host;
      break;
    default:
      ++refused;
    }
  }
  std::string text() const {
    return absl::StrCat(npu, " | ", host, " | ", refused);
  }
};

/// The definitions of an operator in the installed ONNX library, oldest first.
using Schemas = std::map<std::string, std::map<int, onnx::OpSchema>>;

Schemas allSchemas() {
  Schemas all;
  for (const auto &schema :
       onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (schema.domain().empty() || schema.domain() == "ai.onnx")
      all[schema.Name()].emplace(schema.SinceVersion(), schema);
  return all;
}

std::string opsetsText(const std::string &op, const OpImport &entry,
                       const Schemas &schemas) {
  if (absl::StrContains(op, ':'))
    return "1";
  std::vector<int> versions;
  if (auto it = schemas.find(op); it != schemas.end())
    for (const auto &[version, schema] : it->second)
      versions.push_back(version);
  else
    versions.push_back(entry.firstOpset);
  return absl::StrJoin(versions, ", ");
}

std::string inputName(const std::string &op, int n, const Schemas &schemas) {
  auto it = schemas.find(op);
  if (it != schemas.end())
    for (auto s = it->second.rbegin(); s != it->second.rend(); ++s)
      if (n < int(s->second.inputs().size()))
        return absl::StrCat("`", s->second.inputs()[n].GetName(), "`");
  return absl::StrCat("input ", n);
}

std::string constraintsText(const std::string &op, const OpImport &entry,
                            const Schemas &schemas) {
  std::vector<std::string> parts;
  if (entry.minRank > 0 || entry.maxRank < 1 << 10)
    parts.push_back(
        entry.minRank == entry.maxRank
            ? absl::StrCat("rank ", entry.minRank)
            : absl::StrCat("ranks ", entry.minRank, " to ", entry.maxRank));
  std::vector<std::string> known;
  for (int n : entry.constants)
    known.push_back(inputName(op, n, schemas));
  if (!known.empty())
    parts.push_back(
        absl::StrCat(absl::StrJoin(known, ", "), " known when building"));
  if (!entry.text.empty())
    parts.push_back(entry.text);
  return absl::StrJoin(parts, "; ");
}

void printTotals(const Expectations &expected) {
  std::map<std::string, int> outcomes;
  for (const auto &[name, e] : expected)
    ++outcomes[e.outcome];
  printf("## Conformance\n\nONNX's backend tests, %zu cases "
         "([testing.md](testing.md)):\n\n| outcome | cases |\n| --- | --- |\n",
         expected.size());
  for (const auto &[outcome, count] : outcomes)
    printf("| %s | %d |\n", outcome.c_str(), count);
  printf("\n`pass-npu`: the stored outputs, all nodes on the NPU (or computed "
         "when building).\n`pass-host`: the same with some node run by ONNX "
         "Runtime. `refused`: a diagnostic\nnames the node and the reason.\n");
}

void printOperators(const std::map<std::string, Counts> &counts) {
  Schemas schemas = allSchemas();
  printf("\n## Operators\n\n"
         "*Opsets*: where ONNX defines or changes the operator; a node is read "
         "by the\ndefinition of the opset that its model declares. *Types*: of "
         "the data inputs, float\nbeing f16, bf16, f32 and f64, all computed "
         "as f32, and QDQ the 8-bit tensors of a\nquantised model. *NPU, host, "
         "refused*: cases of the backend tests that contain the\noperator.\n\n"
         "| operator | opsets | types | runs on | constraints | NPU | host | "
         "refused |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const auto &[op, entry] : registry()) {
    if (!entry.handler)
      continue;
    auto found = counts.find(op);
    printf("| %s | %s | %s | %s | %s | %s |\n", op.c_str(),
           opsetsText(op, entry, schemas).c_str(),
           entry.types == kAnyType ? "any" : typesText(entry.types).c_str(),
           engineName(entry.engine),
           constraintsText(op, entry, schemas).c_str(),
           (found == counts.end() ? Counts() : found->second).text().c_str());
  }
}

void printOthers(const std::map<std::string, Counts> &counts) {
  printf("\n## On the host only\n\n| operator | cases on the host | refused "
         "|\n| --- | --- | --- |\n");
  for (const auto &[op, c] : counts)
    if (!registry().count(op))
      printf("| %s | %d | %d |\n", op.c_str(), c.host, c.refused);
  std::map<std::string, std::vector<std::string>> refused;
  for (const auto &[op, entry] : registry())
    if (!entry.handler)
      refused[absl::StrCat(refusalName(entry.kind), ": ", entry.text)]
          .push_back(op);
  printf("\n## Refused on the NPU\n\n");
  for (const auto &[why, ops] : refused)
    printf("- %s.\n  %s\n", why.c_str(), absl::StrJoin(ops, ", ").c_str());
}

int run(const char *path) {
  absl::StatusOr<Expectations> expected = readExpectations(path);
  if (!expected.ok()) {
    fprintf(stderr, "supported_ops: %s\n",
            expected.status().ToString().c_str());
    return 2;
  }
  std::map<std::string, Counts> counts;
  for (const auto &[name, e] : *expected)
    for (const std::string &op : e.ops)
      counts[op].add(e.outcome);
  printf("# Supported operators\n\nWritten by `tools/dev/supported_ops.sh` "
         "from the importer's registry and\n"
         "`test/conformance/expected.txt`. Opsets %d to %d.\n\n",
         int(kOldestOpset), int(kNewestOpset));
  printTotals(*expected);
  printOperators(counts);
  printOthers(counts);
  return 0;
}

} // namespace
} // namespace npu::conformance

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: supported_ops EXPECTED > docs/SUPPORTED_OPS.md\n");
    return 2;
  }
  return npu::conformance::run(argv[1]);
}
