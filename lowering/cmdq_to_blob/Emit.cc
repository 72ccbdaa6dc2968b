//===- Emit.cc - cmdq program -> blob -------------------------------------===//

#include "lowering/cmdq_to_blob/Blob.h"

#include "dialects/cmdq/Encode.h"
#include "dialects/npu/NPU.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/blob/writer.h"
#include "runtime/support/json_object.h"

using namespace mlir;

namespace npu {
namespace {

/// Copies the elements of `constant` to `out`, which has their size.
LogicalResult copyElements(cmdq::ConstantOp constant, char *out,
                           int64_t bytes) {
  if (auto resource =
          dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != bytes)
      return constant.emitOpError("resource is missing or has another size");
    std::memcpy(out, blob->getData().data(), bytes);
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense)
    return constant.emitOpError("value must be dense or a resource");
  if (dense.getElementType().isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      *out++ = value;
    return success();
  }
  ArrayRef<char> raw = dense.getRawData();
  for (int64_t at = 0; at < bytes; at += raw.size())
    std::memcpy(out + at, raw.data(),
                std::min<int64_t>(raw.size(), bytes - at));
  return success();
}

cmdq::Address addressOf(Value root) {
  return cmdq::addressOf(root.getDefiningOp<cmdq::BufferOp>());
}

class Emitter {
public:
  Emitter(ModuleOp module, cmdq::ProgramOp program)
      : module(module), program(program) {}

  FailureOr<std::string> run() {
    c.name = program.getSymName().str();
    if (!program.getSramBytes() || !program.getDramBytes())
      return program.emitError("has no memory plan (sram_bytes, dram_bytes); "
                               "run cmdq-plan-memory first");
    c.cores = program.getCores();
    c.sramBytes = *program.getSramBytes();
    c.dramBytes = *program.getDramBytes();
    for (Operation &op : program.getBody().front())
      if (failed(add(op)))
        return failure();
    if (failed(facts()))
      return failure();
    return rt::writeBlob(c);
  }

private:
  LogicalResult add(Operation &op);
  LogicalResult addIo(cmdq::IoOp io);
  int64_t mostConstantBytes();
  LogicalResult addConstant(cmdq::ConstantOp constant);
  LogicalResult requireAddresses(Operation *op);
  LogicalResult addCommand(cmdq::CommandOpInterface command);
  LogicalResult addHostCall(cmdq::HostCallOp call);
  LogicalResult facts();

  ModuleOp module;
  cmdq::ProgramOp program;
  rt::BlobContents c;
  llvm::StringMap<uint32_t> layers;
  int64_t mostConstants = 0;
};

LogicalResult Emitter::add(Operation &op) {
  if (auto io = dyn_cast<cmdq::IoOp>(op))
    return addIo(io);
  if (auto constant = dyn_cast<cmdq::ConstantOp>(op))
    return addConstant(constant);
  if (isa<cmdq::BufferOp>(op))
    return success();
  if (auto command = dyn_cast<cmdq::CommandOpInterface>(op))
    return addCommand(command);
  if (auto call = dyn_cast<cmdq::HostCallOp>(op))
    return addHostCall(call);
  return op.emitOpError("is not of the planned form; run cmdq-plan-memory");
}

LogicalResult Emitter::addIo(cmdq::IoOp io) {
  rt::TensorInfo tensor;
  tensor.name = io.getName().str();
  tensor.dtype = *cmdq::toDType(io.getType().getElementType());
  tensor.shape.assign(io.getType().getShape().begin(),
                      io.getType().getShape().end());
  if (auto preprocess = io.getPreprocess())
    tensor.preprocess = preprocess->str();
  if (io.getIndex() != c.inputs.size() + c.outputs.size() ||
      (!io.getIsOutput() && !c.outputs.empty()))
    return io.emitOpError("index ")
           << io.getIndex() << " is out of order: inputs first, then outputs";
  (io.getIsOutput() ? c.outputs : c.inputs).push_back(std::move(tensor));
  return success();
}

/// A plan leaves no more than gaps for alignment between constants. A wrong
/// offset must not make the blob, and the memory for it, enormous.
int64_t Emitter::mostConstantBytes() {
  constexpr int64_t kLargestGap = 4096;
  if (!mostConstants)
    for (auto constant : program.getBody().getOps<cmdq::ConstantOp>())
      mostConstants +=
          kLargestGap +
          constant.getType().getNumElements() *
              rt::sizeOf(*cmdq::toDType(constant.getType().getElementType()));
  return mostConstants;
}

LogicalResult Emitter::addConstant(cmdq::ConstantOp constant) {
  if (!constant.getOffset())
    return constant.emitOpError("has no offset; run cmdq-plan-memory");
  MemRefType type = constant.getType();
  rt::Blob::Declaration d;
  d.offset = *constant.getOffset();
  d.dtype = *cmdq::toDType(type.getElementType());
  d.dims.assign(type.getShape().begin(), type.getShape().end());
  int64_t bytes = type.getNumElements() * rt::sizeOf(d.dtype);
  if (d.offset > mostConstantBytes() - bytes)
    return constant.emitOpError("offset ")
           << d.offset << " leaves a gap in the constants that no alignment "
           << "explains; run cmdq-plan-memory";
  if (static_cast<int64_t>(c.constants.size()) < d.offset + bytes)
    c.constants.resize(d.offset + bytes);
  if (failed(copyElements(constant, &c.constants[d.offset], bytes)))
    return failure();
  c.declarations.push_back(std::move(d));
  return success();
}

LogicalResult Emitter::requireAddresses(Operation *op) {
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<cmdq::BufferOp>())
      return op->emitOpError("operand ")
             << operand.getType()
             << " has no address; run cmdq-plan-memory first";
  return success();
}

