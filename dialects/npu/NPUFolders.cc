#include "dialects/npu/NPU.h"

using namespace mlir;
using namespace npu;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getOutput().getType())
    return getInput();
  // reshape(reshape(x)) needs only the last one.
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> perm = getPerm();
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
    return getInput();
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> both;
  for (int64_t p : perm)
    both.push_back(inner.getPerm()[p]);
  setPerm(both);
  getInputMutable().assign(inner.getInput());
  return getResult();
}

OpFoldResult StorageCastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getOutput().getType())
    return getInput();
  auto inner = getInput().getDefiningOp<StorageCastOp>();
  if (inner && inner.getInput().getType() == getOutput().getType())
    return inner.getInput();
  return {};
}
