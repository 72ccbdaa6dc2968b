//===- View.cc - Strided views of buffers ---------------------------------===//

#include "lowering/npu_to_cmdq/View.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace npu {

View View::whole(Value root, ArrayRef<int64_t> shape) {
  View view;
  view.root = root;
  view.dims.assign(shape.begin(), shape.end());
  view.strides.resize(shape.size());
  int64_t stride = 1;
  for (int64_t i = view.rank() - 1; i >= 0; --i) {
    view.strides[i] = stride;
    stride *= shape[i];
  }
  return view;
}

int64_t View::elements() const {
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= dim;
  return n;
}

bool View::operator==(const View &other) const {
  if (root != other.root || offset != other.offset || dims != other.dims)
    return false;
  for (int64_t i = 0; i < rank(); ++i)
    if (dims[i] != 1 && strides[i] != other.strides[i])
      return false;
  return true;
}

View View::permuted(ArrayRef<int64_t> perm) const {
  View view = *this;
  for (auto [i, p] : llvm::enumerate(perm)) {
    view.dims[i] = dims[p];
    view.strides[i] = strides[p];
  }
  return view;
}

View View::sliced(ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                  ArrayRef<int64_t> steps) const {
  View view = *this;
  for (int64_t i = 0; i < rank(); ++i)
    view = view.slicedDim(i, starts[i], sizes[i], steps[i]);
  return view;
}

View View::slicedDim(int64_t dim, int64_t start, int64_t size,
                     int64_t step) const {
  View view = *this;
  view.offset += start * strides[dim];
  view.dims[dim] = size;
  view.strides[dim] *= step;
  return view;
}

View View::broadcast(ArrayRef<int64_t> shape) const {
  View view;
  view.root = root;
  view.offset = offset;
  view.dims.assign(shape.begin(), shape.end());
  view.strides.assign(shape.size(), 0);
  int64_t missing = shape.size() - rank();
  for (int64_t i = 0; i < rank(); ++i)
    if (dims[i] == shape[missing + i])
      view.strides[missing + i] = strides[i];
  return view;
}

std::optional<View> View::reshaped(ArrayRef<int64_t> shape) const {
  View view;
  view.root = root;
  view.offset = offset;
  view.dims.assign(shape.begin(), shape.end());
  view.strides.assign(shape.size(), 0);
  // Old dimensions without those of size 1, which constrain nothing.
  SmallVector<int64_t, 6> oldDims, oldStrides;
  for (int64_t i = 0; i < rank(); ++i)
    if (dims[i] != 1) {
      oldDims.push_back(dims[i]);
      oldStrides.push_back(strides[i]);
    }
  // Match groups of old and new dimensions with equal products; within one,
  // the old dimensions must be contiguous with each other.
  size_t o = 0, n = 0;
  while (o < oldDims.size()) {
    size_t o1 = o + 1, n1 = n;
    int64_t oldSize = oldDims[o], newSize = 1;
    while (newSize != oldSize) {
      if (newSize < oldSize)
        newSize *= shape[n1++];
      else
        oldSize *= oldDims[o1++];
    }
    for (size_t i = o; i + 1 < o1; ++i)
      if (oldStrides[i] != oldDims[i + 1] * oldStrides[i + 1])
        return std::nullopt;
    int64_t stride = oldStrides[o1 - 1];
    for (size_t i = n1; i-- > n;) {
      view.strides[i] = stride;
      stride *= shape[i];
    }
    o = o1;
    n = n1;
  }
  // What is left has size 1.
  for (; n < shape.size(); ++n)
    view.strides[n] = 1;
  return view;
}

View View::stored() const {
  View view = *this;
  for (int64_t i = 0; i < rank(); ++i)
    if (strides[i] == 0)
      view.dims[i] = 1;
  return view;
}

bool View::dense() const {
  int64_t expected = 1;
  for (int64_t i = rank() - 1; i >= 0; --i) {
    if (dims[i] != 1 && strides[i] != expected)
      return false;
    expected *= dims[i];
  }
  return true;
}

bool View::innerContiguous() const {
  return dims.empty() || dims.back() == 1 || strides.back() == 1;
}

Value View::materialize(OpBuilder &builder, Location loc) const {
  SmallVector<int64_t> sizes(dims), steps(strides);
  // A dimension of size 1 has no stride to speak of; give it the dense one, so
  // that equal views get equal types.
  int64_t expected = 1;
  for (int64_t i = rank() - 1; i >= 0; --i) {
    if (sizes[i] == 1)
      steps[i] = expected;
    expected = steps[i] == 0 ? expected : steps[i] * sizes[i];
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    steps.push_back(1);
  }
  auto rootType = cast<MemRefType>(root.getType());
  bool identity = offset == 0;
  int64_t stride = 1;
  for (int64_t i = sizes.size() - 1; i >= 0; --i) {
    identity &= steps[i] == stride;
    stride *= sizes[i];
  }
  if (identity && rootType.getShape() == ArrayRef<int64_t>(sizes))
    return root;
  MemRefLayoutAttrInterface layout;
  if (!identity)
    layout = StridedLayoutAttr::get(builder.getContext(), offset, steps);
  auto type = MemRefType::get(sizes, rootType.getElementType(), layout,
                              rootType.getMemorySpace());
  return memref::ReinterpretCastOp::create(builder, loc, type, root, offset,
                                           sizes, steps);
}

void coalesce(MutableArrayRef<View> views) {
  if (views.empty())
    return;
  for (int64_t i = views.front().rank() - 1; i >= 0; --i) {
    bool drop = views.front().dims[i] == 1;
    bool join = !drop && i + 1 < views.front().rank();
    for (const View &view : views)
      join = join && view.strides[i] == view.strides[i + 1] * view.dims[i + 1];
    for (View &view : views) {
      if (join)
        view.dims[i + 1] *= view.dims[i];
      if (drop || join) {
        view.dims.erase(view.dims.begin() + i);
        view.strides.erase(view.strides.begin() + i);
      }
    }
  }
}

} // namespace npu