LogicalResult Emitter::addHostCall(cmdq::HostCallOp call) {
  if (failed(requireAddresses(call)))
    return failure();
  rt::HostCall segment;
  segment.before = c.commands.size();
  for (auto [values, list] : {std::pair{call.getIns(), &segment.inputs},
                              {call.getOuts(), &segment.outputs}})
    for (Value value : values) {
      auto type = cast<MemRefType>(value.getType());
      if (!type.getLayout().isIdentity())
        return call.emitOpError("operand ")
               << type << " is not dense; the host sees row-major buffers";
      list->push_back(cmdq::encodeOperand(value, addressOf));
    }
  for (Attribute node : call.getNodes()) {
    auto info = HostNodeInfo::from(node);
    if (!info)
      return call.emitOpError("node ")
             << node << " must have name, op, reason and fix";
    segment.nodes.push_back({info->name, info->op, info->reason, info->fix,
                             info->macs, info->bytes});
  }
  c.hostCalls.push_back(std::move(segment));
  c.models.push_back(call.getModel().str());
  return success();
}

LogicalResult Emitter::addCommand(cmdq::CommandOpInterface command) {
  if (failed(requireAddresses(command)))
    return failure();
  StringRef name = command.getLayer().value_or("");
  auto [it, isNew] = layers.try_emplace(name, c.layers.size());
  if (isNew)
    c.layers.push_back(name.str());
  if (auto tap = command.getTap())
    c.taps.push_back({tap->str(), static_cast<uint32_t>(c.commands.size())});
  c.commands.push_back(cmdq::encodeCommand(command, addressOf, it->second));
  return success();
}

/// Numbers, strings and dictionaries as JSON.
rt::Json toJson(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getInt();
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.getValue().str();
  rt::Json json = rt::Json::object();
  if (auto dictionary = dyn_cast<DictionaryAttr>(value))
    for (NamedAttribute entry : dictionary)
      json[entry.getName().str()] = toJson(entry.getValue());
  return json;
}

LogicalResult Emitter::facts() {
  if (auto info = module->getAttrOfType<DictionaryAttr>("npu.info"))
    for (NamedAttribute entry : info) {
      auto text = dyn_cast<StringAttr>(entry.getValue());
      if (!text)
        return module.emitError("npu.info: '")
               << entry.getName().getValue() << "' must be a string";
      c.info[entry.getName().str()] = text.getValue().str();
    }
  if (auto target = module->getAttrOfType<TargetAttr>("npu.target"))
    c.info["target"] = target::toJson(target.getTarget());
  if (Attribute estimate = program->getAttr("npu.estimate"))
    c.info["estimate"] = toJson(estimate).dump();
  if (auto bound = program->getAttrOfType<IntegerAttr>("npu.dram_lower_bound"))
    c.info["memory"] =
        rt::Json{{"dram_arena_lower_bound_bytes", bound.getInt()}}.dump();
  return success();
}

} // namespace

FailureOr<std::string> emitBlob(ModuleOp module) {
  auto programs = llvm::to_vector(module.getOps<cmdq::ProgramOp>());
  if (programs.size() != 1)
    return module.emitError("a blob holds one cmdq.program, the module has ")
           << programs.size()
           << "; run npu-backend-pipeline on the npu dialect first";
  return Emitter(module, programs[0]).run();
}

} // namespace npu
