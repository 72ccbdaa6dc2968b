#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "passes/quantization/calibration/ranges.h"
#include "runtime/blob/blob.h"
#include "runtime/support/file.h"
#include "tools/npu/commands.h"
#include "tools/npu/compiler.h"
#include "tools/npu/config.h"
#include "tools/npu/dataset.h"
#include "tools/npu/progress.h"
#include "tools/npu/session_runner.h"
#include "tools/npu/tuning.h"
#include "tools/npu/version.h"

namespace npu {
namespace {

std::string digestOf(const std::string &bytes) {
  return absl::StrFormat("xxh3:%016x", XXH3_64bits(bytes.data(), bytes.size()));
}

/// One build, stage by stage.
class Build {
public:
  explicit Build(const BuildOptions &options)
      : options_(options), progress_(options.quiet),
        compiler_(options.saveTemps ? options.output + "/temps" : "") {}

  absl::Status run();
  /// Removes what a build that failed wrote before it did; what --save-temps
  /// asks for stays, it is there to look into the failure.
  void cleanUp();

private:
  absl::Status configure();
  absl::Status import();
  absl::Status describeInputs();
  absl::Status chooseMode();
  absl::Status openFloatRunner();
  absl::Status calibrate();
  absl::Status quantise();
  absl::Status tune(QuantizeRequest *request);
  /// Of the calibration data; none if nothing is to be compared.
  absl::StatusOr<Tuner::Samples> firstSamples(int64_t count);
  absl::Status compile();
  absl::Status compare();
  absl::Status write();
  absl::Status makeFolder();
  std::map<std::string, std::string> facts();

  BuildOptions options_;
  Config config_;
  Progress progress_;
  Compiler compiler_;
  Report report_;
  std::string modelDigest_, calibrationDigest_, statsPath_, blobPath_;
  std::vector<InputSpec> inputs_;
  std::unique_ptr<SessionRunner> float_;
  std::shared_ptr<const rt::Blob> blob_;
  std::string blobBytes_;
  bool madeFolder_ = false;
};

absl::Status Build::configure() {
  if (!options_.config.empty()) {
    absl::StatusOr<Config> config = readConfig(options_.config);
    if (!config.ok())
      return config.status();
    config_ = *std::move(config);
  }
  QuantizeConfig &q = config_.quantize;
  if (options_.target)
    config_.hardware = *options_.target;
  if (options_.cores)
    config_.cores = *options_.cores;
  if (options_.mode)
    q.mode = *options_.mode;
  if (options_.calibration)
    q.dataset = *options_.calibration;
  if (options_.method)
    q.method = *options_.method;
  if (options_.percentile)
    q.percentile = *options_.percentile;
  if (options_.minCosine)
    q.minCosine = *options_.minCosine;
  if (options_.steps)
    q.steps = *options_.steps;
  for (const std::string &node : options_.keepFloat)
    q.overrides.push_back({node, "fp32"});
  if (!q.mode.empty() && q.mode != "int8" && q.mode != "fp32" &&
      q.mode != "mixed")
    return absl::InvalidArgumentError(
        absl::StrCat("--mode ", q.mode, ": give int8, fp32 or mixed"));
  if (q.steps < 1 || !(q.percentile > 50 && q.percentile <= 100))
    return absl::InvalidArgumentError(
        "--steps must be at least 1, --percentile in (50, 100]");
  if (q.method == "auto" || calibration::parseMethod(q.method).ok())
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("unknown calibration method \"", q.method,
                   "\"; use auto, minmax, percentile, entropy or mse"));
}

absl::Status Build::import() {
  progress_.start("import");
  absl::StatusOr<std::string> bytes = rt::readFile(options_.model);
  if (!bytes.ok())
    return bytes.status();
  if (bytes->empty())
    return absl::InvalidArgumentError(absl::StrCat(
        options_.model, ": the file is empty; export or copy it again"));
  modelDigest_ = digestOf(*bytes);
  ImportRequest request;
  request.batch = options_.batch;
  request.shapeTexts = options_.shapes;
  request.dimTexts = options_.dims;
  request.valueTexts = options_.values;
  request.placement = options_.placement;
  for (const InputConfig &input : config_.inputs)
    if (!input.shape.empty())
      request.shapes[input.preprocess.name] = input.shape;
  if (absl::Status s = compiler_.import(options_.model, request); !s.ok())
    return s;
  progress_.start("optimise");
  if (absl::Status s = compiler_.optimise(); !s.ok())
    return s;
  return describeInputs();
}

absl::Status Build::describeInputs() {
  std::vector<TensorSignature> signature = compiler_.inputs();
  std::vector<bool> used(config_.inputs.size(), false);
  for (const TensorSignature &t : signature) {
    InputSpec spec{t.name, t.shape, std::nullopt};
    for (size_t i = 0; i < config_.inputs.size(); ++i) {
      const InputConfig &input = config_.inputs[i];
      const std::string &name = input.preprocess.name;
      if (name != t.name && !(name.empty() && signature.size() == 1))
        continue;
      used[i] = true;
      if (!input.shape.empty() && input.shape != t.shape)
        return absl::InvalidArgumentError(
            absl::StrCat("the configuration gives input '", t.name,
                         "' the shape [", absl::StrJoin(input.shape, ","),
                         "], the model [", absl::StrJoin(t.shape, ","), "]"));
      if (!input.isPicture)
        continue;
      spec.picture = input.preprocess;
      spec.picture->name = t.name;
      compiler_.setPreprocess(t.name, rt::toJson(*spec.picture).dump());
    }
    inputs_.push_back(std::move(spec));
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i]) {
      std::vector<std::string> names;
      for (const TensorSignature &t : signature)
        names.push_back(t.name);
      return absl::NotFoundError(absl::StrCat(
          "the configuration describes input '",
          config_.inputs[i].preprocess.name,
          "', the model's inputs are: ", absl::StrJoin(names, ", ")));
    }
  return absl::OkStatus();
}

