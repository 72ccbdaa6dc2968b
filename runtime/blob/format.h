//===- format.h - The container of a blob -----------------------*- C++ -*-===//
//
//   header      64 bytes, FileHeader
//   metadata    FlatBuffers, blob.fbs
//   sections    commands, constants, models of host segments; each aligned to
//               64, zeros in between
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_BLOB_FORMAT_H
#define RUNTIME_BLOB_FORMAT_H

#include <cstdint>

namespace npu::rt {

constexpr char kMagic[4] = {'N', 'P', 'U', 'B'};
/// A reader refuses another major version, and reads every minor version up to
/// any: minor versions only add what may be ignored.
constexpr uint16_t kFormatMajor = 1;
constexpr uint16_t kFormatMinor = 0;
/// A blob with host segments. Ignoring these would give wrong results, so a
/// reader of version 1 must refuse it; what has none stays readable for it.
constexpr uint16_t kFormatMajorHost = 2;
constexpr int64_t kSectionAlignment = 64;

/// Little-endian. This layout is the same in all versions, so that a newer
/// file can be told from a damaged one.
struct FileHeader {
  char magic[4];
  uint16_t major, minor;
  uint64_t file_size;
  uint64_t metadata_size;
  uint64_t content_checksum; ///< XXH3 64 of all bytes after the header
  uint8_t reserved[24];      ///< zeros
  uint64_t header_checksum;  ///< XXH3 64 of the bytes before it
};
static_assert(sizeof(FileHeader) == 64);

constexpr int64_t alignUp(int64_t n) {
  return (n + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

} // namespace npu::rt

#endif // RUNTIME_BLOB_FORMAT_H
