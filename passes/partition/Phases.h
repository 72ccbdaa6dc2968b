//===- Phases.h - Turns of two processors -----------------------*- C++ -*-===//
#ifndef PASSES_PARTITION_PHASES_H
#define PASSES_PARTITION_PHASES_H

#include <vector>

namespace npu {

enum class Place { kNpu, kHost, kEither };

struct PlacedNode {
  Place place;
  std::vector<int> operands; ///< nodes before this one in the list
};

/// Turns that alternate between the two, each node in one.
struct Phases {
  std::vector<Place> places; ///< of each phase: kNpu or kHost
  std::vector<int> phase;    ///< of each node
  int npuPhases = 0;
};

/// As few NPU phases as the dependences allow, and among these solutions as
/// few phases. Doing all that is ready before the turn changes is optimal.
/// kEither goes to the NPU unless it is needed on the host for that.
Phases assignPhases(std::vector<PlacedNode> nodes);

} // namespace npu

#endif // PASSES_PARTITION_PHASES_H
