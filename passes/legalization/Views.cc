//===- Views.cc - Short forms of data movement ----------------------------===//

#include "passes/legalization/Views.h"

using namespace mlir;

namespace npu {

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, elementType(value));
}

Value reshapeTo(OpBuilder &b, Location loc, Value value,
                ArrayRef<int64_t> shape) {
  if (tensorType(value).getShape() == shape)
    return value;
  return ReshapeOp::create(b, loc, withShape(value, shape), value, shape);
}

Value transposeBy(OpBuilder &b, Location loc, Value value,
                  ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t p : perm)
    shape.push_back(tensorType(value).getDimSize(p));
  return TransposeOp::create(b, loc, withShape(value, shape), value, perm);
}

Value sliceOf(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> starts,
              ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (tensorType(value).getShape() == sizes && strides.empty())
    return value;
  SmallVector<int64_t> ones(sizes.size(), 1);
  return SliceOp::create(b, loc, withShape(value, sizes), value, starts, sizes,
                         strides.empty() ? ArrayRef<int64_t>(ones) : strides);
}

Value padBy(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> low,
            ArrayRef<int64_t> high, float with) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] += low[i] + high[i];
  if (tensorType(value).getShape() == ArrayRef(shape))
    return value;
  return PadOp::create(b, loc, withShape(value, shape), value, low, high,
                       PadMode::Constant, APFloat(with));
}

Value concatOf(OpBuilder &b, Location loc, ArrayRef<Value> values,
               int64_t axis) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape(tensorType(values.front()).getShape());
  shape[axis] = 0;
  for (Value value : values)
    shape[axis] += tensorType(value).getDimSize(axis);
  return ConcatOp::create(b, loc, withShape(values.front(), shape), values,
                          axis);
}

} // namespace npu
