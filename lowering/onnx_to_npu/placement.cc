// Rules by which users place nodes.
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lowering/onnx_to_npu/importer.h"
#include "runtime/support/json_object.h"
#include "llvm/Support/Regex.h"

namespace npu {
namespace {

bool isRegex(const std::string &text) {
  return text.size() >= 2 && text.front() == '/' && text.back() == '/';
}

bool fits(const std::string &pattern, const std::string &name) {
  if (!isRegex(pattern))
    return pattern.empty() || pattern == name;
  return llvm::Regex(pattern.substr(1, pattern.size() - 2)).match(name);
}

absl::StatusOr<PlacementRule> readRule(const rt::Json &json,
                                       const std::string &path) {
  rt::JsonObject object(json, path);
  PlacementRule rule;
  std::string place;
  object.get("node", &rule.node);
  object.get("op", &rule.op);
  object.require("place", &place);
  if (absl::Status s = object.finish(); !s.ok())
    return s;
  if (place != "host" && place != "npu")
    return absl::InvalidArgumentError(absl::StrCat(
        path, ".place: \"", place, "\" is neither \"host\" nor \"npu\""));
  if (rule.node.empty() && rule.op.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": give \"node\" (name or /regex/) or \"op\""));
  std::string why;
  if (isRegex(rule.node) &&
      !llvm::Regex(rule.node.substr(1, rule.node.size() - 2)).isValid(why))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".node: ", rule.node, ": ", why));
  rule.host = place == "host";
  return rule;
}

} // namespace

absl::Status readPlacement(const std::string &path, ImportOptions *options) {
  absl::StatusOr<rt::Json> json = rt::readJsonFile(path);
  if (!json.ok())
    return json.status();
  rt::JsonObject object(*json, path);
  const rt::Json *rules = object.get("rules");
  if (absl::Status s = object.finish(); !s.ok())
    return s;
  if (!rules || !rules->is_array())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected {\"rules\": [...]}"));
  for (size_t i = 0; i < rules->size(); ++i) {
    absl::StatusOr<PlacementRule> rule =
        readRule((*rules)[i], absl::StrCat(path, ".rules[", i, "]"));
    if (!rule.ok())
      return rule.status();
    options->placement.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

const PlacementRule *Importer::ruleFor(const std::string &name,
                                       const std::string &op) {
  // In a loop a rule names the node of the body, for all trips.
  std::string inBody(absl::StripSuffix(name, nameSuffix));
  for (const PlacementRule &rule : options.placement)
    if ((rule.op.empty() || rule.op == op) && fits(rule.node, inBody)) {
      usedRules.insert(&rule);
      return &rule;
    }
  return nullptr;
}

/// A rule that fits nothing is a slip of the pen.
absl::Status Importer::checkRules() {
  for (const PlacementRule &rule : options.placement)
    if (!usedRules.count(&rule))
      return absl::NotFoundError(absl::StrCat(
          "no node fits the placement rule for ",
          rule.node.empty() ? "operator " + rule.op : "node " + rule.node,
          "; names are case-sensitive, and earlier rules go first"));
  return absl::OkStatus();
}

} // namespace npu
