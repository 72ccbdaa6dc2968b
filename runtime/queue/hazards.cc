//===- hazards.cc - Which commands must be ordered ------------------------===//

#include "runtime/queue/hazards.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace npu::rt {
namespace {

constexpr size_t kBlock = 32;
constexpr int kBoundTensors = 256;

bool disjoint(const Interval &a, const Interval &b) {
  return a.end <= b.begin || b.end <= a.begin;
}

} // namespace

HazardTracker::HazardTracker(int cores)
    : cores_(std::max(1, cores)), dense_(cores_ * kEnginesPerCore, -1),
      memories_(1 + cores_ + kBoundTensors) {}

int HazardTracker::memoryOf(const Operand &o, int core) const {
  switch (o.space) {
  case Space::kConst:
    return -1;
  case Space::kDram:
    return 0;
  case Space::kSram:
    return 1 + core;
  case Space::kIo:
    return 1 + cores_ + o.io;
  }
  return -1;
}

void HazardTracker::join(const uint32_t *clock, size_t size) {
  if (now_.size() < size)
    now_.resize(size, 0);
  for (size_t i = 0; i < size; ++i)
    now_[i] = std::max(now_[i], clock[i]);
}

void HazardTracker::begin(const Command &command) {
  command_ = &command;
  int queue = queueIndex(command.core, command.engine);
  if (dense_[queue] < 0) {
    dense_[queue] = static_cast<int>(used_.size());
    used_.push_back(queue);
    entries_.emplace_back();
  }
  queue_ = dense_[queue];
  now_ = floor_;
  now_.resize(used_.size(), 0);
  const auto &mine = entries_[queue_];
  if (!mine.empty())
    join(&clocks_[mine.back().clock], mine.back().width);
  now_[queue_] = static_cast<uint32_t>(mine.size());
}

bool HazardTracker::wait(const Wait &wait) {
  if (wait.queue >= dense_.size())
    return false;
  if (wait.count == 0)
    return true;
  int queue = dense_[wait.queue];
  if (queue < 0 || wait.count > entries_[queue].size())
    return false;
  const Entry &entry = entries_[queue][wait.count - 1];
  join(&clocks_[entry.clock], entry.width);
  now_[queue] = std::max(now_[queue], wait.count);
  return true;
}

bool HazardTracker::completes(int queue, uint32_t count) const {
  int dense = dense_[queue];
  return count == 0 || (dense >= 0 && dense < static_cast<int>(now_.size()) &&
                        now_[dense] >= count);
}

bool HazardTracker::implies(const Wait &after, const Wait &before) const {
  if (after.queue == before.queue)
    return after.count >= before.count;
  const Entry &entry = entries_[dense_[after.queue]][after.count - 1];
  auto dense = static_cast<uint32_t>(dense_[before.queue]);
  return dense < entry.width && clocks_[entry.clock + dense] >= before.count;
}

/// Index in `history` of the last access from position `from` on that
/// conflicts with `operand`, or -1.
int64_t HazardTracker::latestIn(const History &history, const Operand &operand,
                                bool write, uint32_t from) const {
  Interval bytes = boundsOf(operand);
  auto skip = [&](const Interval &other, bool otherWrite) {
    return (!write && !otherWrite) || disjoint(bytes, other);
  };
  auto i = static_cast<int64_t>(history.accesses.size()) - 1;
  while (i >= 0 && history.accesses[i].position >= from) {
    const Block &block = history.blocks[i / kBlock];
    if (skip(block.bytes, block.write)) {
      i = i / static_cast<int64_t>(kBlock) * static_cast<int64_t>(kBlock) - 1;
      continue;
    }
    const Access &access = history.accesses[i];
    if (!skip(access.bytes, access.write) &&
        overlaps(operand, history.operands[i]))
      return i;
    --i;
  }
  return -1;
}

