//===- NPULocation.cc - Names of nodes ------------------------------------===//
#include "dialects/npu/NPU.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace npu {

std::string nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nodeName(call.getCallee());
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return "";
  std::string names;
  for (Location part : fused.getLocations()) {
    std::string name = nodeName(part);
    if (name.empty())
      continue;
    if (!names.empty())
      names += "+";
    names += name;
  }
  return names;
}

} // namespace npu
