#include "runtime/device/software/software_device.h"

#include <sys/mman.h>

#include "absl/strings/str_cat.h"

namespace npu::rt {
namespace {

/// Zeroed pages, given back in the end. Untouched pages cost nothing.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena() {
    if (region_.data)
      munmap(region_.data, region_.size);
  }
  absl::Status allocate(int64_t bytes, const char *what) {
    if (bytes == 0)
      return absl::OkStatus();
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", what, " of ", bytes, " bytes"));
    region_ = {static_cast<uint8_t *>(p), bytes};
    return absl::OkStatus();
  }
  Region region() const { return region_; }

private:
  Region region_;
};

class SoftwareProgram : public DeviceProgram {
public:
  absl::Status init(std::shared_ptr<const Blob> blob,
                    const ExecutorOptions &options) {
    blob_ = std::move(blob);
    const SpaceSizes &sizes = blob_->sizes();
    if (absl::Status s = dram_.allocate(sizes.dram, "the activation arena");
        !s.ok())
      return s;
    sram_ = std::vector<Arena>(sizes.cores);
    for (Arena &arena : sram_)
      if (absl::Status s = arena.allocate(sizes.sram, "the SRAM of a core");
          !s.ok())
        return s;
    memory_.constants = blob_->constants();
    memory_.dram = dram_.region();
    for (Arena &arena : sram_)
      memory_.sram.push_back(arena.region());
    memory_.io.resize(sizes.io.size());
    auto executor = Executor::create(blob_->commands(), blob_->numCommands(),
                                     memory_.constants, options);
    if (!executor.ok())
      return executor.status();
    executor_ = *std::move(executor);
    return absl::OkStatus();
  }

  absl::Status run(const std::vector<Region> &io, int64_t first, int64_t last,
                   const JobHooks &hooks) override {
    for (size_t i = 0; i < io.size(); ++i)
      memory_.io[i] = io[i];
    return executor_->run(memory_, first, last, hooks);
  }

  uint8_t *dram(int64_t offset) override { return memory_.dram.data + offset; }

  const uint8_t *peek(const Operand &operand, int core) const override {
    return memory_.region(operand, core).data + operand.offset;
  }

private:
  std::shared_ptr<const Blob> blob_;
  Arena dram_;
  std::vector<Arena> sram_;
  MemoryMap memory_;
  std::unique_ptr<Executor> executor_;
};

class SoftwareDevice : public Device {
public:
  explicit SoftwareDevice(const ExecutorOptions &options) : options_(options) {}

  std::string name() const override { return "software"; }
  std::string description() const override {
    return absl::StrCat("software NPU, ", isaName(options_.isa), " kernels, ",
                        options_.threads, " thread(s)");
  }
  absl::StatusOr<std::unique_ptr<DeviceProgram>>
  load(std::shared_ptr<const Blob> blob) override {
    auto program = std::make_unique<SoftwareProgram>();
    if (absl::Status s = program->init(std::move(blob), options_); !s.ok())
      return s;
    return program;
  }

private:
  ExecutorOptions options_;
};

} // namespace

std::unique_ptr<Device> createSoftwareDevice(const ExecutorOptions &options) {
  return std::make_unique<SoftwareDevice>(options);
}

} // namespace npu::rt
