#include "runtime/api/session.h"

#include <cstdlib>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/device/software/software_device.h"

namespace npu::rt {

std::vector<std::string> deviceNames() { return {"software"}; }

absl::StatusOr<std::shared_ptr<Device>>
openDevice(const DeviceOptions &options) {
  if (options.name != "software")
    return absl::NotFoundError(
        absl::StrCat("no device '", options.name,
                     "'; there are: ", absl::StrJoin(deviceNames(), ", ")));
  ExecutorOptions executor;
  executor.threads = options.threads
                         ? options.threads
                         : std::max(1u, std::thread::hardware_concurrency());
  if (executor.threads < 1 || executor.threads > 256)
    return absl::InvalidArgumentError(absl::StrCat(
        options.threads, " threads; give 1 to 256, or 0 for one per CPU"));
  if (options.portable)
    executor.isa = Isa::kPortable;
  return std::shared_ptr<Device>(createSoftwareDevice(executor));
}

absl::StatusOr<std::unique_ptr<Session>>
Session::create(std::shared_ptr<Device> device,
                std::shared_ptr<const Program> program,
                const HostOptions &host) {
  std::unique_ptr<Session> s(new Session);
  auto loaded = device->load(program);
  if (!loaded.ok())
    return loaded.status();
  s->loaded_ = *std::move(loaded);
  if (!program->hostCalls().empty()) {
    auto segments = HostSegments::create(*program, *s->loaded_, host);
    if (!segments.ok())
      return segments.status();
    s->host_ = *std::move(segments);
  }
  s->device_ = std::move(device);
  s->program_ = std::move(program);
  for (int64_t bytes : s->program_->sizes().io) {
    int64_t rounded = (bytes + 63) / 64 * 64;
    auto *data = static_cast<uint8_t *>(std::aligned_alloc(64, rounded));
    if (!data)
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a tensor of ", bytes, " bytes"));
    std::memset(data, 0, rounded);
    s->own_.emplace_back(data, std::free);
    s->io_.push_back({data, bytes});
  }
  for (const Blob::Tap &tap : s->program_->taps())
    s->tapsByCommand_.emplace(tap.command, &tap);
  return s;
}

absl::StatusOr<int> Session::indexOf(const std::string &name) const {
  std::vector<std::string> names;
  for (const auto *list : {&program_->inputs(), &program_->outputs()})
    for (const TensorInfo &tensor : *list) {
      if (tensor.name == name)
        return static_cast<int>(names.size());
      names.push_back(tensor.name);
    }
  return absl::NotFoundError(
      absl::StrCat("no input or output '", name,
                   "'; there are: ", absl::StrJoin(names, ", ")));
}

absl::Status Session::setInput(const std::string &name, DType type,
                               const std::vector<int64_t> &shape,
                               const void *data) {
  absl::StatusOr<int> index = indexOf(name);
  if (!index.ok())
    return index.status();
  if (*index >= static_cast<int>(program_->inputs().size()))
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' is an output"));
  const TensorInfo &expected = program_->inputs()[*index];
  if (type != expected.dtype || shape != expected.shape) {
    TensorInfo given{name, type, shape, ""};
    return absl::InvalidArgumentError(
        absl::StrCat("input '", name, "' must be ", typeText(expected),
                     ", not ", typeText(given)));
  }
  std::memcpy(io_[*index].data, data, expected.bytes());
  return absl::OkStatus();
}

absl::Status Session::bind(const std::string &name, void *data, int64_t bytes) {
  absl::StatusOr<int> index = indexOf(name);
  if (!index.ok())
    return index.status();
  int64_t expected = program_->sizes().io[*index];
  if (!data) {
    io_[*index] = {own_[*index].get(), expected};
    return absl::OkStatus();
  }
  if (bytes != expected)
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' takes ", expected, " bytes, the buffer has ", bytes));
  size_t inputs = program_->inputs().size();
  const TensorInfo &info = size_t(*index) < inputs
                               ? program_->inputs()[*index]
                               : program_->outputs()[*index - inputs];
  if (reinterpret_cast<uintptr_t>(data) % sizeOf(info.dtype))
    return absl::InvalidArgumentError(
        absl::StrCat("the buffer for '", name, "' is not aligned to ",
                     sizeOf(info.dtype), " bytes"));
  io_[*index] = {static_cast<uint8_t *>(data), bytes};
  return absl::OkStatus();
}

absl::Status Session::afterCommand(int64_t index) {
  if (poll_)
    if (absl::Status status = (*poll_)(); !status.ok())
      return status;
  if (!tap_)
    return absl::OkStatus();
  auto [first, last] = tapsByCommand_.equal_range(index);
  for (auto it = first; it != last; ++it) {
    const Command &command = program_->commands()[index];
    const Operand &operand = command.operands[0];
    const uint8_t *data = loaded_->peek(operand, command.core);
    if (!data)
      return absl::UnimplementedError("the device cannot show its memory");
    if (absl::Status status = tap_({it->second->name, operand, data});
        !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status Session::execute(const std::function<absl::Status()> *poll) {
  poll_ = poll;
  if ((poll || tap_) && !hooks_.after)
    hooks_.after = [this](int64_t index) { return afterCommand(index); };
  else if (!poll && !tap_)
    hooks_.after = nullptr;
  hooks_.nanoseconds = nanoseconds_.empty() ? nullptr : nanoseconds_.data();
  if (host_)
    return host_->run(*loaded_, io_, hooks_, poll);
  return loaded_->run(io_, 0, program_->numCommands(), hooks_);
}

absl::Status Session::run() { return execute(nullptr); }

void Session::setProfiling(bool on) {
  nanoseconds_.assign(on ? program_->numCommands() : 0, 0);
  if (host_)
    host_->setProfiling(on);
}

static const char *engineName(Engine engine) {
  switch (engine) {
  case Engine::kMatrix:
    return "matrix";
  case Engine::kVector:
    return "vector";
  default:
    return "dma";
  }
}

std::vector<LayerProfile> Session::profile() const {
  std::vector<LayerProfile> result;
  std::vector<std::map<std::string, int64_t>> engines;
  std::map<uint32_t, size_t> rows;
  for (size_t i = 0; i < nanoseconds_.size(); ++i) {
    const Command &command = program_->commands()[i];
    auto [it, isNew] = rows.try_emplace(command.layer, result.size());
    if (isNew) {
      result.push_back({program_->layers()[command.layer], "", 0, 0});
      engines.emplace_back();
    }
    LayerProfile &row = result[it->second];
    ++row.commands;
    row.nanoseconds += nanoseconds_[i];
    engines[it->second][engineName(command.engine)] += nanoseconds_[i];
  }
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t most = -1;
    for (const auto &[engine, time] : engines[i])
      if (time > most) {
        most = time;
        result[i].engine = engine;
      }
  }
  if (host_)
    for (LayerProfile &row : host_->profile())
      result.push_back(std::move(row));
  return result;
}

} // namespace npu::rt
