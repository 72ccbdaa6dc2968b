//===- case.h - One case of ONNX's backend tests ----------------*- C++ -*-===//
//
// A folder with model.onnx and test_data_set_*/{input,output}_*.pb.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_CONFORMANCE_CASE_H
#define TEST_CONFORMANCE_CASE_H

#include <string>
#include <vector>

namespace npu::conformance {

struct Case {
  std::string name; ///< "node/test_abs"
  std::string path; ///< its folder
};

/// All cases of the suites in `root`, by name.
std::vector<Case> findCases(const std::string &root);

enum class Verdict { PassNpu, PassHost, Refused, Wrong, Crash };
const char *verdictName(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::Crash;
  std::string reason;             ///< class of a refusal: "type"; "" otherwise
  std::string message;            ///< for people
  std::vector<std::string> ops;   ///< operators of the model, each once
  std::vector<std::string> fixed; ///< inputs that were fixed when building
  bool folded = false;            ///< nothing was left to run
  int64_t opset = 0;

  /// "pass-npu", "refused:type".
  std::string text() const;
};

/// Compiles for the host in f32, runs, compares. Inputs that the importer wants
/// to know when building are fixed to their stored value, and listed.
Outcome runCase(const Case &c);

} // namespace npu::conformance

#endif // TEST_CONFORMANCE_CASE_H
