//===- recurrent.h - What RNN, LSTM and GRU have in common ------*- C++ -*-===//
#ifndef LOWERING_ONNX_TO_NPU_RECURRENT_H
#define LOWERING_ONNX_TO_NPU_RECURRENT_H

#include "lowering/onnx_to_npu/compose.h"

namespace npu {

/// A function of a cell's gate.
using Activation = std::function<Entry(Compose &, const Entry &)>;

/// One direction of a recurrent node, its tensors cut out of the node's.
struct Direction {
  int64_t hidden = 0;
  Entry projected;      ///< [T,B,gates*H]: X * W^T + Wb
  Entry recurrence;     ///< R [gates*H,H]
  Entry recurrenceBias; ///< Rb [gates*H]
  Entry peepholes;      ///< [gates-1,H], LSTM's i, o, f; may be absent
  std::vector<Activation> activations;
  float clip = 0; ///< of the activations' arguments; 0: none
};

/// States of a cell: [B,H] each.
struct State {
  Entry hidden, cell;
};

/// One time step: `input` is [B,gates*H].
using Cell = std::function<State(Compose &, const Direction &,
                                 const Entry &input, const State &before)>;

struct CellKind {
  int gates;
  bool hasCellState;
  std::vector<const char *> activations; ///< by default
  Cell step;
};

/// The activations of direction `d`, `count` of them.
absl::StatusOr<std::vector<Activation>>
readActivations(const Node &node, int64_t d,
                const std::vector<const char *> &defaults);

/// Gate `n` of `gates` side by side in [B,gates*H] or [gates*H].
Entry gate(Compose &c, const Entry &gates, int64_t n, int64_t hidden);
/// The argument of an activation, clipped as the node says.
Entry clipped(Compose &c, const Direction &d, const Entry &e);

/// Unrolls the node over its sequence.
absl::Status recurrent(Importer &im, const Node &node, const CellKind &kind);

} // namespace npu

#endif // LOWERING_ONNX_TO_NPU_RECURRENT_H