absl::Status Build::chooseMode() {
  std::string &mode = config_.quantize.mode;
  const bool data =
      !config_.quantize.dataset.empty() || !options_.stats.empty();
  if (compiler_.isQuantised()) {
    if (mode == "fp32")
      return absl::InvalidArgumentError(
          "the model is quantised already; it cannot be built in fp32");
    mode = "prequantised";
  } else if (mode.empty()) {
    mode = data ? "int8" : "fp32";
    if (!data)
      report_.warnings.push_back(
          "no calibration data: built in fp32; give --calibration for INT8");
  } else if (mode != "fp32" && !data) {
    return absl::InvalidArgumentError(absl::StrCat(
        "mode ", mode,
        " needs calibration data; give --calibration (a folder of pictures or "
        "arrays) or --stats"));
  }
  double &goal = config_.quantize.minCosine;
  if (!(goal >= 0 && goal < 1))
    return absl::InvalidArgumentError(
        absl::StrCat("--min-cosine ", goal, " is outside [0, 1)"));
  if (goal > 0 && (mode == "fp32" || mode == "prequantised"))
    return absl::InvalidArgumentError(absl::StrCat(
        "--min-cosine is for modes int8 and mixed, this build is ", mode));
  const bool samples =
      !config_.quantize.dataset.empty() && options_.compare > 0;
  if (goal > 0 && !samples)
    return absl::InvalidArgumentError(
        "--min-cosine needs samples to compare on: give --calibration, and no "
        "--compare 0");
  if (goal > 0)
    mode = "mixed";
  else if (mode == "mixed" && config_.quantize.overrides.empty() && samples)
    goal = kSimilar;
  if (mode == "fp32" && !config_.quantize.overrides.empty())
    return absl::InvalidArgumentError(
        "per-layer overrides need mode int8 or mixed, this build is fp32");
  return absl::OkStatus();
}

absl::Status Build::openFloatRunner() {
  absl::StatusOr<std::string> bytes = compiler_.calibrationBlob();
  if (!bytes.ok())
    return bytes.status();
  auto blob = rt::Blob::parse(*std::move(bytes), "the float program");
  if (!blob.ok())
    return blob.status();
  rt::DeviceOptions device;
  device.threads = 0;
  auto runner = SessionRunner::create(*blob, device);
  if (!runner.ok())
    return runner.status();
  float_ = *std::move(runner);
  return absl::OkStatus();
}

absl::Status Build::makeFolder() {
  std::error_code error;
  madeFolder_ |= std::filesystem::create_directories(options_.output, error);
  if (error)
    return absl::PermissionDeniedError(absl::StrCat(
        "output folder ", options_.output, " cannot be made: ", error.message(),
        "; give another --output"));
  return absl::OkStatus();
}

