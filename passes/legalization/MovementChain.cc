//===- MovementChain.cc - Reshapes and transposes as one movement ---------===//

#include "passes/legalization/MovementChain.h"

#include "passes/legalization/Views.h"

using namespace mlir;

namespace npu {

//===----------------------------------------------------------------------===//
// Reading a chain
//===----------------------------------------------------------------------===//

MovementChain::MovementChain(Value value) : start(value) {
  srcShape.assign(tensorType(value).getShape().begin(),
                  tensorType(value).getShape().end());
  for (int64_t size : srcShape) {
    src.emplace_back();
    if (size == 1)
      continue;
    src.back().push_back(sizes.size());
    sizes.push_back(size);
  }
  dst = src;
}

std::optional<MovementChain> MovementChain::endingAt(Operation *end) {
  SmallVector<Operation *> ops;
  Operation *op = end;
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(op)) {
    ops.push_back(op);
    op = op->getOperand(0).getDefiningOp();
  }
  if (ops.empty())
    return std::nullopt;
  MovementChain chain(ops.back()->getOperand(0));
  for (Operation *next : llvm::reverse(ops))
    if (!chain.apply(next))
      return std::nullopt;
  chain.dstShape.assign(tensorType(end->getResult(0)).getShape().begin(),
                        tensorType(end->getResult(0)).getShape().end());
  return chain;
}

bool MovementChain::apply(Operation *op) {
  ops.push_back(op);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Dims moved;
    for (int64_t p : transpose.getPerm())
      moved.push_back(dst[p]);
    dst = moved;
    return true;
  }
  return regroup(cast<ReshapeOp>(op).getShape());
}

/// `atom` becomes two, the second of size `inner`.
void MovementChain::split(int atom, int64_t inner) {
  int next = sizes.size();
  sizes[atom] /= inner;
  sizes.push_back(inner);
  for (Dims *dims : {&src, &dst})
    for (auto &list : *dims)
      if (auto *at = llvm::find(list, atom); at != list.end())
        list.insert(at + 1, next);
}

bool MovementChain::regroup(ArrayRef<int64_t> shape) {
  Dims grouped(shape.size());
  size_t next = 0; // of the atoms in order
  auto order = [&] {
    SmallVector<int> flat;
    for (const auto &list : dst)
      flat.append(list.begin(), list.end());
    return flat;
  };
  SmallVector<int> flat = order();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t open = size;
    while (open > 1) {
      if (next == flat.size())
        return false;
      int atom = flat[next];
      if (open % sizes[atom]) {
        if (sizes[atom] % open)
          return false; // neither divides the other
        split(atom, sizes[atom] / open);
        flat = order();
      }
      open /= sizes[atom];
      grouped[dim].push_back(atom);
      ++next;
    }
    // Splitting an atom also changes what has been grouped: it cannot, since an
    // atom is grouped once and split before that.
  }
  dst = grouped;
  return next == flat.size();
}

int64_t MovementChain::product(ArrayRef<int> atoms) const {
  int64_t all = 1;
  for (int atom : atoms)
    all *= sizes[atom];
  return all;
}

//===----------------------------------------------------------------------===//
// Depth to space
//===----------------------------------------------------------------------===//

/// [N,H,W,(b,b,c) or (c,b,b)] to [N,(H,b),(W,b),c]; `reverse`: the other way.
std::optional<MovementStep> MovementChain::depthToSpace(const Dims &deep,
                                                        const Dims &wide,
                                                        bool reverse) const {
  if (deep.size() != 4 || wide.size() != 4 || deep[0] != wide[0] ||
      deep[1].size() != 1 || deep[2].size() != 1 || wide[1].size() != 2 ||
      wide[2].size() != 2 || wide[3].size() > 1)
    return std::nullopt;
  int h = deep[1][0], w = deep[2][0], by = wide[1][1], bx = wide[2][1];
  if (wide[1][0] != h || wide[2][0] != w || sizes[by] != sizes[bx])
    return std::nullopt;
  // The channels that stay: one atom, or none if it is one channel.
  SmallVector<int> dcrOrder{by, bx}, crdOrder(wide[3]);
  dcrOrder.append(wide[3].begin(), wide[3].end());
  crdOrder.append({by, bx});
  bool dcr = deep[3] == dcrOrder;
  bool crd = !dcr && deep[3] == crdOrder;
  if (!dcr && (!crd || reverse))
    return std::nullopt;
  return MovementStep{reverse ? MovementStep::kSpaceToDepth
                              : MovementStep::kDepthToSpace,
                      {},
                      sizes[by],
                      crd};
}

