#include "tools/npu/compiler.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "dialects/cmdq/Cmdq.h"
#include "dialects/npu/NPU.h"
#include "lowering/cmdq_to_blob/Blob.h"
#include "lowering/onnx_to_npu/import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/pipelines/Pipelines.h"
#include "passes/quantization/FilterLevels.h"
#include "passes/quantization/Intervals.h"
#include "passes/quantization/Passes.h"
#include "runtime/support/file.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace npu {

struct Compiler::Impl {
  explicit Impl(std::string temps)
      : context(registry()), temps(std::move(temps)) {
    context.getDiagEngine().registerHandler([this](Diagnostic &d) {
      std::string name = nodeName(d.getLocation()), text = d.str();
      if (!name.empty() && text.find(name) == std::string::npos)
        text = absl::StrCat("node '", name, "': ", text);
      if (d.getSeverity() == DiagnosticSeverity::Error)
        errors.push_back(text);
      else if (d.getSeverity() == DiagnosticSeverity::Warning)
        warnings.push_back(text);
      return success();
    });
  }

  static DialectRegistry registry() {
    DialectRegistry dialects;
    dialects.insert<NPUDialect, cmdq::CmdqDialect, func::FuncDialect,
                    memref::MemRefDialect, quant::QuantDialect,
                    tensor::TensorDialect>();
    return dialects;
  }

  /// The first error as a Status, when something failed.
  absl::Status failure(const char *stage) {
    std::string text =
        errors.empty() ? absl::StrCat(stage, " failed") : errors[0];
    if (errors.size() > 1)
      absl::StrAppend(&text, " (and ", errors.size() - 1, " more)");
    return absl::InvalidArgumentError(text);
  }

  absl::Status run(ModuleOp op, const char *stage,
                   llvm::function_ref<void(OpPassManager &)> build) {
    PassManager pm(&context);
    build(pm);
    errors.clear();
    if (failed(pm.run(op)))
      return failure(stage);
    return absl::OkStatus();
  }

  absl::Status keep(const char *level) {
    if (temps.empty())
      return absl::OkStatus();
    std::string text;
    llvm::raw_string_ostream out(text);
    OpPrintingFlags flags;
    flags.enableDebugInfo();
    (*module)->print(out, flags);
    std::error_code error;
    std::filesystem::create_directories(temps, error);
    std::string path = absl::StrCat(temps, "/", level, ".mlir");
    if (!llvm::is_contained(files, path))
      files.push_back(path);
    return rt::writeFileAtomically(path, text);
  }

  /// The two halves of quantisation. Of the first the last result is kept:
  /// correcting biases asks for it once a level.
  absl::Status setRanges(const QuantizeRequest &request);
  absl::Status setTypes(const QuantizeRequest &request);

  func::FuncOp main() {
    for (auto function : (*module).getOps<func::FuncOp>())
      return function;
    return {};
  }

  cmdq::ProgramOp program() {
    for (auto op : (*module).getOps<cmdq::ProgramOp>())
      return op;
    return {};
  }

  MLIRContext context;
  std::string temps;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> ranged; ///< `module` with the ranges of rangedBy
  QuantizeRequest rangedBy;
  std::vector<std::string> errors, warnings, files;
};

Compiler::Compiler(std::string temps)
    : impl_(std::make_unique<Impl>(std::move(temps))) {}
Compiler::~Compiler() = default;

absl::Status Compiler::import(const std::string &path,
                              const ImportRequest &request) {
  ImportOptions options;
  options.batch = request.batch;
  options.shapes = request.shapes;
  options.values = request.values;
  options.report = request.report;
  for (const std::string &text : request.shapeTexts)
    if (absl::Status s = parseShape(text, &options); !s.ok())
      return s;
  for (const std::string &text : request.dimTexts)
    if (absl::Status s = parseDim(text, &options); !s.ok())
      return s;
  for (const std::string &text : request.valueTexts) {
    size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      return absl::InvalidArgumentError(
          absl::StrCat("--value ", text, ": give NAME=NUMBER or NAME=1,2,3"));
    options.valueTexts[text.substr(0, at)] = text.substr(at + 1);
  }
  options.hostNodes = true;
  if (!request.placement.empty())
    if (absl::Status s = readPlacement(request.placement, &options); !s.ok())
      return s;
  auto module = importOnnx(path, options, impl_->context);
  if (!module.ok()) {
    std::string text(module.status().message());
    // One line for each node that is not understood, if there are several.
    if (impl_->errors.size() > 1)
      for (const std::string &error : impl_->errors)
        absl::StrAppend(&text, "\n  ", error);
    return absl::Status(module.status().code(), text);
  }
  impl_->module = *std::move(module);
  impl_->ranged = {};
  return impl_->keep("1-imported");
}

