//===- TransposeConv.cc - transpose_conv2d by phases ----------------------===//
//
// Output o of a transposed convolution sums in[i] * w[k] over o = stride * i +
// dilation * k - pad. The outputs o = stride * j + r of one phase r see the
// same taps k, at i = j + (r + pad - dilation * k) / stride: an ordinary
// convolution with some of the taps, flipped. The phases are interleaved
// afterwards. No product is a product with an inserted zero, and the sums are
// the same sums.
//
//===----------------------------------------------------------------------===//

#include "passes/legalization/GroupedConv.h"
#include "passes/legalization/LegalizePatterns.h"
#include "passes/legalization/Views.h"

using namespace mlir;

namespace npu {
namespace {

struct Axis {
  int64_t in, out, kernel, stride, dilation, pad;
  /// Outputs of every phase; the last ones may lie outside.
  int64_t perPhase() const { return (out + stride - 1) / stride; }
};

struct Phase {
  SmallVector<int64_t> taps; ///< filter indices; -1 is a tap of zeros
  int64_t first = 0;         ///< input index of the first tap at output 0
  int64_t step = 1;          ///< dilation

  int64_t extent() const {
    return step * (static_cast<int64_t>(taps.size()) - 1) + 1;
  }
};

Phase phaseOf(const Axis &axis, int64_t r) {
  Phase phase;
  for (int64_t k = axis.kernel - 1, last = 0; k >= 0; --k) {
    int64_t offset = r + axis.pad - axis.dilation * k;
    if (offset % axis.stride)
      continue;
    int64_t at = offset / axis.stride;
    if (phase.taps.empty())
      phase.first = at;
    else
      phase.step = at - last;
    last = at;
    phase.taps.push_back(k);
  }
  int64_t end = phase.first + axis.perPhase() - 1 + phase.extent();
  if (phase.taps.empty() || phase.first >= axis.in || end <= 0)
    return {{-1}, 0, 1}; // nothing but the bias
  return phase;
}

/// The input of a convolution with `extent` taps that starts at `first` and
/// has `count` outputs, and its pads.
struct Window {
  int64_t start, size;     ///< of the input
  int64_t padLow, padHigh; ///< by npu.pad
  int64_t low, high;       ///< the convolution's own, less than its extent
};

Window windowOf(const Axis &axis, const Phase &phase) {
  int64_t last = phase.first + axis.perPhase() - 1 + phase.extent() - 1;
  Window w;
  w.start = std::max<int64_t>(phase.first, 0);
  w.size = std::min(last, axis.in - 1) - w.start + 1;
  w.low = std::max<int64_t>(-phase.first, 0);
  w.high = std::max<int64_t>(last - (axis.in - 1), 0);
  w.padLow = std::max<int64_t>(w.low - (phase.extent() - 1), 0);
  w.padHigh = std::max<int64_t>(w.high - (phase.extent() - 1), 0);
  w.low -= w.padLow;
  w.high -= w.padHigh;
  return w;
}

class Decomposition {
public:
  Decomposition(TransposeConv2DOp op, OpBuilder &b)
      : op(op), b(b), loc(op.getLoc()), in(tensorType(op.getInput())),
        out(op.getOutput().getType()), filter(tensorType(op.getFilter())) {
    for (int i : {0, 1})
      axes[i] = {in.getDimSize(1 + i),     out.getDimSize(1 + i),
                 filter.getDimSize(1 + i), op.getStrides()[i],
                 op.getDilations()[i],     op.getPads()[i]};
    conv.filter = op.getFilter();
    conv.groups = static_cast<int64_t>(op.getGroups());
    conv.icg = filter.getDimSize(3);
    conv.ocg = filter.getDimSize(0) / conv.groups;
    conv.kernelH = filter.getDimSize(1);
    conv.kernelW = filter.getDimSize(2);
    data = FilterData::of(conv);
  }

  /// A filter that is no constant can be sliced, but has no zeros to offer.
  bool possible() const {
    if (data)
      return true;
    for (const Axis &axis : axes)
      for (int64_t r = 0; r < axis.stride; ++r)
        if (phaseOf(axis, r).taps.front() < 0)
          return false;
    return true;
  }

