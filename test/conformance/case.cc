#include "test/conformance/case.h"

#include <algorithm>
#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lowering/onnx_to_npu/import.h"
#include "runtime/api/session.h"
#include "runtime/support/file.h"
#include "test/conformance/tensors.h"
#include "tools/npu/compiler.h"

namespace fs = std::filesystem;

namespace npu::conformance {

std::vector<Case> findCases(const std::string &root) {
  std::vector<Case> cases;
  std::error_code error;
  for (const char *suite :
       {"node", "simple", "pytorch-converted", "pytorch-operator"})
    for (const auto &entry : fs::directory_iterator(root + "/" + suite, error))
      if (fs::exists(entry.path() / "model.onnx"))
        cases.push_back(
            {absl::StrCat(suite, "/", entry.path().filename().string()),
             entry.path().string()});
  std::sort(cases.begin(), cases.end(),
            [](const Case &a, const Case &b) { return a.name < b.name; });
  return cases;
}

namespace {

/// Cases whose stored outputs ONNX itself has corrected since.
const std::map<std::string, std::string> kBadData = {
    {"node/test_resize_downsample_scales_linear_align_corners",
     "the stored output takes a fraction for the output's length; later "
     "releases of ONNX expect 1, 4"},
    {"node/test_resize_downsample_scales_cubic_align_corners",
     "the stored output takes a fraction for the output's length"},
    {"node/test_castlike_BFLOAT16_to_FLOAT",
     "the stored value of `like` has another shape than the model says"},
    {"node/test_castlike_BFLOAT16_to_FLOAT_expanded",
     "the stored value of `like` has another shape than the model says"},
    {"node/test_castlike_FLOAT_to_BFLOAT16",
     "the stored value of `like` has another shape than the model says"},
    {"node/test_castlike_FLOAT_to_BFLOAT16_expanded",
     "the stored value of `like` has another shape than the model says"}};

class CaseRunner {
public:
  explicit CaseRunner(const Case &c) : case_(c) {}
  Outcome run();

private:
  absl::Status readModel();
  absl::Status runSet(const std::string &folder);
  /// Imports, fixing the inputs that have to be known.
  absl::Status import(Compiler *compiler,
                      const std::vector<std::string> &inputs);
  absl::Status compareOutputs(rt::Session &session, const std::string &folder);
  void refuse(const std::string &reason, absl::string_view message);
  void refuseImport(const absl::Status &status);
  /// An error of the host's library that says so is no wrong answer.
  absl::Status refuseHost(const absl::Status &status) {
    if (!absl::StartsWith(status.message(), "host segment"))
      return status;
    refuse("host", status.message());
    return absl::OkStatus();
  }

