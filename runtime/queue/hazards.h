//===- hazards.h - Which commands must be ordered ---------------*- C++ -*-===//
//
// The happens-before analysis of a program, on encoded commands. The compiler
// derives waits with it, and the compiler's verifier and the blob's loader use
// it to prove that there is no race: one definition of "conflict" for all.
//
// Commands of a queue run one after the other. Every wait must be satisfied by
// commands that come earlier in program order; so program order is a valid
// order of execution and no set of queues can block each other. Vector clocks,
// one counter per queue, tell what is complete when a command starts.
//
// Operands must lie within their spaces (validateCommand() checks that).
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_QUEUE_HAZARDS_H
#define RUNTIME_QUEUE_HAZARDS_H

#include "absl/status/status.h"
#include "runtime/queue/command.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npu::rt {

/// Bytes [begin, end) of a space.
struct Interval {
  int64_t begin = 0, end = 0;
};

/// The smallest interval that holds all bytes of a view.
Interval boundsOf(const Operand &operand);

/// True if two views of the same memory may have a byte in common. Exact for
/// boxes of one layout (tiles of a tensor, slices of its channels) and for
/// contiguous views; conservative where deciding would take long.
bool overlaps(const Operand &a, const Operand &b);

/// True if the commands touch common bytes and one of them writes there.
/// Constants are read-only; the SRAMs of different cores, and different bound
/// tensors, do not alias.
bool conflict(const Command &a, const Command &b);

/// Follows a program, command by command in program order. For each command:
/// begin(), wait() for its waits, latestConflict() as often as needed, end().
class HazardTracker {
public:
  explicit HazardTracker(int cores);

  struct Conflict {
    int queue = 0;
    uint32_t position = 0; ///< in that queue
    int64_t command = 0;   ///< index in program order
    Space space = Space::kDram;
    int unit = 0; ///< core or bound tensor, for kSram and kIo
    Interval bytes;
  };

  /// Starts the next command. Its core must be below the number of cores.
  void begin(const Command &command);
  /// Adds what is complete after `wait`. False if commands before this one do
  /// not satisfy it: no such queue, or not so many commands.
  bool wait(const Wait &wait);
  /// The last command of `queue` that conflicts with this one and is not known
  /// to be complete when this one starts.
  std::optional<Conflict> latestConflict(int queue) const;
  /// True if this command starts after the first `count` commands of `queue`.
  bool completes(int queue, uint32_t count) const;
  /// True if waiting for `after` includes waiting for `before`.
  bool implies(const Wait &after, const Wait &before) const;
  /// Ends the command.
  void end();
  /// All commands so far are complete before the next one starts.
  void barrier();

  int queues() const { return static_cast<int>(dense_.size()); }
  /// Queues that have had commands so far.
  const std::vector<int> &usedQueues() const { return used_; }

private:
  /// What one queue did in one memory, oldest first. Blocks of accesses have
  /// common bounds, so that a long history is skipped quickly.
  struct Access {
    Interval bytes;
    uint32_t position;
    bool write;
  };
  struct Block {
    Interval bytes;
    bool write;
  };
  struct History {
    std::vector<Access> accesses;
    std::vector<Operand> operands;
    std::vector<Block> blocks;
  };
  using Clock = std::vector<uint32_t>; ///< by dense queue number

  int memoryOf(const Operand &operand, int core) const;
  void join(const uint32_t *clock, size_t size);
  int64_t latestIn(const History &history, const Operand &operand, bool write,
                   uint32_t from) const;
  static void record(History &history, const Operand &operand, bool write,
                     uint32_t position);

  int cores_;
  std::vector<int> dense_; ///< dense number of a queue, or -1
  std::vector<int> used_;  ///< queue of a dense number
  /// By dense queue and position: clock at the start, index of the command.
  struct Entry {
    size_t clock;
    uint32_t width;
    int64_t command;
  };
  std::vector<std::vector<Entry>> entries_;
  std::vector<uint32_t> clocks_;
  std::vector<std::vector<History>> memories_; ///< by memory, dense queue
  Clock floor_;                                ///< of the last barrier
  Clock now_;
  const Command *command_ = nullptr;
  int queue_ = 0; ///< dense
  int64_t count_ = 0;
};

/// What is wrong with a schedule: at command `second`, with `first` (or -1).
struct ScheduleError {
  int64_t first = -1, second = -1;
  std::string message;
};

/// The first fault of a schedule: a wait that earlier commands do not satisfy,
/// or two commands of different queues that conflict and are not ordered.
/// `barriers` are the indices, ascending, of commands that start only when all
/// before them are complete (those after a host segment).
std::optional<ScheduleError>
findScheduleError(const Command *commands, int64_t count, int cores,
                  const std::vector<int64_t> &barriers = {});

/// The same as InvalidArgument.
absl::Status checkSchedule(const Command *commands, int64_t count, int cores,
                           const std::vector<int64_t> &barriers = {});

} // namespace npu::rt

#endif // RUNTIME_QUEUE_HAZARDS_H
