//===- expected.h - What each case is expected to give ----------*- C++ -*-===//
#ifndef TEST_CONFORMANCE_EXPECTED_H
#define TEST_CONFORMANCE_EXPECTED_H

#include <map>

#include "absl/status/statusor.h"
#include "test/conformance/case.h"

namespace npu::conformance {

/// One line of expected.txt: NAME OUTCOME OPERATORS.
struct Expectation {
  std::string outcome;
  std::vector<std::string> ops;
};
using Expectations = std::map<std::string, Expectation>;

absl::StatusOr<Expectations> readExpectations(const std::string &path);
absl::Status writeExpectations(const std::string &path,
                               const std::vector<Case> &cases,
                               const std::vector<Outcome> &outcomes);

/// 0: pass-npu, 1: pass-host, 2: refused, 3: wrong, 4: crash.
int rankOf(const std::string &outcome);

} // namespace npu::conformance

#endif // TEST_CONFORMANCE_EXPECTED_H