absl::Status Compiler::optimise() {
  impl_->ranged = {};
  if (absl::Status s =
          impl_->run(*impl_->module, "optimisation",
                     [](OpPassManager &pm) { buildFloatPipeline(pm); });
      !s.ok())
    return s;
  return impl_->keep("2-optimised");
}

std::vector<TensorSignature> Compiler::inputs() const {
  std::vector<TensorSignature> list;
  func::FuncOp function = impl_->main();
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    auto name = function.getArgAttrOfType<StringAttr>(i, "npu.name");
    list.push_back({name ? name.str() : absl::StrCat("input", i),
                    {type.getShape().begin(), type.getShape().end()},
                    type.getElementType().isF32()});
  }
  return list;
}

bool Compiler::isQuantised() const {
  bool found = false;
  (*impl_->module)->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<ShapedType>(result.getType()))
        found |= isa<quant::QuantizedType>(type.getElementType());
  });
  return found;
}

/// Multiply-accumulates of one operator as the model states it.
static int64_t macsOf(Operation *op) {
  auto shape = [](Value v) {
    return cast<RankedTensorType>(v.getType()).getShape();
  };
  auto count = [&](Value v) {
    return cast<RankedTensorType>(v.getType()).getNumElements();
  };
  if (auto conv = dyn_cast<Conv2DOp>(op)) {
    ArrayRef<int64_t> f = shape(conv.getFilter());
    return count(conv.getOutput()) * f[1] * f[2] * f[3];
  }
  if (auto conv = dyn_cast<DepthwiseConv2DOp>(op)) {
    ArrayRef<int64_t> f = shape(conv.getFilter());
    return count(conv.getOutput()) * f[0] * f[1];
  }
  if (auto conv = dyn_cast<TransposeConv2DOp>(op)) {
    ArrayRef<int64_t> f = shape(conv.getFilter());
    return count(conv.getInput()) / f[3] * f[0] * f[1] * f[2] * f[3];
  }
  if (auto fc = dyn_cast<FullyConnectedOp>(op))
    return count(fc.getOutput()) * shape(fc.getFilter())[1];
  if (auto matmul = dyn_cast<MatMulOp>(op))
    return count(matmul.getOutput()) * shape(matmul.getA()).back();
  return 0;
}

Coverage Compiler::coverage() const {
  Coverage c;
  int64_t nodes = 0;
  if (auto meta = (*impl_->module)->getAttrOfType<DictionaryAttr>("npu.meta"))
    if (auto count = meta.getAs<StringAttr>("onnx_nodes"))
      (void)count.getValue().getAsInteger(10, nodes);
  bool host = false, inNpu = false;
  impl_->main().walk([&](Operation *op) {
    auto call = dyn_cast<HostCallOp>(op);
    if (!call) {
      c.npuMacs += macsOf(op);
      if (op->getName().getDialectNamespace() == "npu" &&
          !isa<ConstantOp>(op)) {
        c.npuSubgraphs += !inNpu;
        inNpu = true;
        host = false;
      }
      return;
    }
    c.hostSubgraphs += !host;
    host = true;
    inNpu = false;
    for (Attribute attribute : call.getNodes())
      if (auto node = HostNodeInfo::from(attribute)) {
        ++c.hostNodes;
        c.hostMacs += node->macs;
        c.host.push_back({node->name, node->op, node->reason, node->fix});
      }
  });
  c.npuNodes = nodes - c.hostNodes;
  return c;
}

void Compiler::setPreprocess(const std::string &input,
                             const std::string &json) {
  impl_->ranged = {};
  func::FuncOp function = impl_->main();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, "npu.name");
        name && name.getValue() == input)
      function.setArgAttr(i, "npu.preprocess",
                          StringAttr::get(&impl_->context, json));
}

absl::StatusOr<std::string> Compiler::calibrationBlob() {
  OwningOpRef<ModuleOp> clone = impl_->module->clone();
  if (absl::Status s =
          impl_->run(*clone, "compiling for calibration",
                     [](OpPassManager &pm) { buildCalibrationPipeline(pm); });
      !s.ok())
    return s;
  FailureOr<std::string> bytes = emitBlob(*clone);
  if (failed(bytes))
    return impl_->failure("emission");
  return *bytes;
}

