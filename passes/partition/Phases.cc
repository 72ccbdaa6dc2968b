#include "passes/partition/Phases.h"

#include <algorithm>

namespace npu {
namespace {

/// More free nodes than this are not tried one by one.
constexpr int kMostTrials = 2000;

/// Operands come first in the list, so one pass finds the earliest phase of
/// every node: that of its latest operand, or the next one of its own kind.
Phases greedy(const std::vector<PlacedNode> &nodes, Place first) {
  Phases result;
  result.phase.resize(nodes.size());
  auto placeOf = [&](int phase) {
    return (phase % 2 == 0) == (first == Place::kNpu) ? Place::kNpu
                                                      : Place::kHost;
  };
  std::vector<bool> used;
  for (size_t i = 0; i < nodes.size(); ++i) {
    int phase = 0;
    for (int operand : nodes[i].operands)
      phase = std::max(phase, result.phase[operand]);
    if (nodes[i].place != Place::kEither && placeOf(phase) != nodes[i].place)
      ++phase;
    result.phase[i] = phase;
    if (used.size() <= size_t(phase))
      used.resize(phase + 1);
    used[phase] = true;
  }
  // A first phase that nobody needs does not count.
  std::vector<int> number(used.size());
  for (size_t phase = 0; phase < used.size(); ++phase) {
    if (!used[phase])
      continue;
    number[phase] = int(result.places.size());
    result.places.push_back(placeOf(int(phase)));
    result.npuPhases += result.places.back() == Place::kNpu;
  }
  for (int &phase : result.phase)
    phase = number[phase];
  return result;
}

bool better(const Phases &a, const Phases &b) {
  if (a.npuPhases != b.npuPhases)
    return a.npuPhases < b.npuPhases;
  return a.places.size() < b.places.size();
}

Phases best(const std::vector<PlacedNode> &nodes) {
  Phases npu = greedy(nodes, Place::kNpu), host = greedy(nodes, Place::kHost);
  return better(host, npu) ? host : npu;
}

} // namespace

Phases assignPhases(std::vector<PlacedNode> nodes) {
  Phases result = best(nodes);
  std::vector<int> moved;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].place != Place::kEither)
      continue;
    if (result.places[result.phase[i]] == Place::kNpu)
      nodes[i].place = Place::kNpu;
    else
      moved.push_back(int(i));
  }
  // What made no difference stays on the NPU.
  for (int i : moved) {
    nodes[i].place = Place::kNpu;
    if (moved.size() > kMostTrials)
      continue;
    Phases other = best(nodes);
    if (better(result, other))
      nodes[i].place = Place::kHost;
    else
      result = std::move(other);
  }
  return best(nodes);
}

} // namespace npu
