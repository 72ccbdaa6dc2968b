//===- compose.h - Operators written as others ------------------*- C++ -*-===//
//
// What an operator without a kernel of its own is made of. Every function takes
// and gives entries in ONNX's order of dimensions, keeps the order in which
// they are stored where it can, and does nothing once one has failed: a handler
// writes its formula down and looks at status() at the end.
//
//===----------------------------------------------------------------------===//
#ifndef LOWERING_ONNX_TO_NPU_COMPOSE_H
#define LOWERING_ONNX_TO_NPU_COMPOSE_H

#include <algorithm>

#include "lowering/onnx_to_npu/elementwise.h"

namespace npu {

/// `axis` of a tensor of `rank`, counted from the end if negative.
absl::StatusOr<int64_t> axisOf(int64_t axis, int64_t rank);
/// Dimensions [from, to).
Dims rangeOf(int64_t from, int64_t to);

class Compose {
public:
  explicit Compose(Importer &im) : im(im) {}

  const absl::Status &status() const { return state; }
  void fail(absl::Status why) {
    if (state.ok())
      state = std::move(why);
  }
  /// Binds output n, if the node has it; gives status().
  absl::Status bind(const Node &node, int n, const Entry &e);
  Dims dims(const Entry &e) { return e ? im.shape(e) : Dims(); }

  //===--- Constants ------------------------------------------------------===//

  static Entry scalar(float value);
  /// `value` as one of the elements of `like`.
  Entry numberLike(const Entry &like, int64_t value);
  static Entry floats(const Dims &dims, std::vector<float> values);
  static Entry integers(const Dims &dims, std::vector<int64_t> values,
                        int type = onnx::TensorProto::INT64);

  //===--- Elementwise, with broadcasting ---------------------------------===//

  Entry add(const Entry &a, const Entry &b) { return binary<AddOp>(a, b); }
  Entry sub(const Entry &a, const Entry &b) { return binary<SubOp>(a, b); }
  Entry mul(const Entry &a, const Entry &b) { return binary<MulOp>(a, b); }
  Entry div(const Entry &a, const Entry &b) { return binary<DivOp>(a, b); }
  Entry min(const Entry &a, const Entry &b) { return binary<MinOp>(a, b); }
  Entry max(const Entry &a, const Entry &b) { return binary<MaxOp>(a, b); }
  Entry pow(const Entry &a, const Entry &b) { return binary<PowOp>(a, b); }
  Entry clip(const Entry &e, float low, float high);
  Entry castTo(const Entry &e, mlir::Type element);
  mlir::Type elementOf(const Entry &e);
  /// Integers as the vector engine computes on them: truth values and all of
  /// less than 32 bits as i32, ui32 as i64; others as they are.
  Entry words(const Entry &e);

  template <typename Op> Entry binary(const Entry &a, const Entry &b) {
    if (!ready({&a, &b}))
      return {};
    Operands o = broadcastOperands(im, a, b);
    return take(im.create<Op>(mlir::Type(), o.a, o.b, ActivationAttr(),
                              mlir::TypeAttr()),
                o.perm);
  }
  /// Of integers and truth values; no activation.
  template <typename Op> Entry pair(const Entry &a, const Entry &b) {
    if (!ready({&a, &b}))
      return {};
    Operands o = broadcastOperands(im, a, b);
    return take(im.create<Op>(mlir::Type(), o.a, o.b), o.perm);
  }
  Entry select(const Entry &condition, const Entry &yes, const Entry &no);
  Entry negate(const Entry &truth);
  template <typename Op, typename... Attrs>
  Entry unary(const Entry &e, Attrs... attrs) {
    if (!ready({&e}))
      return {};
    Entry v = asValue(e);
    return take(im.create<Op>(mlir::Type(), v.value, attrs...), v.perm);
  }

  //===--- Reductions, products -------------------------------------------===//

  /// Over the (non-negative) `axes`, which stay as 1.
  template <typename Op> Entry reduce(const Entry &e, const Dims &axes) {
    if (!ready({&e}) || axes.empty())
      return e;
    Entry v = asValue(e);
    Dims at;
    for (int64_t a : axes)
      at.push_back(std::find(v.perm.begin(), v.perm.end(), a) - v.perm.begin());
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return take(im.create<Op>(mlir::Type(), v.value, at, true), v.perm);
  }
  /// Operators along one axis of what they are given.
  template <typename Op, typename... Attrs>
  Entry along(const Entry &e, int64_t axis, Attrs... attrs) {
    if (!ready({&e}))
      return {};
    Entry v = asValue(e);
    int64_t at = std::find(v.perm.begin(), v.perm.end(), axis) - v.perm.begin();
    return take(im.create<Op>(mlir::Type(), v.value, at, attrs...), v.perm);
  }
  Entry softmax(const Entry &e, int64_t axis) {
    return along<SoftmaxOp>(e, axis);
  }
  /// x - max - log(sum(exp(x - max))).
  Entry logSoftmax(const Entry &e, int64_t axis);
  /// [B...,M,K] x [B...,K,N], or x [B...,N,K] when `transposed`.
  Entry matmul(const Entry &a, const Entry &b, bool transposed = false);
  /// x [M,K] * weights [N,K] transposed + bias [N], which may be absent.
  Entry linear(const Entry &x, const Entry &weights, const Entry &bias);

  //===--- Movement -------------------------------------------------------===//

  Entry reshape(const Entry &e, const Dims &dims);
  Entry transpose(const Entry &e, const Dims &perm);
  Entry expand(const Entry &e, const Dims &dims);
  /// `size` elements along `axis` from `start` on, every `stride`-th.
  Entry slice(const Entry &e, int64_t axis, int64_t start, int64_t size,
              int64_t stride = 1);
  Entry concat(const std::vector<Entry> &parts, int64_t axis);
  /// `value` around the tensor, negative pads cut.
  Entry pad(const Entry &e, const Dims &low, const Dims &high, float value);
  /// The elements at constant `indices` of `axis`.
  Entry gather(const Entry &e, const Dims &indices, int64_t axis);

  /// A value, never a constant.
  Entry asValue(const Entry &e);

private:
  bool ready(std::initializer_list<const Entry *> operands);
  Entry take(absl::StatusOr<mlir::Value> value, const Dims &perm);

  Importer &im;
  absl::Status state;
};

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_COMPOSE_H
