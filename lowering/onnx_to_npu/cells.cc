// The cells of RNN, LSTM and GRU, after the equations in ONNX's operator pages.
#include "lowering/onnx_to_npu/recurrent.h"

using namespace mlir;

namespace npu {

namespace {

State rnnStep(Compose &c, const Direction &d, const Entry &input,
              const State &before) {
  Entry sum =
      c.add(input, c.linear(before.hidden, d.recurrence, d.recurrenceBias));
  return {d.activations[0](c, clipped(c, d, sum)), {}};
}

// Gates i, o, f, c.
State lstmStep(Compose &c, const Direction &d, const Entry &input,
               const State &before, bool coupled) {
  Entry sum =
      c.add(input, c.linear(before.hidden, d.recurrence, d.recurrenceBias));
  auto argument = [&](int64_t n, int64_t peephole, const Entry &cell) {
    Entry e = gate(c, sum, n, d.hidden);
    if (peephole >= 0 && d.peepholes)
      e = c.add(e, c.mul(gate(c, d.peepholes, peephole, d.hidden), cell));
    return clipped(c, d, e);
  };
  Entry i = d.activations[0](c, argument(0, 0, before.cell));
  Entry f = coupled ? c.sub(Compose::scalar(1), i)
                    : d.activations[0](c, argument(2, 2, before.cell));
  Entry g = d.activations[1](c, argument(3, -1, {}));
  Entry cell = c.add(c.mul(f, before.cell), c.mul(i, g));
  Entry o = d.activations[0](c, argument(1, 1, cell));
  return {c.mul(o, d.activations[2](c, cell)), cell};
}

// Gates z, r, h. `linear`: the reset gate is applied behind the product.
State gruStep(Compose &c, const Direction &d, const Entry &input,
              const State &before, bool linear) {
  int64_t h = d.hidden;
  auto rows = [&](const Entry &e, int64_t from, int64_t count) {
    return e ? c.slice(e, 0, from * h, count * h) : e;
  };
  Entry product = c.linear(before.hidden, rows(d.recurrence, 0, linear ? 3 : 2),
                           rows(d.recurrenceBias, 0, linear ? 3 : 2));
  auto sigma = [&](int64_t n) {
    return d.activations[0](
        c, clipped(c, d, c.add(gate(c, input, n, h), gate(c, product, n, h))));
  };
  Entry z = sigma(0), r = sigma(1);
  Entry recurrent =
      linear ? c.mul(r, gate(c, product, 2, h))
             : c.linear(c.mul(r, before.hidden), rows(d.recurrence, 2, 1),
                        rows(d.recurrenceBias, 2, 1));
  Entry candidate = d.activations[1](
      c, clipped(c, d, c.add(gate(c, input, 2, h), recurrent)));
  // (1 - z) * candidate + z * before
  Entry change = c.mul(z, c.sub(before.hidden, candidate));
  return {c.add(candidate, change), {}};
}

absl::Status rnn(Importer &im, const Node &node) {
  return recurrent(im, node, {1, false, {"Tanh"}, rnnStep});
}

absl::Status lstm(Importer &im, const Node &node) {
  bool coupled = node.i("input_forget", 0);
  return recurrent(im, node,
                   {4,
                    true,
                    {"Sigmoid", "Tanh", "Tanh"},
                    [coupled](Compose &c, const Direction &d, const Entry &x,
                              const State &before) {
                      return lstmStep(c, d, x, before, coupled);
                    }});
}

absl::Status gru(Importer &im, const Node &node) {
  bool linear = node.i("linear_before_reset", 0);
  return recurrent(im, node,
                   {3,
                    false,
                    {"Sigmoid", "Tanh"},
                    [linear](Compose &c, const Direction &d, const Entry &x,
                             const State &before) {
                      return gruStep(c, d, x, before, linear);
                    }});
}

} // namespace

void registerRecurrentOps(Registry &r) {
  auto matrix = [](Handler handler) {
    return OpImport(handler)
        .on(Engine::Matrix)
        .inputs(3)
        .of(kFloat)
        .ranks(3, 3);
  };
  r["RNN"] = matrix(rnn);
  r["LSTM"] = matrix(lstm);
  r["GRU"] = matrix(gru);
}

} // namespace npu