static void setOptions(QuantizePipelineOptions &options,
                       const QuantizeRequest &request) {
  options.stats = request.stats;
  options.method = request.method;
  options.percentile = request.percentile;
  options.keepFloat = request.keepFloat;
  options.splitChannels = request.splitChannels;
}

/// True if both give every tensor the same range.
static bool sameRanges(const QuantizeRequest &a, const QuantizeRequest &b) {
  return a.stats == b.stats && a.method == b.method &&
         a.percentile == b.percentile && a.keepFloat == b.keepFloat &&
         a.splitChannels == b.splitChannels;
}

absl::Status Compiler::Impl::setRanges(const QuantizeRequest &request) {
  if (!ranged || !sameRanges(request, rangedBy)) {
    QuantizePipelineOptions options;
    setOptions(options, request);
    OwningOpRef<ModuleOp> next = module->clone();
    if (absl::Status s =
            run(*next, "quantisation",
                [&](OpPassManager &pm) { buildRangesPipeline(pm, options); });
        !s.ok())
      return s;
    ranged = std::move(next);
    rangedBy = request;
  }
  module = ranged->clone();
  return absl::OkStatus();
}

absl::Status Compiler::Impl::setTypes(const QuantizeRequest &request) {
  QuantizePipelineOptions options;
  setOptions(options, request);
  if (!request.biasShifts.empty()) {
    auto filters = npu::filterLevels(main());
    if (filters.size() != request.biasShifts.size())
      return absl::InternalError(
          absl::StrCat(request.biasShifts.size(), " lists of bias shifts for ",
                       filters.size(), " operators with filters"));
    for (auto [filter, shift] : llvm::zip(filters, request.biasShifts))
      if (!shift.empty())
        filter.op->setDiscardableAttr(kBiasShiftAttr,
                                      DenseF64ArrayAttr::get(&context, shift));
  }
  return run(*module, "quantisation",
             [&](OpPassManager &pm) { buildTypesPipeline(pm, options); });
}

absl::Status Compiler::quantise(const QuantizeRequest &request) {
  absl::Status s = impl_->setRanges(request);
  if (s.ok())
    s = impl_->setTypes(request);
  return s.ok() ? impl_->keep("3-quantised") : s;
}

absl::StatusOr<std::string>
Compiler::trial(const std::function<absl::Status()> &prepare) {
  OwningOpRef<ModuleOp> original = impl_->module->clone();
  std::string temps = std::exchange(impl_->temps, "");
  size_t warnings = impl_->warnings.size();
  absl::Status s = prepare();
  if (s.ok())
    s = compile("host", 0);
  absl::StatusOr<std::string> bytes = std::string();
  if (s.ok())
    bytes = emit({});
  else
    bytes = s;
  impl_->module = std::move(original);
  impl_->temps = std::move(temps);
  impl_->warnings.resize(warnings);
  return bytes;
}

absl::StatusOr<std::string>
Compiler::trialBlob(const QuantizeRequest &request) {
  return trial([&] { return quantise(request); });
}

absl::StatusOr<std::vector<int64_t>>
Compiler::filterLevels(const QuantizeRequest &request) {
  OwningOpRef<ModuleOp> original = impl_->module->clone();
  absl::Status s = impl_->setRanges(request);
  std::vector<int64_t> levels;
  for (const FilterLevel &filter : npu::filterLevels(impl_->main()))
    levels.push_back(filter.level);
  impl_->module = std::move(original);
  if (!s.ok())
    return s;
  return levels;
}

absl::StatusOr<std::string> Compiler::filterBlob(const QuantizeRequest &request,
                                                 int64_t level,
                                                 bool quantised) {
  return trial([&] {
    absl::Status s = impl_->setRanges(request);
    if (s.ok() && quantised)
      s = impl_->setTypes(request);
    if (!s.ok())
      return s;
    return impl_->run(*impl_->module, "probing", [&](OpPassManager &pm) {
      NpuProbeFiltersPassOptions options;
      options.level = level;
      pm.nest<func::FuncOp>().addPass(createNpuProbeFiltersPass(options));
    });
  });
}

