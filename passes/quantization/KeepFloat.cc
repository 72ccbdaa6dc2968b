//===- KeepFloat.cc - Nodes that the user wants in float ------------------===//

#include "passes/quantization/KeepFloat.h"

#include "dialects/npu/NPU.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace npu {

namespace {
struct Named {
  Operation *op;
  std::string name;
};
} // namespace

static bool named(StringRef all, StringRef name) {
  if (all == name)
    return true;
  SmallVector<StringRef> parts;
  all.split(parts, '+');
  return llvm::is_contained(parts, name);
}

/// The names most like `pattern`, quoted.
static std::string similar(ArrayRef<Named> nodes, StringRef pattern) {
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  StringRef text = pattern.trim('/');
  for (const Named &node : nodes) {
    unsigned distance = StringRef(node.name).edit_distance_insensitive(text);
    if (StringRef(node.name).contains_insensitive(text))
      distance = 0;
    if (llvm::none_of(ranked, [&](auto &r) { return r.second == node.name; }))
      ranked.push_back({distance, node.name});
  }
  llvm::sort(ranked); // by distance, then by name
  if (ranked.size() > 3)
    ranked.resize(3);
  std::string out;
  for (auto &[distance, name] : ranked)
    out += (out.empty() ? "'" : ", '") + name.str() + "'";
  return out;
}

FailureOr<llvm::DenseSet<Operation *>>
matchNodes(FunctionOpInterface function, ArrayRef<std::string> patterns) {
  SmallVector<Named> nodes;
  function.walk([&](Operation *op) {
    std::string name = nodeName(op->getLoc());
    if (!name.empty() && !isa<ConstantOp>(op) && op->getNumResults())
      nodes.push_back({op, name});
  });
  llvm::DenseSet<Operation *> matched;
  for (StringRef pattern : patterns) {
    bool isRegex =
        pattern.size() > 1 && pattern.front() == '/' && pattern.back() == '/';
    llvm::Regex regex(isRegex ? pattern.drop_front().drop_back() : StringRef());
    std::string why;
    if (isRegex && !regex.isValid(why))
      return function.emitError("keep-float: '")
             << pattern << "' is no regular expression: " << why;
    bool any = false;
    for (const Named &node : nodes) {
      if (!(isRegex ? regex.match(node.name) : named(node.name, pattern)))
        continue;
      any = true;
      matched.insert(node.op);
    }
    // A node whose name begins and ends with a slash is a name as well.
    for (const Named &node : nodes)
      if (isRegex && named(node.name, pattern))
        any = matched.insert(node.op).second || any;
    if (any)
      continue;
    std::string near = similar(nodes, pattern);
    return function.emitError("keep-float: no node matches '")
           << pattern << "'"
           << (near.empty() ? "; no node has a name" : "; similar names: ")
           << near;
  }
  return matched;
}

} // namespace npu