//===----------------------------------------------------------------------===//
// Canonical steps
//===----------------------------------------------------------------------===//

/// Works on copies of the chain's atoms.
struct Canonicaliser {
  const MovementChain &chain;
  MovementChain::Dims src, dst;
  SmallVector<int64_t> shape; ///< of the value so far
  SmallVector<MovementStep> steps;

  explicit Canonicaliser(const MovementChain &chain)
      : chain(chain), src(chain.src), dst(chain.dst), shape(chain.srcShape) {}

  static SmallVector<int> flat(const MovementChain::Dims &dims) {
    SmallVector<int> all;
    for (const auto &list : dims)
      all.append(list.begin(), list.end());
    return all;
  }

  void reshape(ArrayRef<int64_t> to) {
    if (ArrayRef(shape) == to)
      return;
    shape.assign(to.begin(), to.end());
    steps.push_back({MovementStep::kReshape, shape});
  }
  void transpose(ArrayRef<int64_t> perm) {
    SmallVector<int64_t> to;
    for (int64_t p : perm)
      to.push_back(shape[p]);
    shape = to;
    steps.push_back({MovementStep::kTranspose,
                     SmallVector<int64_t>(perm.begin(), perm.end())});
  }

  void run() {
    if (blocks())
      return;
    shuffle();
    if (flat(src) == flat(dst))
      return reshape(chain.dstShape);
    if (!transposeLast() && !transposeFirst())
      inRuns();
  }

  /// depth_to_space or space_to_depth, with the result as NHWC or NCHW.
  bool blocks() {
    for (bool channelsFirst : {false, true}) {
      if (channelsFirst && dst.size() != 4)
        return false;
      MovementChain::Dims to = dst;
      if (channelsFirst)
        to = {dst[0], dst[2], dst[3], dst[1]};
      auto step = chain.depthToSpace(src, to, false);
      if (!step)
        step = chain.depthToSpace(to, src, true);
      if (!step)
        continue;
      steps.push_back(*step);
      shape = chain.dstShape;
      if (channelsFirst) {
        shape = {shape[0], shape[2], shape[3], shape[1]};
        transpose({0, 3, 1, 2});
      }
      return true;
    }
    return false;
  }

  /// Atoms that change places within a dimension: a gather along it, if every
  /// dimension of the result is a whole dimension of the source.
  void shuffle() {
    SmallVector<std::pair<size_t, size_t>> pairs; // dst, src
    for (auto [d, list] : llvm::enumerate(dst)) {
      if (list.empty())
        continue;
      SmallVector<int> sorted(list);
      llvm::sort(sorted);
      bool found = false;
      for (auto [s, other] : llvm::enumerate(src)) {
        SmallVector<int> same(other);
        llvm::sort(same);
        if (same != sorted)
          continue;
        pairs.push_back({d, s});
        found = true;
      }
      if (!found)
        return;
    }
    for (auto [d, s] : pairs) {
      if (dst[d] == src[s])
        continue;
      steps.push_back({MovementStep::kGather, indices(src[s], dst[d]),
                       static_cast<int64_t>(s)});
      src[s] = dst[d];
    }
  }