  Value run() {
    SmallVector<Value> rows;
    int64_t n = axes[0].perPhase(), m = axes[1].perPhase(),
            channels = out.getDimSize(3);
    residual = paddedResidual();
    for (int64_t y = 0; y < axes[0].stride; ++y) {
      SmallVector<Value> columns;
      for (int64_t x = 0; x < axes[1].stride; ++x) {
        Value piece = phase(y, x);
        if (single())
          return piece;
        columns.push_back(reshapeTo(b, loc, piece,
                                    {out.getDimSize(0), n, 1, m, 1, channels}));
      }
      rows.push_back(concatOf(b, loc, columns, 4));
    }
    Value all = concatOf(b, loc, rows, 2);
    all = reshapeTo(
        b, loc, all,
        {out.getDimSize(0), n * axes[0].stride, m * axes[1].stride, channels});
    return sliceOf(b, loc, all, {0, 0, 0, 0}, out.getShape());
  }

private:
  bool single() const { return axes[0].stride * axes[1].stride == 1; }

  Value paddedResidual() {
    if (!op.getResidual())
      return {};
    SmallVector<int64_t> zeros(4, 0), high(4, 0);
    for (int i : {0, 1})
      high[1 + i] = axes[i].perPhase() * axes[i].stride - axes[i].out;
    return padBy(b, loc, op.getResidual(), zeros, high);
  }

  Value phaseFilter(const Phase &y, const Phase &x) {
    int64_t kh = y.taps.size(), kw = x.taps.size();
    int64_t oc = filter.getDimSize(0), ic = filter.getDimSize(3);
    if (!data) {
      auto step = [](const Phase &p) {
        return p.taps.size() > 1 ? p.taps[1] - p.taps[0] : 1;
      };
      return sliceOf(b, loc, op.getFilter(),
                     {0, y.taps.front(), x.taps.front(), 0}, {oc, kh, kw, ic},
                     {1, step(y), step(x), 1});
    }
    SmallVector<int64_t> indices;
    for (int64_t o = 0; o < oc; ++o)
      for (int64_t ky : y.taps)
        for (int64_t kx : x.taps)
          for (int64_t i = 0; i < ic; ++i)
            indices.push_back(
                ky < 0 || kx < 0
                    ? -1
                    : ((o * conv.kernelH + ky) * conv.kernelW + kx) * ic + i);
    return makeFilter(b, op.getFilter().getLoc(),
                      filterType(conv, {oc, kh, kw, ic}, 0, 0, oc), *data,
                      indices);
  }

  Value phase(int64_t ry, int64_t rx) {
    Phase y = phaseOf(axes[0], ry), x = phaseOf(axes[1], rx);
    Window wy = windowOf(axes[0], y), wx = windowOf(axes[1], x);
    Value input =
        sliceOf(b, loc, op.getInput(), {0, wy.start, wx.start, 0},
                {in.getDimSize(0), wy.size, wx.size, in.getDimSize(3)});
    input = padBy(b, loc, input, {0, wy.padLow, wx.padLow, 0},
                  {0, wy.padHigh, wx.padHigh, 0});
    SmallVector<int64_t> shape{out.getDimSize(0), axes[0].perPhase(),
                               axes[1].perPhase(), out.getDimSize(3)};
    Value own = residual;
    if (own && !single())
      own = sliceOf(b, loc, own, {0, ry, rx, 0}, shape,
                    {1, axes[0].stride, axes[1].stride, 1});
    return Conv2DOp::create(
        b, loc, RankedTensorType::get(shape, out.getElementType()), input,
        phaseFilter(y, x), op.getBias(), own, op.getActivationAttr(),
        op.getPreActivationTypeAttr(), op.getResidualTypeAttr(),
        op.getResidualActivationAttr(), ArrayRef<int64_t>{1, 1},
        ArrayRef<int64_t>{wy.low, wx.low, wy.high, wx.high},
        ArrayRef<int64_t>{y.step, x.step}, op.getGroups());
  }

  TransposeConv2DOp op;
  OpBuilder &b;
  Location loc;
  RankedTensorType in, out, filter;
  Axis axes[2];
  GroupedConv conv;
  std::optional<FilterData> data;
  Value residual;
};

struct TransposeConvToPhases : OpRewritePattern<TransposeConv2DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeConv2DOp op,
                                PatternRewriter &b) const override {
    Decomposition decomposition(op, b);
    if (!decomposition.possible())
      return failure();
    Value value = decomposition.run();
    if (Attribute name = op->getAttr("npu.tensor"))
      value.getDefiningOp()->setAttr("npu.tensor", name);
    b.replaceOp(op, value);
    return success();
  }
};

} // namespace

void addTransposeConvPatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeConvToPhases>(patterns.getContext());
}

} // namespace npu
