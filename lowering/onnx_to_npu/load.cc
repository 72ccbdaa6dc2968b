// Reading model files, and the translation registered with npu-translate.
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "lowering/onnx_to_npu/importer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "runtime/support/file.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace npu {

namespace {

class TextErrors : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, int column, const std::string &message) override {
    if (first.empty())
      first = absl::StrCat("line ", line + 1, ": ", message);
  }
  std::string first;
};

absl::Status parseModel(const std::string &path, const std::string &bytes,
                        onnx::ModelProto *model) {
  namespace pb = google::protobuf;
  if (absl::EndsWith(path, ".textproto")) {
    pb::TextFormat::Parser parser;
    TextErrors errors;
    parser.RecordErrorsTo(&errors);
    if (!parser.ParseFromString(bytes, model))
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": not an ONNX model in text form: ", errors.first));
    return absl::OkStatus();
  }
  if (bytes.size() > INT32_MAX)
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": larger than 2 GiB; keep the weights as external data"));
  pb::io::ArrayInputStream array(bytes.data(), int(bytes.size()));
  pb::io::CodedInputStream coded(&array);
  coded.SetTotalBytesLimit(INT32_MAX);
  if (!model->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": not an ONNX model, or cut short; export or copy it again"));
  return absl::OkStatus();
}

/// What is given for an input or a dimension that the model does not have is a
/// slip of the pen.
absl::Status checkGiven(const onnx::GraphProto &graph,
                        const ImportOptions &options) {
  std::set<std::string> inputs, dims;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    inputs.insert(input.name());
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty())
        dims.insert(dim.dim_param());
  }
  for (const auto &[name, shape] : options.shapes)
    if (!name.empty() && !inputs.count(name))
      return absl::NotFoundError(
          absl::StrCat("a shape is given for \"", name,
                       "\", the inputs are: ", absl::StrJoin(inputs, ", ")));
  for (const auto &[name, value] : options.values)
    if (!inputs.count(name))
      return absl::NotFoundError(
          absl::StrCat("a value is given for \"", name,
                       "\", the inputs are: ", absl::StrJoin(inputs, ", ")));
  for (const auto &[name, size] : options.dims)
    if (!dims.count(name))
      return absl::NotFoundError(absl::StrCat(
          "a size is given for dimension \"", name, "\", the inputs have ",
          dims.empty() ? "none with a name" : absl::StrJoin(dims, ", ")));
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<OwningOpRef<ModuleOp>> importOnnx(const std::string &path,
                                                 const ImportOptions &options,
                                                 MLIRContext &context) {
  absl::StatusOr<std::string> bytes = rt::readFile(path);
  if (!bytes.ok())
    return bytes.status();
  onnx::ModelProto model;
  if (absl::Status s = parseModel(path, *bytes, &model); !s.ok())
    return s;
  bytes->clear();
  bytes->shrink_to_fit();
  context.loadDialect<NPUDialect, func::FuncDialect>();
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (absl::Status s = checkGiven(model.graph(), options); !s.ok())
    return absl::Status(s.code(), absl::StrCat(path, ": ", s.message()));
  Importer importer(context, options, folder.empty() ? "." : folder);
  absl::StatusOr<OwningOpRef<ModuleOp>> module = importer.run(model);
  if (!module.ok())
    return absl::Status(module.status().code(),
                        absl::StrCat(path, ": ", module.status().message()));
  if (failed(verify(**module)))
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the model is inconsistent, see above"));
  return module;
}

void registerOnnxToNpuTranslation() {
  static llvm::cl::opt<int64_t> batch(
      "batch",
      llvm::cl::desc("--onnx-to-npu: size of an unknown first "
                     "dimension"),
      llvm::cl::init(1));
  static llvm::cl::list<std::string> shapes(
      "shape", llvm::cl::desc("--onnx-to-npu: an input's shape, "
                              "NAME=1x3x224x224"));
  static llvm::cl::list<std::string> dims(
      "dim", llvm::cl::desc("--onnx-to-npu: a symbolic dimension, NAME=1"));
  static llvm::cl::opt<bool> hostNodes(
      "host-nodes",
      llvm::cl::desc("--onnx-to-npu: what is not understood runs on the host"));
  static llvm::cl::opt<std::string> placement(
      "placement",
      llvm::cl::desc("--onnx-to-npu: file of placement rules (JSON)"));
  static llvm::cl::list<std::string> values(
      "value", llvm::cl::desc("--onnx-to-npu: an input fixed to a value, "
                              "NAME=FILE of an ONNX tensor (.pb)"));
  static TranslateToMLIRRegistration registration(
      "onnx-to-npu", "import an ONNX model (by its file name)",
      [](llvm::SourceMgr &sources, MLIRContext *context) {
        ImportOptions options;
        options.batch = batch;
        options.hostNodes = hostNodes;
        std::string path = sources.getMemoryBuffer(sources.getMainFileID())
                               ->getBufferIdentifier()
                               .str();
        auto error = [&](absl::string_view text) {
          emitError(UnknownLoc::get(context)) << std::string(text);
          return OwningOpRef<Operation *>();
        };
        for (const std::string &s : shapes)
          if (absl::Status status = parseShape(s, &options); !status.ok())
            return error(status.message());
        for (const std::string &s : dims)
          if (absl::Status status = parseDim(s, &options); !status.ok())
            return error(status.message());
        if (!placement.empty())
          if (absl::Status status = readPlacement(placement, &options);
              !status.ok())
            return error(status.message());
        for (const std::string &s : values)
          if (absl::Status status = parseValue(s, &options); !status.ok())
            return error(status.message());
        auto module = importOnnx(path, options, *context);
        if (!module.ok())
          return error(module.status().message());
        return OwningOpRef<Operation *>(module->release().getOperation());
      },
      [](DialectRegistry &registry) {
        registry.insert<NPUDialect, func::FuncDialect>();
      });
}

absl::Status parseShape(const std::string &text, ImportOptions *options) {
  size_t at = text.rfind('=');
  std::vector<int64_t> dims;
  bool good = at != std::string::npos && at > 0;
  if (good)
    for (absl::string_view part :
         absl::StrSplit(text.substr(at + 1), absl::ByAnyChar("x,"))) {
      dims.push_back(0);
      good &= absl::SimpleAtoi(part, &dims.back()) && dims.back() > 0;
    }
  if (!good)
    return absl::InvalidArgumentError(absl::StrCat(
        "--shape ", text, ": expected NAME=1x3x224x224 with positive sizes"));
  options->shapes[text.substr(0, at)] = dims;
  return absl::OkStatus();
}

absl::Status parseDim(const std::string &text, ImportOptions *options) {
  size_t at = text.rfind('=');
  int64_t size = 0;
  if (at == std::string::npos || at == 0 ||
      !absl::SimpleAtoi(text.substr(at + 1), &size) || size < 1)
    return absl::InvalidArgumentError(absl::StrCat(
        "--dim ", text, ": expected NAME=SIZE with a positive size"));
  options->dims[text.substr(0, at)] = size;
  return absl::OkStatus();
}

absl::Status parseValue(const std::string &text, ImportOptions *options) {
  size_t at = text.find('=');
  if (at == std::string::npos || at == 0)
    return absl::InvalidArgumentError(
        absl::StrCat("--value ", text, ": expected NAME=FILE"));
  absl::StatusOr<std::string> bytes = rt::readFile(text.substr(at + 1));
  if (!bytes.ok())
    return bytes.status();
  options->values[text.substr(0, at)] = *std::move(bytes);
  return absl::OkStatus();
}

} // namespace npu
