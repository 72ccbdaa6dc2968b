//===- ImportCalibration.cc - npu-import-calibration ----------------------===//

#include "passes/quantization/Passes.h"

#include "passes/quantization/OpClasses.h"
#include "passes/quantization/ScaleGroups.h"
#include "passes/quantization/calibration/ranges.h"

using namespace mlir;

namespace npu {

#define GEN_PASS_DEF_NPUIMPORTCALIBRATIONPASS
#include "passes/quantization/Passes.h.inc"

namespace {

struct ImportCalibration
    : impl::NpuImportCalibrationPassBase<ImportCalibration> {
  using NpuImportCalibrationPassBase::NpuImportCalibrationPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    auto parsed = calibration::parseMethod(method);
    if (!parsed.ok())
      return fail(std::string(parsed.status().message()));
    if (!(percentile > 50 && percentile <= 100))
      return fail("percentile " + std::to_string(percentile) +
                  " is not in (50, 100]");
    auto loaded = calibration::CalibrationStats::load(stats);
    if (!loaded.ok())
      return fail(std::string(loaded.status().message()));
    options = {*parsed, percentile};
    annotate(function, *loaded);
    if (annotated == 0 && tensors != 0)
      return fail("'" + stats +
                  "' has no tensor of this model; calibrate this model");
    warnMissing(function);
  }

private:
  void fail(const std::string &why) {
    getOperation().emitError("npu-import-calibration: ") << why;
    signalPassFailure();
  }

  using Set = llvm::function_ref<void(const char *, Attribute)>;

  /// Range, channels' means and ranges of a tensor, if the file has it.
  void annotate(const calibration::CalibrationStats &all, StringRef name,
                Set set) {
    ++tensors;
    const calibration::TensorStats *found = all.find(name.str());
    if (!found)
      return;
    ++annotated;
    calibration::Range range = calibration::chooseRange(*found, options);
    set(kRangeAttr,
        DenseF64ArrayAttr::get(&getContext(), {range.min, range.max}));
    SmallVector<double> means(found->channelMean.begin(),
                              found->channelMean.end());
    if (!means.empty())
      set(kMeanAttr, DenseF64ArrayAttr::get(&getContext(), means));
    SmallVector<double> channels;
    for (auto [low, high] : llvm::zip(found->channelMin, found->channelMax)) {
      channels.push_back(low);
      channels.push_back(high);
    }
    if (!channels.empty())
      set(kChannelRangeAttr, DenseF64ArrayAttr::get(&getContext(), channels));
  }

  void annotate(func::FuncOp function,
                const calibration::CalibrationStats &all) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto name = function.getArgAttrOfType<StringAttr>(i, "npu.name");
      if (!name || !isFloatTensor(function.getArgument(i)))
        continue;
      annotate(all, name, [&](const char *key, Attribute value) {
        function.setArgAttr(i, key, value);
      });
    }
    function.walk([&](HostCallOp op) { annotateResults(op, all); });
    function.walk([&](Operation *op) {
      auto name = op->getAttrOfType<StringAttr>("npu.tensor");
      if (!name || op->getNumResults() != 1 || isa<ConstantOp>(op) ||
          !isFloatTensor(op->getResult(0)))
        return;
      annotate(all, name, [&](const char *key, Attribute value) {
        op->setAttr(key, value);
      });
    });
  }

  /// A host segment's results have ranges only; their means are not needed,
  /// no channels are known in ONNX's layouts.
  void annotateResults(HostCallOp op,
                       const calibration::CalibrationStats &all) {
    auto names = op->getAttrOfType<ArrayAttr>("npu.tensors");
    if (!names || names.size() != op->getNumResults())
      return;
    SmallVector<Attribute> ranges(names.size(), UnitAttr::get(&getContext()));
    for (auto [n, name] : llvm::enumerate(names)) {
      auto text = dyn_cast<StringAttr>(name);
      if (!text || text.empty() || !isFloatTensor(op->getResult(n)))
        continue;
      annotate(all, text, [&, n = n](StringRef key, Attribute value) {
        if (key == kRangeAttr)
          ranges[n] = value;
      });
    }
    op->setAttr(kRangeAttr, ArrayAttr::get(&getContext(), ranges));
  }

  void warnMissing(func::FuncOp function) {
    llvm::DenseSet<Operation *> none;
    ScaleGroups groups(function, none);
    for (Value argument : function.getArguments())
      if (isFloatTensor(argument) && !groups.typeOf(argument))
        emitWarning(argument.getLoc())
            << "input " << cast<BlockArgument>(argument).getArgNumber()
            << " has no statistics in '" << stats
            << "'; what reads it stays in f32";
    for (Operation &op : function.front()) {
      if (isa<ConstantOp>(op) || (!computesQuantized(&op) && !keepsScale(&op)))
        continue;
      auto name = op.getAttrOfType<StringAttr>("npu.tensor");
      for (Value result : op.getResults())
        if (isFloatTensor(result) && !groups.typeOf(result))
          emitWarning(op.getLoc())
              << "node '" << nodeName(op.getLoc()) << "': tensor '"
              << (name ? name.getValue() : StringRef("?"))
              << "' has no statistics in '" << stats
              << "' and its range does not follow from its operands'; it "
                 "stays in f32";
    }
  }

  calibration::RangeOptions options;
  int64_t tensors = 0, annotated = 0;
};

} // namespace
} // namespace npu
