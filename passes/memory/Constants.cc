//===- Constants.cc - Layout of the weight section ------------------------===//

#include "passes/memory/Constants.h"

#include "passes/memory/Placement.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;

namespace npu {
namespace {

/// What is compared: the stored bytes, and how they become those of the
/// section (a splat is repeated; i1 elements are expanded).
struct Content {
  StringRef raw;
  int64_t bytes = 0;
  bool splat = false, packed = false;
};

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() *
         rt::sizeOf(*cmdq::toDType(type.getElementType()));
}

/// None for attributes whose storage is not known; they are not shared.
std::optional<Content> contentOf(cmdq::ConstantOp constant) {
  Content content;
  content.bytes = bytesOf(constant.getType());
  content.packed = constant.getType().getElementType().isInteger(1);
  ArrayRef<char> raw;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    raw = dense.getRawData();
    content.splat = dense.isSplat();
  } else if (auto resource =
                 dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    auto *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    raw = blob->getData();
  } else {
    return std::nullopt;
  }
  content.raw = StringRef(raw.data(), raw.size());
  return content;
}

/// Finds the offset of identical content that has been placed before.
class Shared {
public:
  /// `offset` is taken if the content is new.
  int64_t find(const Content &content, int64_t offset) {
    auto key = llvm::hash_combine(content.bytes, content.splat, content.packed,
                                  content.raw);
    auto &bucket = buckets[static_cast<size_t>(key)];
    for (auto &[other, place] : bucket)
      if (other.bytes == content.bytes && other.splat == content.splat &&
          other.packed == content.packed && other.raw == content.raw)
        return place;
    bucket.push_back({content, offset});
    return offset;
  }

private:
  std::unordered_map<size_t, SmallVector<std::pair<Content, int64_t>, 1>>
      buckets;
};

} // namespace

void placeConstants(cmdq::ProgramOp program) {
  Shared shared;
  int64_t end = 0;
  auto constants = program.getBody().front().getOps<cmdq::ConstantOp>();
  for (cmdq::ConstantOp constant : llvm::make_early_inc_range(constants)) {
    if (constant->use_empty()) {
      constant.erase();
      continue;
    }
    int64_t offset = end;
    if (auto content = contentOf(constant))
      offset = shared.find(*content, end);
    if (offset == end)
      end = llvm::alignTo(end + bytesOf(constant.getType()), kBufferAlignment);
    constant.setOffset(offset);
  }
}

} // namespace npu