std::optional<HazardTracker::Conflict>
HazardTracker::latestConflict(int queue) const {
  int dense = dense_[queue];
  if (dense < 0 || dense == queue_)
    return std::nullopt;
  uint32_t from = now_[dense];
  std::optional<Conflict> latest;
  for (int slot = 0; slot < kMaxOperands; ++slot) {
    const Operand &operand = command_->operands[slot];
    int memory = operand.rank ? memoryOf(operand, command_->core) : -1;
    if (memory < 0 || memories_[memory].size() <= static_cast<size_t>(dense))
      continue;
    const History &history = memories_[memory][dense];
    int64_t at = latestIn(history, operand, slot == 0, from);
    if (at < 0)
      continue;
    const Access &access = history.accesses[at];
    if (latest && latest->position >= access.position)
      continue;
    Interval mine = boundsOf(operand);
    latest =
        Conflict{queue,
                 access.position,
                 entries_[dense][access.position].command,
                 operand.space,
                 operand.space == Space::kSram ? command_->core : operand.io,
                 {std::max(mine.begin, access.bytes.begin),
                  std::min(mine.end, access.bytes.end)}};
    from = access.position + 1;
  }
  return latest;
}

void HazardTracker::record(History &history, const Operand &operand, bool write,
                           uint32_t position) {
  Interval bytes = boundsOf(operand);
  if (history.accesses.size() % kBlock == 0)
    history.blocks.push_back({bytes, false});
  Block &block = history.blocks.back();
  block.bytes = {std::min(block.bytes.begin, bytes.begin),
                 std::max(block.bytes.end, bytes.end)};
  block.write |= write;
  history.accesses.push_back({bytes, position, write});
  history.operands.push_back(operand);
}

void HazardTracker::end() {
  auto position = static_cast<uint32_t>(entries_[queue_].size());
  for (int slot = 0; slot < kMaxOperands; ++slot) {
    const Operand &operand = command_->operands[slot];
    int memory = operand.rank ? memoryOf(operand, command_->core) : -1;
    if (memory < 0)
      continue;
    auto &byQueue = memories_[memory];
    if (byQueue.size() <= static_cast<size_t>(queue_))
      byQueue.resize(queue_ + 1);
    record(byQueue[queue_], operand, slot == 0, position);
  }
  entries_[queue_].push_back(
      {clocks_.size(), static_cast<uint32_t>(now_.size()), count_++});
  clocks_.insert(clocks_.end(), now_.begin(), now_.end());
}

void HazardTracker::barrier() {
  floor_.resize(used_.size());
  for (size_t i = 0; i < used_.size(); ++i)
    floor_[i] = static_cast<uint32_t>(entries_[i].size());
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

static std::string describe(const HazardTracker::Conflict &c, int64_t second) {
  std::string memory = "dram";
  if (c.space == Space::kSram)
    memory = absl::StrCat("sram of core ", c.unit);
  else if (c.space == Space::kIo)
    memory = absl::StrCat("bound tensor ", c.unit);
  return absl::StrCat("command ", second, " may run together with command ",
                      c.command, " of queue ", c.queue, ": both touch bytes ",
                      c.bytes.begin, " to ", c.bytes.end, " of ", memory,
                      ", and one of them writes; it has to wait for ",
                      c.position + 1, " command(s) of that queue");
}

std::optional<ScheduleError>
findScheduleError(const Command *commands, int64_t count, int cores,
                  const std::vector<int64_t> &barriers) {
  HazardTracker tracker(cores);
  auto barrier = barriers.begin();
  for (int64_t i = 0; i < count; ++i) {
    const Command &command = commands[i];
    for (; barrier != barriers.end() && *barrier <= i; ++barrier)
      tracker.barrier();
    if (command.core >= cores ||
        static_cast<int>(command.engine) >= kEnginesPerCore ||
        command.num_waits > kMaxWaits)
      return ScheduleError{
          -1, i,
          absl::StrCat("command ", i, " names core ", command.core, ", engine ",
                       static_cast<int>(command.engine), " and ",
                       command.num_waits, " waits; the program has ", cores,
                       " core(s)")};
    tracker.begin(command);
    for (int w = 0; w < command.num_waits; ++w)
      if (!tracker.wait(command.waits[w]))
        return ScheduleError{
            -1, i,
            absl::StrCat("command ", i, " waits for ", command.waits[w].count,
                         " command(s) of queue ", command.waits[w].queue,
                         ", which has fewer of them before it: it would never "
                         "start")};
    for (int queue : tracker.usedQueues())
      if (auto c = tracker.latestConflict(queue))
        return ScheduleError{c->command, i, describe(*c, i)};
    tracker.end();
  }
  return std::nullopt;
}

absl::Status checkSchedule(const Command *commands, int64_t count, int cores,
                           const std::vector<int64_t> &barriers) {
  if (auto error = findScheduleError(commands, count, cores, barriers))
    return absl::InvalidArgumentError(error->message);
  return absl::OkStatus();
}

} // namespace npu::rt
