//===- image.h - Pictures as bytes ------------------------------*- C++ -*-===//
#ifndef RUNTIME_PREPROCESS_IMAGE_H
#define RUNTIME_PREPROCESS_IMAGE_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace npu::rt {

/// Interleaved 8-bit pixels, rows top to bottom, 1 (grey) or 3 (RGB) channels.
struct Image {
  int width = 0, height = 0, channels = 3;
  std::vector<uint8_t> pixels;
};

/// File name endings that decodeImage() understands.
const std::vector<std::string> &imageExtensions();

/// Decodes JPEG, PNG, BMP or PNM to `channels` (1 or 3) channels. A file that
/// is missing, truncated or no picture is an error that names it.
absl::StatusOr<Image> decodeImage(const std::string &path, int channels);

/// How a picture is fitted to the wanted size.
enum class Fit {
  kStretch,   ///< both sides to the size, whatever the aspect
  kCover,     ///< keeps the aspect, then crops the middle
  kLetterbox, ///< keeps the aspect, then fills the rest
};

enum class Filter {
  kNearest,
  kBilinear, ///< triangle filter; widened when shrinking, so no aliasing
  kBicubic,  ///< Catmull-Rom, widened when shrinking
};

/// Resizes to exactly width x height.
absl::StatusOr<Image> resizeImage(const Image &image, int width, int height,
                                  Filter filter);

} // namespace npu::rt

#endif // RUNTIME_PREPROCESS_IMAGE_H
