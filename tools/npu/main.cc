//===- main.cc - The npu command line -------------------------------------===//

#include <iostream>

#include "CLI/CLI.hpp"
#include "tools/npu/commands.h"
#include "tools/npu/version.h"

namespace {

template <typename T>
CLI::Option *optional(CLI::App *app, const char *name, std::optional<T> &value,
                      const char *help) {
  return app->add_option_function<T>(
      name, [&value](const T &given) { value = given; }, help);
}

/// Counts are checked here, so that errors name the option.
const CLI::Range kCount(int64_t(0), int64_t(1) << 31, "number from 0 on");
const CLI::Range kPositive(int64_t(1), int64_t(1) << 31, "number from 1 on");

CLI::App *addBuild(CLI::App &app, npu::BuildOptions &o) {
  CLI::App *c = app.add_subcommand(
      "build",
      "Compile an ONNX model to a blob: OUT/MODEL.npub, OUT/report.json");
  c->add_option("model", o.model, "ONNX model")->required();
  c->add_option("-o,--output", o.output, "Output folder");
  c->add_option("--config", o.config, "JSON configuration (docs/config.md)");
  optional(c, "--target", o.target,
           "edge, pc, micro, host, or a target file (default: edge)");
  optional(c, "--cores", o.cores, "NPU cores to use (default: all)")
      ->check(kPositive);
  optional(c, "--mode", o.mode,
           "int8, fp32 or mixed (default: int8 with "
           "calibration data, else fp32)");
  optional(c, "--calibration", o.calibration,
           "Folder of pictures, .npy or .npz files, or one .npz");
  optional(c, "--steps", o.steps, "Most samples to calibrate on (100)")
      ->check(kPositive);
  optional(c, "--method", o.method,
           "auto (the best of the others), minmax, "
           "percentile, entropy or mse (default: auto)");
  optional(c, "--percentile", o.percentile, "For method percentile (99.99)");
  optional(c, "--min-cosine", o.minCosine,
           "Keep layers in f32 until every output's cosine to the float "
           "model is this (mode mixed: 0.98)");
  c->add_option(
      "--stats", o.stats,
      "Calibration statistics of an earlier build (calibration.json)");
  c->add_option("--keep-float", o.keepFloat,
                "Node that stays in f32, by name or /regex/; repeatable");
  c->add_option("--batch", o.batch, "Size of an unknown batch dimension (1)")
      ->check(kPositive);
  c->add_option("--shape", o.shapes, "NAME=1x3x224x224; repeatable");
  c->add_option("--dim", o.dims, "Symbolic dimension, NAME=1; repeatable");
  c->add_option("--value", o.values,
                "Input fixed when building, NAME=16000 or NAME=1,2,3; "
                "repeatable");
  c->add_option("--compare", o.compare,
                "Samples to compare with the float model (8; 0: none)")
      ->check(kCount);
  c->add_option("--placement", o.placement,
                "JSON rules: nodes for the host, or kept on the NPU "
                "(docs/placement.md)");
  c->add_flag("--require-npu", o.requireNpu,
              "Fail if a node would run on the host");
  c->add_flag("--save-temps", o.saveTemps,
              "Keep the IR of each level in OUT/temps");
  c->add_flag("-q,--quiet", o.quiet, "No progress, no summary");
  return c;
}

CLI::App *addCheck(CLI::App &app, npu::CheckOptions &o) {
  CLI::App *c = app.add_subcommand(
      "check", "Say where each node of an ONNX model would run, and why");
  c->add_option("model", o.model, "ONNX model")->required();
  c->add_option("--target", o.target,
                "edge, pc, micro, host, or a target file (default: edge)");
  c->add_option("--batch", o.batch, "Size of an unknown batch dimension (1)")
      ->check(kPositive);
  c->add_option("--shape", o.shapes, "NAME=1x3x224x224; repeatable");
  c->add_option("--dim", o.dims, "Symbolic dimension, NAME=1; repeatable");
  c->add_option("--value", o.values,
                "Input fixed when building, NAME=16000 or NAME=1,2,3; "
                "repeatable");
  c->add_option("--placement", o.placement,
                "JSON rules: nodes for the host, or kept on the NPU "
                "(docs/placement.md)");
  c->add_flag("--require-npu", o.requireNpu,
              "Fail if a node would run on the host");
  c->add_flag("--json", o.json, "As JSON");
  return c;
}

CLI::App *addRun(CLI::App &app, npu::RunOptions &o) {
  CLI::App *c = app.add_subcommand("run", "Run a blob on the software NPU");
  c->add_option("blob", o.blob, "Blob (.npub)")->required();
  c->add_option("-i,--input", o.inputs,
                "Picture, .npy or .npz; NAME=FILE for one of several inputs")
      ->required();
  c->add_option("-o,--output", o.output, "Write the outputs (.npz, .npy)");
  c->add_option("--top", o.top, "Print the most likely classes")->check(kCount);
  c->add_option("--threads", o.threads, "Threads (1; 0: one per CPU)");
  c->add_option("--repeat", o.repeat, "Runs; the median time is printed")
      ->check(CLI::Range(1, 1000000));
  c->add_flag("--profile", o.profile, "Table of what ran where, and how long");
  c->add_flag("--portable", o.portable, "Kernels without AVX2");
  c->add_flag("-q,--quiet", o.quiet, "Print nothing");
  return c;
}

CLI::App *addInfo(CLI::App &app, npu::InfoOptions &o) {
  CLI::App *c = app.add_subcommand("info", "Show what a blob is");
  c->add_option("blob", o.blob, "Blob (.npub)")->required();
  c->add_flag("--layers", o.layers, "Cost of every layer on the target");
  c->add_flag("--json", o.json, "As JSON");
  return c;
}

CLI::App *addEval(CLI::App &app, npu::EvalOptions &o) {
  CLI::App *c = app.add_subcommand(
      "eval", "Accuracy of one or more blobs on labelled samples");
  c->add_option("blobs", o.blobs, "Blobs (.npub)")->required();
  c->add_option("--labels", o.labels, "CSV (FILE,CLASS) or .npz (x, y)")
      ->required();
  c->add_option("--folder", o.folder, "Folder of the files (default: CSV's)");
  c->add_option("--label-offset", o.labelOffset,
                "Added to class numbers (1: the model has a background class)");
  c->add_option("--limit", o.limit, "Most samples (0: all)")->check(kCount);
  c->add_option("--threads", o.threads, "Threads (0: one per CPU)");
  c->add_flag("--json", o.json, "As JSON");
  return c;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("npu: compiles ONNX models for NPUs and runs them");
  app.set_version_flag("--version", npu::kVersion);
  app.require_subcommand(1);
  npu::BuildOptions build;
  npu::CheckOptions check;
  npu::RunOptions run;
  npu::InfoOptions info;
  npu::EvalOptions eval;
  CLI::App *isBuild = addBuild(app, build), *isCheck = addCheck(app, check),
           *isRun = addRun(app, run), *isInfo = addInfo(app, info);
  addEval(app, eval);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help, --version
      return app.exit(error);
    std::cerr << "npu: error: " << error.what() << "; see npu --help\n";
    return 1;
  }
  absl::Status status = isBuild->parsed()   ? npu::build(build)
                        : isCheck->parsed() ? npu::check(check)
                        : isRun->parsed()   ? npu::run(run)
                        : isInfo->parsed()  ? npu::info(info)
                                            : npu::eval(eval);
  if (status.ok())
    return 0;
  std::cerr << "npu: error: " << status.message() << "\n";
  return 1;
}
