//===- reading.h - Shared by what reads blobs -------------------*- C++ -*-===//
#ifndef RUNTIME_BLOB_READING_H
#define RUNTIME_BLOB_READING_H

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/blob/blob_generated.h"
#include "runtime/blob/format.h"

namespace npu::rt {

/// No tensor, arena or file is larger: keeps sums of sizes far from overflow.
constexpr int64_t kMaxBytes = int64_t(1) << 40;

inline absl::Status damaged(const std::string &why) {
  return absl::DataLossError(
      absl::StrCat("damaged: ", why, "; copy or build it again"));
}

inline absl::Status invalid(const std::string &why) {
  return absl::InvalidArgumentError(why);
}

/// Does a section lie behind `start` in a file of `size` bytes?
inline bool inside(const fb::Section *s, int64_t start, int64_t size) {
  return s && s->offset() % kSectionAlignment == 0 &&
         s->offset() >= uint64_t(start) && s->offset() <= uint64_t(size) &&
         s->size() <= uint64_t(size) - s->offset();
}

} // namespace npu::rt

#endif // RUNTIME_BLOB_READING_H
