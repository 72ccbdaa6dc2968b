#include "runtime/blob/blob.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/blob/blob_generated.h"
#include "runtime/blob/format.h"
#include "runtime/blob/reading.h"
#include "runtime/queue/hazards.h"

namespace npu::rt {
namespace {

absl::StatusOr<TensorInfo> readTensor(const fb::Tensor &in) {
  TensorInfo t;
  t.name = in.name()->str();
  if (in.dtype() >= kNumDTypes)
    return invalid(absl::StrCat("tensor '", t.name, "' has unknown type ",
                                int(in.dtype())));
  t.dtype = static_cast<DType>(in.dtype());
  int64_t count = 1;
  for (int64_t d : *in.shape()) {
    if (d < 1 || d > kMaxBytes / count)
      return invalid(absl::StrCat("tensor '", t.name,
                                  "' has an impossible dimension ", d));
    count *= d;
    t.shape.push_back(d);
  }
  if (in.preprocess())
    t.preprocess = in.preprocess()->str();
  return t;
}

} // namespace

int64_t TensorInfo::elements() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

const char *dtypeName(DType type) {
  static const char *const names[kNumDTypes] = {
      "i8",   "u8",  "i16", "i32", "i64", "f16", "f32",
      "bool", "u16", "u32", "u64", "f64", "bf16"};
  return names[static_cast<int>(type)];
}

std::string typeText(const TensorInfo &t) {
  return absl::StrCat(dtypeName(t.dtype), " [", absl::StrJoin(t.shape, ","),
                      "]");
}

Blob::~Blob() {
  if (map_)
    munmap(map_, size_);
}

std::string Blob::info(absl::string_view key) const {
  for (const auto &[k, value] : info_)
    if (k == key)
      return value;
  return "";
}

absl::StatusOr<std::shared_ptr<const Blob>>
Blob::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    std::string why = fd < 0 ? std::strerror(errno) : "not a regular file";
    if (fd >= 0)
      close(fd);
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", why));
  }
  std::shared_ptr<Blob> blob(new Blob);
  blob->size_ = st.st_size;
  if (st.st_size > 0) {
    void *map = mmap(nullptr, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
      std::string why = std::strerror(errno);
      close(fd);
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": cannot be mapped: ", why));
    }
    blob->map_ = map;
    blob->data_ = static_cast<const uint8_t *>(map);
  }
  close(fd);
  if (absl::Status status = blob->load(path); !status.ok())
    return status;
  return blob;
}

absl::StatusOr<std::shared_ptr<const Blob>>
Blob::parse(std::string bytes, const std::string &what) {
  std::shared_ptr<Blob> blob(new Blob);
  blob->size_ = bytes.size();
  blob->owned_ = std::move(bytes);
  // Sections are aligned within the file; so must the bytes be in memory.
  void *aligned =
      mmap(nullptr, std::max<int64_t>(blob->size_, 1), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (aligned == MAP_FAILED)
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": no memory for ", blob->size_, " bytes"));
  std::memcpy(aligned, blob->owned_.data(), blob->size_);
  blob->owned_.clear();
  blob->owned_.shrink_to_fit();
  if (blob->size_ == 0) {
    munmap(aligned, 1);
  } else {
    blob->map_ = aligned;
    blob->data_ = static_cast<const uint8_t *>(aligned);
  }
  if (absl::Status status = blob->load(what); !status.ok())
    return status;
  return blob;
}

absl::Status Blob::load(const std::string &what) {
  absl::string_view metadata;
  absl::Status status = readHeader(&metadata);
  if (status.ok())
    status = readMetadata(metadata);
  if (status.ok())
    status = verifyHostCalls();
  if (status.ok())
    status = verifyCommands();
  if (status.ok())
    return status;
  return absl::Status(status.code(),
                      absl::StrCat(what, ": ", status.message()));
}

absl::Status Blob::readHeader(absl::string_view *metadata) {
  FileHeader h;
  if (size_ < int64_t(sizeof(h)))
    return damaged(
        absl::StrCat("it has ", size_, " bytes, less than a header"));
  std::memcpy(&h, data_, sizeof(h));
  if (std::memcmp(h.magic, kMagic, sizeof(kMagic)) != 0)
    return invalid("not a blob (it does not start with NPUB); give the .npub "
                   "file that npu build wrote");
  if (h.header_checksum !=
      XXH3_64bits(&h, offsetof(FileHeader, header_checksum)))
    return damaged("the header's checksum is wrong");
  if (h.major != kFormatMajor && h.major != kFormatMajorHost)
    return absl::UnimplementedError(
        absl::StrCat("format ", h.major, ".", h.minor, ", this runtime reads ",
                     kFormatMajor, ".x and ", kFormatMajorHost, ".x; ",
                     h.major > kFormatMajor ? "update the runtime"
                                            : "build the model again"));
  if (h.file_size != uint64_t(size_))
    return damaged(absl::StrCat("it has ", size_, " bytes, the header says ",
                                h.file_size));
  if (h.content_checksum != XXH3_64bits(data_ + sizeof(h), size_ - sizeof(h)))
    return damaged("the checksum of its content is wrong");
  if (h.metadata_size > uint64_t(size_) - sizeof(h))
    return damaged("the metadata is longer than the file");
  *metadata = {reinterpret_cast<const char *>(data_ + sizeof(h)),
               static_cast<size_t>(h.metadata_size)};
  return absl::OkStatus();
}