std::vector<std::string> Compiler::layers() const {
  std::vector<std::string> names;
  llvm::StringSet<> seen;
  for (Operation &op : impl_->main().getFunctionBody().front()) {
    std::string name = nodeName(op.getLoc());
    // Movements take the type of what they move.
    bool computes = op.getNumResults() && !isa<ConstantOp>(op) &&
                    !isa<ReshapeOp, TransposeOp, SliceOp, SplitOp>(op);
    if (computes && !name.empty() && seen.insert(name).second)
      names.push_back(name);
  }
  return names;
}

absl::Status Compiler::compile(const std::string &target, int64_t cores) {
  BackendPipelineOptions options;
  options.target = target;
  options.cores = cores;
  auto stage = [&](const char *level,
                   llvm::function_ref<void(OpPassManager &)> build) {
    absl::Status s = impl_->run(*impl_->module, "compilation", build);
    return s.ok() ? impl_->keep(level) : s;
  };
  absl::Status s = stage("4-legalised", [&](OpPassManager &pm) {
    buildLegalizePipeline(pm, options);
  });
  if (!s.ok())
    return s;
  if (int64_t has = targetOf(*impl_->module).cores; cores > has)
    impl_->warnings.push_back(absl::StrCat("target ", targetName(), " has ",
                                           has, " core(s), not ", cores,
                                           ": all are used"));
  // Tiling estimates what fits; the memory plan knows. Where fragmentation
  // makes the difference, tiles become smaller.
  struct Attempt {
    int64_t margin;
    bool resident;
  };
  OwningOpRef<ModuleOp> legal = impl_->module->clone();
  for (Attempt attempt :
       {Attempt{10, true}, {30, true}, {50, true}, {30, false}, {60, false}}) {
    impl_->module = legal->clone();
    options.sramMargin = attempt.margin;
    options.resident = attempt.resident;
    s = stage("5-tiled",
              [&](OpPassManager &pm) { buildTilePipeline(pm, options); });
    if (s.ok())
      s = stage("6-cmdq", [&](OpPassManager &pm) { buildCmdqPipeline(pm); });
    if (s.ok() || targetOf(*legal).unified())
      break;
  }
  return s;
}

Estimate Compiler::estimate() const {
  Estimate e;
  auto values = impl_->program()->getAttrOfType<DictionaryAttr>("npu.estimate");
  if (!values)
    return e;
  if (auto cycles = values.getAs<IntegerAttr>("cycles"))
    e.cycles = cycles.getInt();
  if (auto latency = values.getAs<FloatAttr>("latency_ms"))
    e.latencyMs = latency.getValueAsDouble();
  if (auto efficiency = values.getAs<FloatAttr>("mac_efficiency"))
    e.macEfficiency = efficiency.getValueAsDouble();
  return e;
}

MemoryUse Compiler::memory() const {
  MemoryUse use;
  cmdq::ProgramOp program = impl_->program();
  use.sramPeak = program.getSramBytes().value_or(0);
  use.sramCapacity = targetOf(program).memory.sram_bytes;
  use.dramArena = program.getDramBytes().value_or(0);
  if (auto bound = program->getAttrOfType<IntegerAttr>("npu.dram_lower_bound"))
    use.dramLowerBound = bound.getInt();
  for (auto constant : program.getBody().getOps<cmdq::ConstantOp>()) {
    MemRefType type = constant.getType();
    int64_t end = constant.getOffset().value_or(0) +
                  type.getNumElements() *
                      rt::sizeOf(*cmdq::toDType(type.getElementType()));
    use.weights = std::max(use.weights, end);
  }
  return use;
}

std::string Compiler::targetName() const {
  return targetOf(impl_->module->getOperation()).name;
}

absl::StatusOr<std::string>
Compiler::emit(const std::map<std::string, std::string> &info) {
  Builder b(&impl_->context);
  SmallVector<NamedAttribute> facts;
  for (const auto &[key, value] : info)
    facts.push_back(b.getNamedAttr(key, b.getStringAttr(value)));
  (*impl_->module)->setAttr("npu.info", b.getDictionaryAttr(facts));
  impl_->errors.clear();
  FailureOr<std::string> bytes = emitBlob(*impl_->module);
  if (failed(bytes))
    return impl_->failure("emission");
  return *bytes;
}

const std::vector<std::string> &Compiler::warnings() const {
  return impl_->warnings;
}
const std::vector<std::string> &Compiler::files() const { return impl_->files; }

} // namespace npu
