//===- NPUHost.cc - Host segments -----------------------------------------===//

#include "dialects/npu/NPU.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace npu {

std::optional<HostNodeInfo> HostNodeInfo::from(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (!entries)
    return std::nullopt;
  HostNodeInfo info;
  for (auto [key, field] : {std::pair{"name", &info.name},
                            {"op", &info.op},
                            {"reason", &info.reason},
                            {"fix", &info.fix}}) {
    auto text = entries.getAs<StringAttr>(key);
    if (!text)
      return std::nullopt;
    *field = text.str();
  }
  if (auto macs = entries.getAs<IntegerAttr>("macs"))
    info.macs = macs.getInt();
  if (auto bytes = entries.getAs<IntegerAttr>("bytes"))
    info.bytes = bytes.getInt();
  return info;
}

DictionaryAttr HostNodeInfo::toAttribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("name", b.getStringAttr(name)),
      b.getNamedAttr("op", b.getStringAttr(op)),
      b.getNamedAttr("reason", b.getStringAttr(reason)),
      b.getNamedAttr("fix", b.getStringAttr(fix))};
  if (macs)
    entries.push_back(b.getNamedAttr("macs", b.getI64IntegerAttr(macs)));
  if (bytes)
    entries.push_back(b.getNamedAttr("bytes", b.getI64IntegerAttr(bytes)));
  return b.getDictionaryAttr(entries);
}

LogicalResult HostCallOp::verify() {
  for (Attribute node : getNodes())
    if (!HostNodeInfo::from(node))
      return emitOpError("node ")
             << node << " must have name, op, reason and fix";
  for (Type type : getOperation()->getOperandTypes())
    if (isa<quant::QuantizedType>(cast<ShapedType>(type).getElementType()))
      return emitOpError("takes ")
             << type << "; ONNX knows no quantised types, dequantise before it";
  for (Type type : getOperation()->getResultTypes())
    if (isa<quant::QuantizedType>(cast<ShapedType>(type).getElementType()))
      return emitOpError("gives ") << type << "; quantise after it";
  if (auto names = (*this)->getAttrOfType<ArrayAttr>("npu.tensors");
      names && names.size() != getNumResults())
    return emitOpError("npu.tensors has ")
           << names.size() << " names for " << getNumResults() << " results";
  return success();
}

} // namespace npu
