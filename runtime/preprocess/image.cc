#include "runtime/preprocess/image.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "runtime/support/file.h"
#include "stb/stb_image.h"
#include "stb/stb_image_resize.h"

namespace npu::rt {

// A limit that keeps a hostile header from asking for gigabytes.
constexpr int64_t kMaxPixels = int64_t{1} << 28;

const std::vector<std::string> &imageExtensions() {
  static const auto *extensions = new std::vector<std::string>{
      ".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm"};
  return *extensions;
}

// A baseline or progressive JPEG ends in EOI; the decoder fills the missing
// part of a cut file with grey and says nothing.
static bool isCutJpeg(const std::string &bytes) {
  return bytes.size() > 4 && bytes.compare(0, 2, "\xff\xd8") == 0 &&
         bytes.find("\xff\xd9", 2) == std::string::npos;
}

absl::StatusOr<Image> decodeImage(const std::string &path, int channels) {
  absl::StatusOr<std::string> bytes = readFile(path);
  if (!bytes.ok())
    return bytes.status();
  auto error = [&](const char *why) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot decode ", path, ": ", why,
                     "; expected a JPEG, PNG, BMP or PNM picture"));
  };
  const auto *data = reinterpret_cast<const stbi_uc *>(bytes->data());
  int width, height, inFile;
  if (bytes->size() > INT32_MAX)
    return error("larger than 2 GiB");
  if (!stbi_info_from_memory(data, bytes->size(), &width, &height, &inFile))
    return error(stbi_failure_reason());
  if (int64_t{width} * height > kMaxPixels)
    return error("more than 2^28 pixels");
  if (isCutJpeg(*bytes))
    return error("truncated");
  std::unique_ptr<stbi_uc, void (*)(void *)> pixels(
      stbi_load_from_memory(data, bytes->size(), &width, &height, &inFile,
                            channels),
      stbi_image_free);
  if (!pixels)
    return error(stbi_failure_reason());
  Image image{width, height, channels, {}};
  image.pixels.assign(pixels.get(),
                      pixels.get() + size_t(width) * height * channels);
  return image;
}

static Image resizeNearest(const Image &in, int width, int height) {
  Image out{width, height, in.channels, {}};
  out.pixels.resize(size_t(width) * height * in.channels);
  uint8_t *to = out.pixels.data();
  for (int y = 0; y < height; ++y) {
    const uint8_t *row = in.pixels.data() + (int64_t{y} * in.height / height) *
                                                in.width * in.channels;
    for (int x = 0; x < width; ++x, to += in.channels)
      std::memcpy(to, row + int64_t{x} * in.width / width * in.channels,
                  in.channels);
  }
  return out;
}

absl::StatusOr<Image> resizeImage(const Image &in, int width, int height,
                                  Filter filter) {
  if (width <= 0 || height <= 0 || int64_t{width} * height > kMaxPixels ||
      in.width <= 0 || in.height <= 0)
    return absl::InvalidArgumentError(
        absl::StrCat("cannot resize a picture of ", in.width, "x", in.height,
                     " to ", width, "x", height));
  if (in.width == width && in.height == height)
    return in;
  if (filter == Filter::kNearest)
    return resizeNearest(in, width, height);
  Image out{width, height, in.channels, {}};
  out.pixels.resize(size_t(width) * height * in.channels);
  stbir_filter kernel = filter == Filter::kBilinear ? STBIR_FILTER_TRIANGLE
                                                    : STBIR_FILTER_CATMULLROM;
  if (!stbir_resize_uint8_generic(
          in.pixels.data(), in.width, in.height, 0, out.pixels.data(), width,
          height, 0, in.channels, STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP,
          kernel, STBIR_COLORSPACE_LINEAR, nullptr))
    return absl::ResourceExhaustedError("out of memory resizing a picture");
  return out;
}

} // namespace npu::rt
