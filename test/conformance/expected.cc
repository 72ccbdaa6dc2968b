#include "test/conformance/expected.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/support/file.h"

namespace npu::conformance {

const char *verdictName(Verdict verdict) {
  switch (verdict) {
  case Verdict::PassNpu:
    return "pass-npu";
  case Verdict::PassHost:
    return "pass-host";
  case Verdict::Refused:
    return "refused";
  case Verdict::Wrong:
    return "wrong";
  case Verdict::Crash:
    break;
  }
  return "crash";
}

std::string Outcome::text() const {
  return reason.empty() ? verdictName(verdict)
                        : absl::StrCat(verdictName(verdict), ":", reason);
}

absl::StatusOr<Expectations> readExpectations(const std::string &path) {
  absl::StatusOr<std::string> text = rt::readFile(path);
  if (!text.ok())
    return text.status();
  Expectations all;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 2 || rankOf(words[1]) < 0)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": expected NAME OUTCOME OPERATORS"));
    all[words[0]] = {words[1], {words.begin() + 2, words.end()}};
  }
  return all;
}

absl::Status writeExpectations(const std::string &path,
                               const std::vector<Case> &cases,
                               const std::vector<Outcome> &outcomes) {
  std::string text = "# Written by tools/dev/conformance.sh: case, outcome, "
                     "operators of its model.\n";
  for (size_t n = 0; n < cases.size(); ++n)
    absl::StrAppend(&text, cases[n].name, " ", outcomes[n].text(), " ",
                    absl::StrJoin(outcomes[n].ops, " "), "\n");
  return rt::writeFileAtomically(path, text);
}

int rankOf(const std::string &outcome) {
  const char *order[] = {"pass-npu", "pass-host", "refused", "wrong", "crash"};
  for (int n = 0; n < 5; ++n)
    if (outcome == order[n] ||
        absl::StartsWith(outcome, absl::StrCat(order[n], ":")))
      return n;
  return -1;
}

} // namespace npu::conformance