void Build::cleanUp() {
  std::error_code error;
  for (const std::string &file : report_.files)
    if (const auto &temps = compiler_.files();
        std::find(temps.begin(), temps.end(), file) == temps.end())
      std::filesystem::remove(file, error);
  // Only if nothing is in it.
  if (madeFolder_)
    std::filesystem::remove(options_.output, error);
}

absl::Status Build::calibrate() {
  if (!options_.stats.empty()) {
    auto stats = calibration::CalibrationStats::load(options_.stats);
    if (!stats.ok())
      return stats.status();
    if (!stats->modelHash.empty() && stats->modelHash != modelDigest_)
      return absl::FailedPreconditionError(absl::StrCat(
          options_.stats, ": is of another model (", stats->modelHash,
          ", this one is ", modelDigest_, "); calibrate again"));
    statsPath_ = options_.stats;
    calibrationDigest_ = digestOf(stats->toJson());
    return absl::OkStatus();
  }
  progress_.start("calibrate");
  auto dataset =
      openDataset(config_.quantize.dataset, inputs_, config_.quantize.steps);
  if (!dataset.ok())
    return dataset.status();
  calibration::CalibrationOptions options;
  options.modelHash = modelDigest_;
  auto stats = calibration::runCalibration(*float_, **dataset, options,
                                           [this](size_t done, size_t total) {
                                             progress_.step(done, total);
                                             return true;
                                           });
  if (!stats.ok())
    return stats.status();
  if (absl::Status s = makeFolder(); !s.ok())
    return s;
  statsPath_ = options_.output + "/calibration.json";
  calibrationDigest_ = digestOf(stats->toJson());
  report_.files.push_back(statsPath_);
  return stats->save(statsPath_);
}

absl::Status Build::quantise() {
  const QuantizeConfig &q = config_.quantize;
  if (q.mode == "fp32" || q.mode == "prequantised")
    return absl::OkStatus();
  if (absl::Status s = calibrate(); !s.ok())
    return s;
  QuantizeRequest request;
  request.stats = statsPath_;
  request.method = q.method;
  request.percentile = q.percentile;
  request.biasCorrection = q.biasCorrection;
  for (const LayerOverride &o : q.overrides)
    if (o.mode == "fp32")
      request.keepFloat.push_back(o.layer);
  if (absl::Status s = tune(&request); !s.ok())
    return s;
  report_.quantization.method = request.method;
  report_.quantization.percentile = request.percentile;
  report_.quantization.biasCorrected = !request.biasShifts.empty();
  report_.quantization.splitChannels = request.splitChannels;
  progress_.start("quantise");
  return compiler_.quantise(request);
}

absl::StatusOr<Tuner::Samples> Build::firstSamples(int64_t count) {
  Tuner::Samples samples;
  if (!float_ || options_.compare == 0)
    return samples;
  auto dataset = openDataset(config_.quantize.dataset, inputs_, count);
  if (!dataset.ok())
    return dataset.status();
  for (size_t i = 0; i < (*dataset)->size(); ++i) {
    auto sample = (*dataset)->get(i);
    if (!sample.ok())
      return sample.status();
    samples.push_back(*std::move(sample));
  }
  return samples;
}

/// By trying it on the samples, if there are some.
absl::Status Build::tune(QuantizeRequest *request) {
  auto samples =
      firstSamples(std::max<int64_t>(options_.compare, kTuneSamples));
  if (!samples.ok())
    return samples.status();
  if (!samples->empty()) {
    progress_.start("tune");
    return tuneQuantization(config_.quantize, compiler_, *float_,
                            *std::move(samples), progress_, request, &report_);
  }
  if (request->method == "auto")
    request->method = "minmax";
  return absl::OkStatus();
}

std::map<std::string, std::string> Build::facts() {
  rt::Json coverage = toJson(report_)["coverage"];
  std::map<std::string, std::string> info = {
      {"compiler", kVersion},
      {"model", std::filesystem::path(options_.model).filename().string()},
      {"model_digest", modelDigest_},
      {"mode", config_.quantize.mode},
      {"coverage", coverage.dump()}};
  if (!calibrationDigest_.empty())
    info["calibration_digest"] = calibrationDigest_;
  if (!config_.text.empty())
    info["config"] = config_.text;
  if (!config_.labels.empty())
    info["labels"] = absl::StrJoin(config_.labels, "\n");
  return info;
}