absl::Status Blob::readMetadata(absl::string_view metadata) {
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t *>(metadata.data()), metadata.size(), 64,
      /*max_tables=*/10'000'000);
  if (!verifier.VerifyBuffer<fb::Program>(nullptr))
    return damaged("the metadata is no FlatBuffers table of its schema");
  const auto &p = *flatbuffers::GetRoot<fb::Program>(metadata.data());
  int64_t start = sizeof(FileHeader) + metadata.size();
  if (!inside(p.commands(), start, size_) ||
      !inside(p.constants(), start, size_) ||
      p.commands()->size() % sizeof(Command))
    return damaged("a section lies outside the file");
  name_ = p.name()->str();
  commands_ = reinterpret_cast<const Command *>(data_ + p.commands()->offset());
  numCommands_ = p.commands()->size() / sizeof(Command);
  constants_ = {const_cast<uint8_t *>(data_) + p.constants()->offset(),
                static_cast<int64_t>(p.constants()->size())};
  for (auto [from, to] :
       {std::pair{p.inputs(), &inputs_}, std::pair{p.outputs(), &outputs_}})
    for (const fb::Tensor *t : *from) {
      absl::StatusOr<TensorInfo> tensor = readTensor(*t);
      if (!tensor.ok())
        return tensor.status();
      sizes_.io.push_back(tensor->bytes());
      to->push_back(*std::move(tensor));
    }
  if (sizes_.io.size() > 256)
    return invalid("more than 256 inputs and outputs");
  if (p.cores() < 1 || p.cores() > 256 || p.sram_bytes() > kMaxBytes ||
      p.dram_bytes() > kMaxBytes)
    return invalid("impossible number of cores or size of memory");
  sizes_.inputs = inputs_.size();
  sizes_.constants = constants_.size;
  sizes_.dram = p.dram_bytes();
  sizes_.sram = p.sram_bytes();
  sizes_.cores = p.cores();
  for (const auto *layer : *p.layers())
    layers_.push_back(layer->str());
  for (const fb::Tap *tap : *p.taps())
    taps_.push_back({tap->name()->str(), tap->command()});
  for (const fb::Constant *c : *p.declarations())
    declared_.push_back({static_cast<int64_t>(c->offset()),
                         static_cast<DType>(c->dtype()),
                         {c->dims()->begin(), c->dims()->end()}});
  for (const fb::Info *i : *p.info())
    info_.emplace_back(i->key()->str(), i->value()->str());

  if (absl::Status status = readHostCalls(&p, start); !status.ok())
    return status;

  size_t next = 0;
  for (int64_t i = 0; i < numCommands_; ++i)
    for (int o = 0; o < kMaxOperands; ++o) {
      const Operand &operand = commands_[i].operands[o];
      if (!operand.rank || operand.space != Space::kIo)
        continue;
      const fb::Patch *patch =
          next < p.patches()->size() ? p.patches()->Get(next++) : nullptr;
      if (!patch || patch->command() != i || patch->operand() != o ||
          patch->io() != operand.io)
        return invalid("the patch table does not match the commands");
    }
  return absl::OkStatus();
}

absl::Status Blob::verifyCommands() const {
  for (int64_t i = 0; i < numCommands_; ++i) {
    const Command &command = commands_[i];
    absl::Status status = validateCommand(command, sizes_, constants_.data);
    if (status.ok() && command.layer >= layers_.size())
      status = invalid(
          absl::StrCat("layer ", command.layer, " of ", layers_.size()));
    if (!status.ok())
      return absl::Status(status.code(),
                          absl::StrCat("command ", i, ": ", status.message()));
  }
  std::vector<int64_t> barriers;
  for (const HostCall &call : hostCalls_)
    barriers.push_back(call.before);
  if (absl::Status s =
          checkSchedule(commands_, numCommands_, sizes_.cores, barriers);
      !s.ok())
    return s;
  for (const Tap &tap : taps_)
    if (tap.command >= uint64_t(numCommands_))
      return invalid(absl::StrCat("tap '", tap.name, "' is of command ",
                                  tap.command, " of ", numCommands_));
  for (const Declaration &d : declared_) {
    bool fits = int(d.dtype) < kNumDTypes && d.offset >= 0 && !d.dims.empty() &&
                d.dims.size() <= kMaxRank;
    int64_t bytes = fits ? sizeOf(d.dtype) : 0;
    for (int64_t dim : d.dims)
      if (fits && (fits = dim > 0 && bytes <= kMaxBytes / dim))
        bytes *= dim;
    if (!fits || d.offset > constants_.size ||
        bytes > constants_.size - d.offset)
      return invalid("a constant lies outside the constant section");
  }
  return absl::OkStatus();
}

} // namespace npu::rt
