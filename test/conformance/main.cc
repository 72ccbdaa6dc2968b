// Runs ONNX's backend tests; see docs/testing.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/support/file.h"
#include "runtime/support/json_object.h"
#include "test/conformance/expected.h"
#include "test/conformance/pool.h"

namespace npu::conformance {
namespace {

struct Options {
  std::string data = "/usr/share/libonnx-testdata/data";
  std::string expected, write, json;
  std::vector<std::string> filters;
  int jobs = 2, seconds = 60;
  bool verbose = false;
};

absl::Status writeJson(const std::string &path, const std::vector<Case> &cases,
                       const std::vector<Outcome> &outcomes) {
  rt::Json all = rt::Json::array();
  for (size_t n = 0; n < cases.size(); ++n) {
    const Outcome &o = outcomes[n];
    all.push_back({{"case", cases[n].name},
                   {"outcome", verdictName(o.verdict)},
                   {"reason", o.reason},
                   {"message", o.message},
                   {"opset", o.opset},
                   {"operators", o.ops},
                   {"fixed_inputs", o.fixed},
                   {"folded", o.folded}});
  }
  return rt::writeFileAtomically(
      path, all.dump(1, ' ', false, rt::Json::error_handler_t::replace) + "\n");
}

void printTable(const std::vector<Case> &cases,
                const std::vector<Outcome> &outcomes) {
  std::map<std::string, std::map<std::string, int>> counts;
  int fixed = 0, folded = 0;
  for (size_t n = 0; n < cases.size(); ++n) {
    std::string suite = cases[n].name.substr(0, cases[n].name.find('/'));
    for (const std::string &row : {suite, std::string("total")}) {
      ++counts[outcomes[n].text()][row];
      ++counts["total"][row];
    }
    bool pass = outcomes[n].verdict == Verdict::PassNpu;
    fixed += pass && !outcomes[n].fixed.empty() && !outcomes[n].folded;
    folded += pass && outcomes[n].folded;
  }
  const char *columns[] = {"node", "simple", "pytorch-converted",
                           "pytorch-operator", "total"};
  printf("%-24s", "");
  for (const char *column : columns)
    printf(" %17s", column);
  for (const auto &[outcome, row] : counts) {
    printf("\n%-24s", outcome.c_str());
    for (const char *column : columns)
      printf(" %17d", row.count(column) ? row.at(column) : 0);
  }
  printf("\nOf pass-npu, %d with inputs fixed when building (shapes, axes, "
         "weights), %d wholly computed when building.\n",
         fixed, folded);
}

// Prints what changed; false if something is worse, wrong or crashes.
bool judge(const Expectations &expected, bool all,
           const std::vector<Case> &cases,
           const std::vector<Outcome> &outcomes) {
  int worse = 0, better = 0;
  for (size_t n = 0; n < cases.size(); ++n) {
    std::string now = outcomes[n].text();
    auto it = expected.find(cases[n].name);
    std::string before = it == expected.end() ? "" : it->second.outcome;
    bool bad = rankOf(now) >= rankOf("wrong");
    bool isWorse = bad || before.empty() || rankOf(now) > rankOf(before);
    if (now == before && !bad)
      continue;
    worse += isWorse;
    better += !isWorse && rankOf(now) < rankOf(before);
    printf("%s %s: %s, expected %s%s%s\n",
           isWorse                         ? "WORSE "
           : rankOf(now) == rankOf(before) ? "other "
                                           : "better",
           cases[n].name.c_str(), now.c_str(),
           before.empty() ? "nothing" : before.c_str(),
           outcomes[n].message.empty() ? "" : ": ",
           outcomes[n].message.c_str());
  }
  for (const auto &entry : expected)
    if (all && absl::c_none_of(cases, [&](const Case &c) {
          return c.name == entry.first;
        })) {
      printf("WORSE  %s: not found\n", entry.first.c_str());
      ++worse;
    }
  if (better)
    printf("%d cases got better: tools/dev/conformance.sh records it.\n",
           better);
  return worse == 0;
}

absl::StatusOr<bool> run(const Options &options) {
  std::vector<Case> cases;
  for (const Case &c : findCases(options.data))
    if (options.filters.empty() ||
        absl::c_any_of(options.filters, [&](const std::string &f) {
          return absl::StrContains(c.name, f);
        }))
      cases.push_back(c);
  if (cases.empty())
    return absl::NotFoundError(
        absl::StrCat("no cases in ", options.data,
                     "; install libonnx-testdata (tools/dev/setup.sh test)"));
  std::vector<Outcome> outcomes = runAll(cases, options.jobs, options.seconds);
  for (size_t n = 0; options.verbose && n < cases.size(); ++n)
    printf("%s %s%s%s\n", cases[n].name.c_str(), outcomes[n].text().c_str(),
           outcomes[n].message.empty() ? "" : ": ",
           outcomes[n].message.c_str());
  printTable(cases, outcomes);
  absl::Status status;
  if (!options.json.empty())
    status = writeJson(options.json, cases, outcomes);
  if (status.ok() && !options.write.empty())
    status = writeExpectations(options.write, cases, outcomes);
  if (!status.ok() || options.expected.empty())
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  auto expected = readExpectations(options.expected);
  if (!expected.ok())
    return expected.status();
  return judge(*expected, options.filters.empty(), cases, outcomes);
}

} // namespace
} // namespace npu::conformance

int main(int argc, char **argv) {
  npu::conformance::Options o;
  CLI::App app("Runs ONNX's backend tests on the software NPU");
  app.add_option("--data", o.data, "folder with node/, simple/, ...");
  app.add_option("--expected", o.expected, "fail where a case is worse");
  app.add_option("--write", o.write, "write the outcomes as expectations");
  app.add_option("--json", o.json, "write the outcomes in full");
  app.add_option("--jobs", o.jobs, "cases at a time");
  app.add_option("--seconds", o.seconds, "time limit of a case");
  app.add_flag("--verbose", o.verbose, "print every case");
  app.add_option("filter", o.filters, "only cases whose name contains one");
  CLI11_PARSE(app, argc, argv);
  absl::StatusOr<bool> good = npu::conformance::run(o);
  if (!good.ok()) {
    fprintf(stderr, "conformance: %s\n", good.status().ToString().c_str());
    return 2;
  }
  return *good ? 0 : 1;
}