  /// Where in atoms `from` the elements of atoms `to` are.
  SmallVector<int64_t> indices(ArrayRef<int> from, ArrayRef<int> to) const {
    SmallVector<int64_t> result;
    int64_t count = chain.product(from);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, index = 0;
      for (int atom : llvm::reverse(to)) {
        int64_t stride = 1;
        for (int other : llvm::reverse(from)) {
          if (other == atom)
            break;
          stride *= chain.sizes[other];
        }
        index += rest % chain.sizes[atom] * stride;
        rest /= chain.sizes[atom];
      }
      result.push_back(index);
    }
    return result;
  }

  /// Every list of `parts` is a run of `whole`: their order in it. Empty lists
  /// come first.
  static std::optional<SmallVector<int64_t>>
  orderOf(const MovementChain::Dims &parts, ArrayRef<int> whole) {
    SmallVector<std::pair<int64_t, int64_t>> at; // position, part
    for (auto [i, list] : llvm::enumerate(parts)) {
      if (list.empty()) {
        at.push_back({-1, i});
        continue;
      }
      const int *first = llvm::find(whole, list.front());
      auto position = first - whole.begin();
      if (whole.slice(position).take_front(list.size()) != ArrayRef(list))
        return std::nullopt;
      at.push_back({position, i});
    }
    llvm::sort(at);
    SmallVector<int64_t> order;
    for (auto &pair : at)
      order.push_back(pair.second);
    return order;
  }

  static SmallVector<int64_t> inverse(ArrayRef<int64_t> perm) {
    SmallVector<int64_t> out(perm.size());
    for (auto [i, p] : llvm::enumerate(perm))
      out[p] = i;
    return out;
  }

  /// The order with empty lists where the shape so far has its ones.
  void alignUnits(SmallVectorImpl<int64_t> &order) const {
    if (order.size() != shape.size())
      return;
    SmallVector<int64_t> units, others, aligned;
    for (int64_t i : order)
      (dst[i].empty() ? units : others).push_back(i);
    size_t u = 0, o = 0;
    for (int64_t size : shape) {
      if (size == 1 ? u == units.size() : o == others.size())
        return;
      aligned.push_back(size == 1 ? units[u++] : others[o++]);
    }
    order.assign(aligned.begin(), aligned.end());
  }

  bool transposeLast() {
    auto order = orderOf(dst, flat(src));
    if (!order)
      return false;
    alignUnits(*order);
    SmallVector<int64_t> before;
    for (int64_t i : *order)
      before.push_back(chain.dstShape[i]);
    reshape(before);
    transpose(inverse(*order));
    return true;
  }

  bool transposeFirst() {
    auto order = orderOf(src, flat(dst));
    if (!order)
      return false;
    transpose(*order);
    reshape(chain.dstShape);
    return true;
  }

  void inRuns() {
    SmallVector<int> from = flat(src), to = flat(dst);
    MovementChain::Dims runs; // in the order of the result
    for (auto [i, atom] : llvm::enumerate(to)) {
      const int *at = llvm::find(from, atom);
      if (i && at != from.begin() && *(at - 1) == to[i - 1])
        runs.back().push_back(atom);
      else
        runs.push_back({atom});
    }
    SmallVector<int64_t> order = *orderOf(runs, from), before;
    for (int64_t run : order)
      before.push_back(chain.product(runs[run]));
    reshape(before);
    transpose(inverse(order));
    reshape(chain.dstShape);
  }
};

SmallVector<MovementStep> MovementChain::canonical() const {
  Canonicaliser canonicaliser(*this);
  canonicaliser.run();
  return canonicaliser.steps;
}

bool MovementChain::is(ArrayRef<MovementStep> steps) const {
  if (steps.size() != ops.size())
    return false;
  for (auto [op, step] : llvm::zip(ops, steps)) {
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      if (step.kind != MovementStep::kReshape ||
          reshape.getShape() != ArrayRef(step.list))
        return false;
    } else if (step.kind != MovementStep::kTranspose ||
               cast<TransposeOp>(op).getPerm() != ArrayRef(step.list)) {
      return false;
    }
  }
  return true;
}

Value emitSteps(OpBuilder &b, Location loc, Value value,
                ArrayRef<MovementStep> steps) {
  for (const MovementStep &step : steps) {
    RankedTensorType type = tensorType(value);
    SmallVector<int64_t> shape(type.getShape());
    int64_t n = step.number;
    switch (step.kind) {
    case MovementStep::kReshape:
      value = reshapeTo(b, loc, value, step.list);
      break;
    case MovementStep::kTranspose:
      value = transposeBy(b, loc, value, step.list);
      break;
    case MovementStep::kGather:
      value = GatherOp::create(b, loc, type, value, step.list, n);
      break;
    case MovementStep::kDepthToSpace:
      value = DepthToSpaceOp::create(
          b, loc,
          RankedTensorType::get(
              {shape[0], shape[1] * n, shape[2] * n, shape[3] / (n * n)},
              type.getElementType()),
          value, n, step.crd ? DepthToSpaceMode::CRD : DepthToSpaceMode::DCR);
      break;
    case MovementStep::kSpaceToDepth:
      value = SpaceToDepthOp::create(
          b, loc,
          RankedTensorType::get(
              {shape[0], shape[1] / n, shape[2] / n, shape[3] * n * n},
              type.getElementType()),
          value, n);
      break;
    }
  }
  return value;
}

} // namespace npu
