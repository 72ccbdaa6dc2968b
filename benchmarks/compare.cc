// Times a model in ONNX Runtime (float, its default optimisations) and as a
// blob on the software NPU, run by run in turn, so that both meet the same
// weather on the machine. Prints the medians and their ratio.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/api/session.h"
#include "test/reference/onnxruntime.h"
#include "tools/npu/commands.h"

namespace npu {
namespace {

struct Options {
  std::string model = "examples/roadsigns/roadsigns_mbv3.onnx";
  std::string blob, output;
  BuildOptions build;
  int rounds = 50, threads = 1;
  bool portable = false;
};

absl::StatusOr<std::string> makeBlob(Options &o) {
  if (!o.blob.empty())
    return o.blob;
  if (o.output.empty()) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "npu-compare-XXXXXX")
            .string();
    if (!mkdtemp(pattern.data()))
      return absl::InternalError(absl::StrCat(pattern, ": cannot be made"));
    o.output = pattern;
  }
  o.build.model = o.model;
  o.build.output = o.output;
  o.build.quiet = true;
  if (absl::Status s = build(o.build); !s.ok())
    return s;
  return absl::StrCat(o.output, "/",
                      std::filesystem::path(o.model).stem().string(), ".npub");
}

/// The same numbers for both: of a picture's kind for floats, small for
/// integers (they may be indices).
std::vector<float> values(const std::string &name, int64_t count, bool real) {
  std::mt19937 rng(std::hash<std::string>()(name));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> out(count);
  for (float &v : out)
    v = real ? uniform(rng) : float(rng() % 2);
  return out;
}

bool isReal(rt::DType type) {
  return type == rt::DType::kF32 || type == rt::DType::kF16;
}

absl::Status fill(rt::Session &session) {
  const auto &inputs = session.program().inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    rt::Region to = session.input(int(i));
    std::memset(to.data, 0, to.size);
    if (inputs[i].dtype == rt::DType::kF32) {
      std::vector<float> v = values(inputs[i].name, to.size / 4, true);
      std::memcpy(to.data, v.data(), to.size);
    } else if (isReal(inputs[i].dtype)) {
      return absl::UnimplementedError(absl::StrCat("input '", inputs[i].name,
                                                   "' is neither f32 nor "
                                                   "integer"));
    }
  }
  return absl::OkStatus();
}

/// ONNX Runtime's inputs: the session's bytes.
absl::StatusOr<std::vector<reference::Tensor>>
referenceInputs(const reference::Model &model, rt::Session &session) {
  std::vector<reference::Tensor> tensors;
  const auto &inputs = session.program().inputs();
  for (const reference::ValueInfo &info : model.inputs()) {
    auto it = std::find_if(inputs.begin(), inputs.end(),
                           [&](const auto &t) { return t.name == info.name; });
    if (it == inputs.end())
      return absl::NotFoundError(
          absl::StrCat("the blob has no input '", info.name,
                       "' of the model; was it built from another one?"));
    rt::Region from = session.input(int(it - inputs.begin()));
    reference::Tensor t;
    t.name = info.name;
    t.type = info.type;
    t.shape = it->shape;
    t.bytes.assign(from.data, from.data + from.size);
    tensors.push_back(std::move(t));
  }
  return tensors;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

template <typename F> absl::StatusOr<double> milliseconds(const F &run) {
  auto start = std::chrono::steady_clock::now();
  if (absl::Status s = run(); !s.ok())
    return s;
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

absl::Status compare(Options &o) {
  auto path = makeBlob(o);
  if (!path.ok())
    return path.status();
  auto program = rt::Program::open(*path);
  if (!program.ok())
    return program.status();
  rt::DeviceOptions deviceOptions;
  deviceOptions.threads = o.threads;
  deviceOptions.portable = o.portable;
  auto device = rt::openDevice(deviceOptions);
  if (!device.ok())
    return device.status();
  auto session = rt::Session::create(*device, *program);
  if (!session.ok())
    return session.status();
  if (absl::Status s = fill(**session); !s.ok())
    return s;
  auto model = reference::Model::load(o.model, o.threads);
  if (!model.ok())
    return model.status();
  auto inputs = referenceInputs(**model, **session);
  if (!inputs.ok())
    return inputs.status();

  std::vector<double> theirs, ours;
  constexpr int kWarmUp = 3;
  for (int i = 0; i < o.rounds + kWarmUp; ++i) {
    auto a = milliseconds([&] { return (*model)->run(*inputs).status(); });
    if (!a.ok())
      return a.status();
    auto b = milliseconds([&] { return (*session)->run(); });
    if (!b.ok())
      return b.status();
    if (i >= kWarmUp) {
      theirs.push_back(*a);
      ours.push_back(*b);
    }
  }
  double a = median(theirs), b = median(ours);
  std::cout << absl::StrFormat(
      "%-40s ONNX Runtime f32 %9.3f ms   NPU %s %9.3f ms   speed-up %.2f   "
      "(%d rounds, %d thread(s))\n",
      std::filesystem::path(o.model).stem().string(), a,
      (*program)->info("mode"), b, a / b, o.rounds, o.threads);
  return absl::OkStatus();
}

void addOptions(CLI::App &app, Options &o) {
  app.add_option("model", o.model, "ONNX model");
  app.add_option("--blob", o.blob, "Its blob; default: built for --target");
  app.add_option("-o,--output", o.output, "Folder to build into");
  app.add_option("--config", o.build.config, "As for npu build");
  auto text = [&](const char *name, std::optional<std::string> &to,
                  const char *help) {
    app.add_option_function<std::string>(
        name, [&to](const std::string &v) { to = v; }, help);
  };
  text("--target", o.build.target, "As for npu build (host)");
  text("--mode", o.build.mode, "As for npu build");
  text("--calibration", o.build.calibration, "As for npu build");
  text("--method", o.build.method, "As for npu build");
  app.add_option("--rounds", o.rounds, "Runs of each (50)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--threads", o.threads, "Threads of each (1)")
      ->check(CLI::Range(1, 256));
  app.add_flag("--portable", o.portable, "Our kernels without AVX2");
}

} // namespace
} // namespace npu

int main(int argc, char **argv) {
  CLI::App app("ONNX Runtime in float and the software NPU, side by side");
  npu::Options options;
  options.build.target = "host";
  npu::addOptions(app, options);
  CLI11_PARSE(app, argc, argv);
  if (absl::Status s = npu::compare(options); !s.ok()) {
    std::cerr << "compare: error: " << s.message() << "\n";
    return 1;
  }
  return 0;
}