  Case case_;
  Outcome outcome_;
  onnx::ModelProto model_;
  ImportReport report_;
  std::map<std::string, std::string> values_;
  bool host_ = false, decided_ = false;
};

void CaseRunner::refuse(const std::string &reason, absl::string_view message) {
  outcome_.verdict = Verdict::Refused;
  outcome_.reason = reason;
  outcome_.message = std::string(message);
  decided_ = true;
}

// The reason of an import's failure: the first node's; before any node, it is
// the types of inputs and outputs.
void CaseRunner::refuseImport(const absl::Status &status) {
  if (!report_.refusals.empty()) {
    RefusalKind kind = report_.refusals[0].kind;
    // A valid model of the standard's own cannot be wrong.
    refuse(kind == RefusalKind::Invalid ? "constraint" : refusalName(kind),
           status.message());
    return;
  }
  for (const auto &set : model_.opset_import())
    if (absl::StrContains(set.domain(), "training"))
      return refuse("training", status.message());
  bool tensors = true;
  auto look = [&](const onnx::ValueInfoProto &value) {
    tensors &=
        value.type().has_tensor_type() &&
        value.type().tensor_type().elem_type() != onnx::TensorProto::STRING;
  };
  for (const auto &input : model_.graph().input())
    look(input);
  for (const auto &output : model_.graph().output())
    look(output);
  bool type = absl::StrContains(status.message(), "element type");
  refuse(!tensors ? "non-tensor"
         : type   ? "type"
                  : "constraint",
         status.message());
}

absl::Status CaseRunner::readModel() {
  absl::StatusOr<std::string> bytes = rt::readFile(case_.path + "/model.onnx");
  if (!bytes.ok())
    return bytes.status();
  if (!model_.ParseFromString(*bytes))
    return absl::DataLossError("model.onnx cannot be parsed");
  for (const auto &set : model_.opset_import())
    if (set.domain().empty())
      outcome_.opset = set.version();
  for (const auto &node : model_.graph().node()) {
    std::string op = node.domain().empty()
                         ? node.op_type()
                         : absl::StrCat(node.domain(), ":", node.op_type());
    if (!absl::c_linear_search(outcome_.ops, op))
      outcome_.ops.push_back(op);
  }
  std::sort(outcome_.ops.begin(), outcome_.ops.end());
  return absl::OkStatus();
}

absl::Status CaseRunner::import(Compiler *compiler,
                                const std::vector<std::string> &inputs) {
  ImportRequest request;
  request.values = values_;
  request.report = &report_;
  report_ = {};
  absl::Status status = compiler->import(case_.path + "/model.onnx", request);
  if (report_.refusals.empty() && status.ok())
    return status;
  bool more = false;
  for (int n = 0; n < model_.graph().input_size(); ++n) {
    const std::string &name = model_.graph().input(n).name();
    if (report_.wanted.count(name) && !values_.count(name) &&
        n < int(inputs.size()))
      more = true, values_[name] = inputs[n];
  }
  return more ? import(compiler, inputs) : status;
}

int elementType(const onnx::ValueInfoProto &value) {
  return value.type().tensor_type().elem_type();
}

std::vector<std::string> readAll(const std::string &folder, const char *what) {
  std::vector<std::string> all;
  for (int n = 0;; ++n) {
    absl::StatusOr<std::string> bytes =
        rt::readFile(absl::StrCat(folder, "/", what, "_", n, ".pb"));
    if (!bytes.ok())
      return all;
    all.push_back(*std::move(bytes));
  }
}

absl::Status CaseRunner::compareOutputs(rt::Session &session,
                                        const std::string &folder) {
  std::vector<std::string> outputs = readAll(folder, "output");
  const auto &infos = session.program().outputs();
  if (outputs.size() > infos.size())
    return absl::DataLossError(absl::StrCat(outputs.size(), " outputs stored, ",
                                            infos.size(), " computed"));
  for (size_t n = 0; n < outputs.size(); ++n) {
    absl::StatusOr<TensorPtr> expected =
        parseStored(outputs[n], elementType(model_.graph().output(int(n))));
    if (!expected.ok())
      return expected.status();
    if (absl::Status s = compare(**expected, infos[n], session.output(n).data);
        !s.ok())
      return s;
  }
  return absl::OkStatus();
}

absl::Status CaseRunner::runSet(const std::string &folder) {
  std::vector<std::string> inputs = readAll(folder, "input");
  Compiler compiler("");
  values_.clear();
  absl::Status status = import(&compiler, inputs);
  for (const auto &[name, value] : values_)
    if (!absl::c_linear_search(outcome_.fixed, name))
      outcome_.fixed.push_back(name);
  if (!status.ok()) {
    refuseImport(status);
    return absl::OkStatus();
  }
  status = compiler.optimise();
  host_ |= status.ok() && compiler.coverage().hostNodes > 0;
  if (status.ok())
    status = compiler.compile("host", 0);
  if (!status.ok()) {
    refuse("compile", status.message());
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> bytes = compiler.emit({});
  if (!bytes.ok())
    return bytes.status();
  auto blob = rt::Blob::parse(*std::move(bytes), case_.name);
  if (!blob.ok())
    return blob.status();
  auto device = rt::openDevice({});
  if (!device.ok())
    return device.status();
  auto session = rt::Session::create(*device, *blob);
  if (!session.ok())
    return refuseHost(session.status());
  outcome_.folded = (*blob)->inputs().empty();
  for (int n = 0; n < model_.graph().input_size(); ++n)
    for (size_t i = 0; i < (*blob)->inputs().size(); ++i) {
      if ((*blob)->inputs()[i].name != model_.graph().input(n).name() ||
          n >= int(inputs.size()))
        continue;
      auto tensor =
          parseStored(inputs[n], elementType(model_.graph().input(n)));
      if (!tensor.ok())
        return tensor.status();
      if (absl::Status s =
              fill(**tensor, (*blob)->inputs()[i], (*session)->input(i).data);
          !s.ok())
        return s;
    }
  if (absl::Status s = (*session)->run(); !s.ok())
    return refuseHost(s);
  return compareOutputs(**session, folder);
}

Outcome CaseRunner::run() {
  absl::Status status = readModel();
  std::vector<std::string> sets;
  for (const auto &entry : fs::directory_iterator(case_.path))
    if (absl::StartsWith(entry.path().filename().string(), "test_data_set_"))
      sets.push_back(entry.path().string());
  std::sort(sets.begin(), sets.end());
  for (const std::string &set : sets)
    if (status.ok() && !decided_)
      status = runSet(set);
  if (decided_)
    return outcome_;
  if (status.ok() && sets.empty())
    status = absl::DataLossError("no test data");
  if (auto bad = kBadData.find(case_.name);
      bad != kBadData.end() && !status.ok()) {
    refuse("bad-data", bad->second);
    return outcome_;
  }
  outcome_.verdict = !status.ok() ? Verdict::Wrong
                     : host_      ? Verdict::PassHost
                                  : Verdict::PassNpu;
  outcome_.message = std::string(status.message());
  return outcome_;
}

} // namespace

Outcome runCase(const Case &c) { return CaseRunner(c).run(); }

} // namespace npu::conformance
