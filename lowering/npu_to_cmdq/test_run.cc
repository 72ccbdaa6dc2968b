//===- test_run.cc - Modules on the software NPU's kernels ----------------===//

#include "lowering/npu_to_cmdq/test_run.h"

#include "dialects/cmdq/Encode.h"
#include "dialects/npu/NPU.h"
#include "lowering/npu_to_cmdq/Passes.h"
#include "runtime/device/software/executor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

using namespace mlir;

namespace npu {
namespace {

/// Random storage of a constant: dense<"0x..">.
std::string randomHex(int64_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text = "dense<\"0x";
  const char *digits = "0123456789ABCDEF";
  for (int64_t i = 0; i < bytes; ++i) {
    uint32_t byte = random() % 256;
    if (byte == 128)
      byte = 127; // weights are symmetric
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text + "\">";
}

/// Replaces `$hex(bytes,seed)` and `$target`.
std::string expand(std::string text, const std::string &target) {
  for (size_t at; (at = text.find("$hex(")) != std::string::npos;) {
    size_t end = text.find(')', at);
    int64_t bytes = 0;
    unsigned seed = 0;
    sscanf(text.c_str() + at, "$hex(%ld,%u)", &bytes, &seed);
    text.replace(at, end + 1 - at, randomHex(bytes, seed));
  }
  for (size_t at; (at = text.find("$target")) != std::string::npos;)
    text.replace(at, 7, target);
  return text;
}

/// All buffers of a program side by side in their spaces.
struct Memory {
  DenseMap<Value, cmdq::Address> addresses;
  std::vector<uint8_t> constants, dram;
  std::vector<std::vector<uint8_t>> sram, io;
  int inputs = 0;

  static int64_t bytes(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    return type.getNumElements() *
           rt::sizeOf(*cmdq::toDType(type.getElementType()));
  }
  static int64_t grow(std::vector<uint8_t> &space, int64_t size) {
    int64_t offset = (space.size() + 63) / 64 * 64;
    space.resize(offset + size);
    return offset;
  }

  explicit Memory(cmdq::ProgramOp program) {
    sram.resize(program.getCores());
    for (Operation &op : program.getBody().front())
      add(op);
    if (program.getDramBytes())
      dram.resize(*program.getDramBytes());
    if (program.getSramBytes())
      for (auto &space : sram)
        space.resize(*program.getSramBytes());
  }

  void add(Operation &op) {
    if (auto constant = dyn_cast<cmdq::ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      int64_t size = bytes(constant);
      int64_t offset = constant.getOffset().value_or(-1);
      if (offset < 0)
        offset = grow(constants, size);
      constants.resize(std::max<size_t>(constants.size(), offset + size));
      std::vector<char> raw(value.getRawData().begin(),
                            value.getRawData().end());
      if (value.getElementType().isInteger(1)) // the attribute packs bits
        raw.assign(value.getValues<bool>().begin(),
                   value.getValues<bool>().end());
      for (int64_t i = 0; i < size; ++i)
        constants[offset + i] = raw[i % raw.size()];
      addresses[constant] = {rt::Space::kConst, 0, offset};
    } else if (auto alloc = dyn_cast<cmdq::AllocOp>(op)) {
      bool inSram = cmdq::spaceOf(alloc.getType()) == cmdq::SpaceKind::Sram;
      auto &space = inSram ? sram[alloc.getCore()] : dram;
      addresses[alloc] = {inSram ? rt::Space::kSram : rt::Space::kDram, 0,
                          grow(space, bytes(alloc))};
    } else if (auto buffer = dyn_cast<cmdq::BufferOp>(op)) {
      addresses[buffer] = cmdq::addressOf(buffer);
    } else if (auto bound = dyn_cast<cmdq::IoOp>(op)) {
      addresses[bound] = {rt::Space::kIo, static_cast<int>(bound.getIndex()),
                          0};
      io.resize(std::max<size_t>(io.size(), bound.getIndex() + 1));
      io[bound.getIndex()].resize(bytes(bound));
      inputs += !bound.getIsOutput();
    }
  }
};

rt::Region regionOf(std::vector<uint8_t> &bytes) {
  return {bytes.data(), static_cast<int64_t>(bytes.size())};
}

/// The commands in a random order that the queues and waits allow.
std::vector<rt::Command> shuffled(const std::vector<rt::Command> &commands,
                                  int cores, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<const rt::Command *>> queues(cores *
                                                       rt::kEnginesPerCore);
  std::vector<uint32_t> done(queues.size(), 0);
  for (const rt::Command &c : commands)
    queues[rt::queueIndex(c.core, c.engine)].push_back(&c);
  std::vector<rt::Command> order;
  while (order.size() < commands.size()) {
    std::vector<size_t> ready;
    for (size_t q = 0; q < queues.size(); ++q)
      if (done[q] < queues[q].size()) {
        const rt::Command &c = *queues[q][done[q]];
        if (std::all_of(c.waits, c.waits + c.num_waits, [&](rt::Wait wait) {
              return done[wait.queue] >= wait.count;
            }))
          ready.push_back(q);
      }
    if (ready.empty()) {
      ADD_FAILURE() << "the queues block each other";
      return order;
    }
    size_t q = ready[random() % ready.size()];
    order.push_back(*queues[q][done[q]++]);
  }
  return order;
}

} // namespace

RunResult runModule(const std::string &source, const std::string &target,
                    const std::function<void(PassManager &)> &addPasses,
                    const RunOptions &options) {
  DialectRegistry registry;
  registry.insert<NPUDialect, cmdq::CmdqDialect, func::FuncDialect,
                  quant::QuantDialect, tensor::TensorDialect,
                  memref::MemRefDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(expand(source, target), &context);
  RunResult result;
  if (!module) {
    ADD_FAILURE() << "does not parse";
    return result;
  }
  PassManager pm(&context);
  addPasses(pm);
  pm.addPass(createNpuToCmdqPass());
  if (options.schedule)
    options.schedule(pm);
  if (failed(pm.run(*module))) {
    ADD_FAILURE() << "passes failed for " << target;
    return result;
  }
  auto program = *module->getOps<cmdq::ProgramOp>().begin();
  Memory memory(program);
  rt::SpaceSizes sizes;
  sizes.constants = memory.constants.size();
  sizes.dram = memory.dram.size();
  sizes.cores = memory.sram.size();
  for (auto &space : memory.sram)
    sizes.sram = std::max<int64_t>(sizes.sram, space.size());
  for (auto &space : memory.io)
    sizes.io.push_back(space.size());
  sizes.inputs = memory.inputs;
  std::vector<rt::Command> commands;
  for (auto op : program.getBody().front().getOps<cmdq::CommandOpInterface>()) {
    commands.push_back(cmdq::encodeCommand(
        op, [&](Value root) { return memory.addresses.lookup(root); }));
    absl::Status status =
        rt::validateCommand(commands.back(), sizes, memory.constants.data());
    if (!status.ok()) {
      std::string text;
      llvm::raw_string_ostream(text) << *op.getOperation();
      ADD_FAILURE() << status << "\n" << text;
      return result;
    }
  }
  if (options.order)
    commands = shuffled(commands, program.getCores(), options.order);
  // The same inputs for every target: small floats, or any bytes.
  std::mt19937 random(7);
  for (auto bound : program.getBody().front().getOps<cmdq::IoOp>()) {
    auto &bytes = memory.io[bound.getIndex()];
    if (bound.getIsOutput())
      continue;
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = random();
    if (bound.getType().getElementType().isF32())
      for (size_t i = 0; i < bytes.size() / 4; ++i) {
        float value = static_cast<float>(random() % 2001) / 500.0f - 2.0f;
        std::memcpy(&bytes[4 * i], &value, 4);
      }
  }
  result.inputs.assign(memory.io.begin(), memory.io.begin() + memory.inputs);
  rt::MemoryMap map;
  map.constants = regionOf(memory.constants);
  map.dram = regionOf(memory.dram);
  for (auto &space : memory.sram)
    map.sram.push_back(regionOf(space));
  for (auto &space : memory.io)
    map.io.push_back(regionOf(space));
  auto executor = rt::Executor::create(commands.data(), commands.size(),
                                       map.constants, rt::ExecutorOptions());
  if (!executor.ok() || !(*executor)->run(map).ok()) {
    ADD_FAILURE() << "does not run";
    return result;
  }
  for (size_t i = memory.inputs; i < memory.io.size(); ++i)
    result.outputs.push_back(memory.io[i]);
  result.commands = commands.size();
  return result;
}

} // namespace npu
