//===- Waits.cc - The waits that a program needs --------------------------===//

#include "passes/scheduling/Waits.h"

#include "runtime/queue/hazards.h"

#include <algorithm>

using namespace npu::rt;

namespace npu {
namespace {

/// What the current command has to wait for: for each queue the last command
/// that it conflicts with, less what the others include.
std::vector<Wait> neededWaits(const HazardTracker &tracker) {
  std::vector<Wait> all, needed;
  for (int queue : tracker.usedQueues())
    if (auto conflict = tracker.latestConflict(queue))
      all.push_back({static_cast<uint16_t>(queue), 0, conflict->position + 1});
  for (const Wait &wait : all)
    if (std::none_of(all.begin(), all.end(), [&](const Wait &other) {
          return other.queue != wait.queue && tracker.implies(other, wait);
        }))
      needed.push_back(wait);
  std::sort(needed.begin(), needed.end(),
            [](const Wait &a, const Wait &b) { return a.queue < b.queue; });
  return needed;
}

/// A nop on the queue of `command`.
Command nopFor(const Command &command) {
  Command nop{};
  nop.opcode = Opcode::kNop;
  nop.engine = command.engine;
  nop.core = command.core;
  return nop;
}

} // namespace

WaitList deriveWaits(const Command *commands, int64_t count, int cores,
                     const std::vector<int64_t> &barriers) {
  HazardTracker tracker(cores);
  WaitList list(count);
  auto barrier = barriers.begin();
  for (int64_t i = 0; i < count; ++i) {
    for (; barrier != barriers.end() && *barrier <= i; ++barrier)
      tracker.barrier();
    tracker.begin(commands[i]);
    list[i] = neededWaits(tracker);
    // Replays the nops that the waits make necessary.
    size_t next = 0;
    for (; list[i].size() - next > kMaxWaits; next += kMaxWaits) {
      Command nop = nopFor(commands[i]);
      tracker.begin(nop);
      for (int w = 0; w < kMaxWaits; ++w)
        (void)tracker.wait(list[i][next + w]);
      tracker.end();
    }
    if (next)
      tracker.begin(commands[i]);
    for (; next < list[i].size(); ++next)
      (void)tracker.wait(list[i][next]);
    tracker.end();
  }
  return list;
}

} // namespace npu
