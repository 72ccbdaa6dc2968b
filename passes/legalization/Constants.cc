//===- Constants.cc - Constant operands and node bookkeeping --------------===//

#include "passes/legalization/Constants.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace npu {

/// The raw elements of a constant whose storage has `bits` bits.
template <typename T>
static std::optional<SmallVector<T>> elementsOf(Value value, Type stored) {
  auto op = value.getDefiningOp<ConstantOp>();
  if (!op ||
      cast<ShapedType>(op.getValue().getType()).getElementType() != stored)
    return std::nullopt;
  int64_t count = op.getOutput().getType().getNumElements();
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    if (dense.isSplat())
      return SmallVector<T>(count, dense.getSplatValue<T>());
    auto raw = dense.getRawData();
    auto data = reinterpret_cast<const T *>(raw.data());
    return SmallVector<T>(data, data + count);
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!resource || !resource.getRawHandle().getBlob())
    return std::nullopt;
  ArrayRef<T> data = resource.getRawHandle().getBlob()->getDataAs<T>();
  if (static_cast<int64_t>(data.size()) != count)
    return std::nullopt;
  return SmallVector<T>(data);
}

std::optional<SmallVector<float>> floatsOf(Value value) {
  return elementsOf<float>(value, Float32Type::get(value.getContext()));
}

std::optional<SmallVector<int8_t>> int8sOf(Value value) {
  return elementsOf<int8_t>(value, IntegerType::get(value.getContext(), 8));
}

std::optional<SmallVector<int32_t>> int32sOf(Value value) {
  return elementsOf<int32_t>(value, IntegerType::get(value.getContext(), 32));
}

std::optional<float> scalarOf(Value value) {
  auto op = value.getDefiningOp<ConstantOp>();
  if (!op || !elementType(value).isF32())
    return std::nullopt;
  // Weights are large: look at their elements only if there are few.
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (dense && dense.isSplat())
    return dense.getSplatValue<float>();
  if (!dense || dense.getNumElements() > 4096)
    return std::nullopt;
  auto values = dense.getValues<float>();
  if (!llvm::all_equal(values))
    return std::nullopt;
  return *values.begin();
}

std::optional<SmallVector<float>> channelsOf(Value value, int64_t channels) {
  auto op = value.getDefiningOp<ConstantOp>();
  if (!op)
    return std::nullopt;
  RankedTensorType type = tensorType(value);
  int64_t count = type.getNumElements();
  if (auto scalar = scalarOf(value);
      scalar && (count == 1 || count == channels))
    return SmallVector<float>{*scalar};
  if (type.getRank() == 0 || type.getShape().back() != channels ||
      count != channels)
    return std::nullopt;
  return floatsOf(value);
}

Value makeFloats(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                 ArrayRef<float> values) {
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

Value makeWords(OpBuilder &b, Location loc, ArrayRef<int32_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    b.getI32Type());
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, values));
}

Value makeBytes(OpBuilder &b, Location loc, RankedTensorType type,
                ArrayRef<int8_t> values) {
  auto stored = RankedTensorType::get(type.getShape(), b.getI8Type());
  return ConstantOp::create(b, loc, type,
                            DenseElementsAttr::get(stored, values));
}

Location fuseLocs(ArrayRef<Operation *> ops) {
  SmallVector<Location> locs;
  for (Operation *op : ops)
    locs.push_back(op->getLoc());
  return FusedLoc::get(ops.front()->getContext(), locs);
}

void moveTensorName(Operation *from, Operation *to) {
  if (Attribute name = from->getAttr("npu.tensor"))
    to->setAttr("npu.tensor", name);
  else
    to->removeAttr("npu.tensor");
}

SmallVector<float> accumulatorScales(Value input, Value filter) {
  auto in = dyn_cast<quant::UniformQuantizedType>(elementType(input));
  SmallVector<float> scales;
  if (!in)
    return scales;
  auto scale = static_cast<float>(in.getScale());
  Type type = elementType(filter);
  if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    for (double s : axis.getScales())
      scales.push_back(scale * static_cast<float>(s));
  else if (auto one = dyn_cast<quant::UniformQuantizedType>(type))
    scales.push_back(scale * static_cast<float>(one.getScale()));
  return scales;
}

void eraseDead(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (op != root)
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

} // namespace npu
