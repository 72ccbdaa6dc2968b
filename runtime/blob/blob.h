//===- blob.h - Reading blobs -----------------------------------*- C++ -*-===//
//
// A blob is memory-mapped and verified once, when it is opened: checksums,
// FlatBuffers structure, every command against the spaces (validateCommand) and
// the order of the queues (checkSchedule). After that, running it cannot touch
// memory outside its arenas. docs/blob.md describes the format.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_BLOB_BLOB_H
#define RUNTIME_BLOB_BLOB_H

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/kernels/kernels.h"

namespace npu::rt {

/// An input or output: a dense row-major tensor that the user binds.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape; ///< [] for a scalar
  std::string preprocess;     ///< JSON, "" if the input takes arrays only

  int64_t elements() const;
  int64_t bytes() const { return elements() * sizeOf(dtype); }
};

/// "i8", "u8", "i16", "i32", "i64", "f16", "f32", "bool".
const char *dtypeName(DType type);
/// "f32 [1,3,224,224]".
std::string typeText(const TensorInfo &tensor);

/// An ONNX node that the host runs, for people.
struct HostNode {
  std::string name, op, reason, fix;
  int64_t macs = 0;
  int64_t bytes = 0; ///< of its constants and results
};

/// A host segment: an ONNX model that runs between commands.
struct HostCall {
  int64_t before = 0;                   ///< commands that come before it
  absl::string_view model;              ///< serialised; in the blob
  std::vector<Operand> inputs, outputs; ///< dense, in DRAM or bound
  std::vector<HostNode> nodes;
};

class Blob {
public:
  /// Maps and verifies a file. Errors are one line: NotFound, DataLoss for a
  /// damaged file, Unimplemented for a newer format, InvalidArgument.
  static absl::StatusOr<std::shared_ptr<const Blob>>
  open(const std::string &path);
  /// The same of bytes in memory; `what` names them in errors.
  static absl::StatusOr<std::shared_ptr<const Blob>>
  parse(std::string bytes, const std::string &what);
  ~Blob();

  const std::string &name() const { return name_; }
  const std::vector<TensorInfo> &inputs() const { return inputs_; }
  const std::vector<TensorInfo> &outputs() const { return outputs_; }
  const Command *commands() const { return commands_; }
  int64_t numCommands() const { return numCommands_; }
  Region constants() const { return constants_; }
  const std::vector<std::string> &layers() const { return layers_; }
  struct Tap {
    std::string name;
    uint32_t command;
  };
  const std::vector<Tap> &taps() const { return taps_; }
  struct Declaration {
    int64_t offset;
    DType dtype;
    std::vector<int64_t> dims;
  };
  const std::vector<Declaration> &declarations() const { return declared_; }
  const std::vector<HostCall> &hostCalls() const { return hostCalls_; }
  /// What the blob needs: constants, arena, SRAM per core, cores, bound bytes.
  const SpaceSizes &sizes() const { return sizes_; }
  /// Free-form facts: compiler, model, target, mode, labels, estimate, ...
  const std::vector<std::pair<std::string, std::string>> &info() const {
    return info_;
  }
  /// The fact named `key`, or "".
  std::string info(absl::string_view key) const;
  int64_t fileBytes() const { return size_; }

private:
  Blob() = default;
  absl::Status load(const std::string &what);
  absl::Status readHeader(absl::string_view *metadata);
  absl::Status readMetadata(absl::string_view metadata);
  absl::Status readHostCalls(const void *metadata, int64_t start);
  absl::Status verifyHostCalls() const;
  absl::Status verifyCommands() const;

  std::string owned_; ///< the bytes, when they are not mapped
  void *map_ = nullptr;
  const uint8_t *data_ = nullptr;
  int64_t size_ = 0;

  std::string name_;
  std::vector<TensorInfo> inputs_, outputs_;
  const Command *commands_ = nullptr;
  int64_t numCommands_ = 0;
  Region constants_;
  std::vector<std::string> layers_;
  std::vector<Tap> taps_;
  std::vector<Declaration> declared_;
  std::vector<HostCall> hostCalls_;
  SpaceSizes sizes_;
  std::vector<std::pair<std::string, std::string>> info_;
};

} // namespace npu::rt

#endif // RUNTIME_BLOB_BLOB_H
