//===- writer.h - Writing blobs ---------------------------------*- C++ -*-===//
#ifndef RUNTIME_BLOB_WRITER_H
#define RUNTIME_BLOB_WRITER_H

#include <map>
#include <string>
#include <vector>

#include "runtime/blob/blob.h"

namespace npu::rt {

/// Everything that a blob holds.
struct BlobContents {
  std::string name = "main";
  std::vector<TensorInfo> inputs, outputs;
  std::vector<Command> commands;
  std::string constants; ///< the section's bytes
  std::vector<std::string> layers;
  std::vector<Blob::Tap> taps;
  std::vector<Blob::Declaration> declarations;
  std::vector<HostCall> hostCalls; ///< models: see `models`
  std::vector<std::string> models; ///< of hostCalls, one each
  int cores = 1;
  int64_t sramBytes = 0, dramBytes = 0;
  std::map<std::string, std::string> info;
};

/// The file's bytes; equal contents give equal bytes. Not verified: the reader
/// does that.
std::string writeBlob(const BlobContents &contents);

} // namespace npu::rt

#endif // RUNTIME_BLOB_WRITER_H