absl::Status Build::compile() {
  progress_.start("compile");
  if (absl::Status s = compiler_.compile(config_.hardware, config_.cores);
      !s.ok())
    return s;
  report_.estimate = compiler_.estimate();
  report_.memory = compiler_.memory();
  report_.target = compiler_.targetName();
  auto bytes = compiler_.emit(facts());
  if (!bytes.ok())
    return bytes.status();
  // What no runtime would load is not written.
  blobBytes_ = *bytes;
  auto blob = rt::Blob::parse(*std::move(bytes), "the blob");
  if (!blob.ok())
    return absl::InternalError(
        absl::StrCat("the compiler made an invalid program, please report: ",
                     blob.status().message()));
  blob_ = *std::move(blob);
  return absl::OkStatus();
}

absl::Status Build::compare() {
  auto samples = firstSamples(options_.compare);
  if (!samples.ok() || samples->empty())
    return samples.status();
  progress_.start("compare");
  rt::DeviceOptions device;
  device.threads = 0;
  auto compiled = SessionRunner::create(blob_, device);
  if (!compiled.ok())
    return compiled.status();
  std::vector<std::vector<float>> a(blob_->outputs().size()), b = a;
  for (size_t i = 0; i < samples->size(); ++i) {
    progress_.step(i, samples->size());
    for (SessionRunner *runner : {float_.get(), compiled->get()}) {
      if (absl::Status s = runner->run((*samples)[i], nullptr); !s.ok())
        return s;
      auto &all = runner == float_.get() ? a : b;
      for (size_t o = 0; o < all.size(); ++o) {
        std::vector<float> values = runner->output(o);
        all[o].insert(all[o].end(), values.begin(), values.end());
      }
    }
  }
  for (size_t o = 0; o < a.size(); ++o) {
    Similarity s;
    s.output = blob_->outputs()[o].name;
    s.cosine = cosine(a[o].data(), b[o].data(), a[o].size());
    for (size_t i = 0; i < a[o].size(); ++i)
      s.maxError = std::max<double>(s.maxError, std::fabs(a[o][i] - b[o][i]));
    s.samples = samples->size();
    report_.similarity.push_back(s);
  }
  return absl::OkStatus();
}

absl::Status Build::write() {
  progress_.start("write");
  if (absl::Status s = makeFolder(); !s.ok())
    return s;
  if (absl::Status s = rt::writeFileAtomically(blobPath_, blobBytes_); !s.ok())
    return s;
  report_.files.push_back(blobPath_);
  for (const std::string &file : compiler_.files())
    report_.files.push_back(file);
  for (const std::string &warning : compiler_.warnings())
    report_.warnings.push_back(warning);
  std::string reportPath = options_.output + "/report.json";
  report_.files.push_back(reportPath);
  progress_.finish();
  report_.seconds = progress_.seconds();
  return rt::writeFileAtomically(reportPath, toJson(report_).dump(2) + "\n");
}

absl::Status Build::run() {
  if (absl::Status s = configure(); !s.ok())
    return s;
  if (absl::Status s = import(); !s.ok())
    return s;
  report_.model = options_.model;
  report_.coverage = compiler_.coverage();
  report_.versions = versions();
  blobPath_ = absl::StrCat(
      options_.output, "/",
      std::filesystem::path(options_.model).stem().string(), ".npub");
  report_.blob = blobPath_;
  if (options_.requireNpu)
    if (absl::Status s = requireNpu(report_.coverage); !s.ok())
      return s;
  if (absl::Status s = chooseMode(); !s.ok())
    return s;
  report_.mode = config_.quantize.mode;
  // The float program calibrates, and is what the result is compared with.
  if (report_.mode != "prequantised" && !config_.quantize.dataset.empty())
    if (absl::Status s = openFloatRunner(); !s.ok())
      return s;
  for (auto stage :
       {&Build::quantise, &Build::compile, &Build::compare, &Build::write})
    if (absl::Status s = (this->*stage)(); !s.ok())
      return s;
  if (!options_.quiet)
    std::cout << summary(report_);
  for (const std::string &warning : report_.warnings)
    if (options_.quiet)
      std::cerr << "warning: " << warning << "\n";
  return absl::OkStatus();
}

} // namespace

absl::Status build(const BuildOptions &options) {
  Build build(options);
  absl::Status status = build.run();
  if (!status.ok())
    build.cleanUp();
  return status;
}

} // namespace npu
