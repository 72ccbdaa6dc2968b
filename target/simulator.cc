//===- simulator.cc - When each command of a program runs -----------------===//

#include "target/simulator.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>

using namespace npu::rt;

namespace npu::target {
namespace {

/// What commands compete for: the DRAM, the memory of the weights where that is
/// another one, and the SRAM port of each core.
struct Demand {
  int resource;
  double bytesPerCycle; ///< when the command runs alone
};
constexpr int kDramPort = 0, kConstPort = 1, kSramPorts = 2;

struct Running {
  int64_t command = -1; ///< -1: the queue is idle
  double latency = 0;   ///< cycles left that need no memory
  double work = 0;      ///< cycles left when alone
  double speed = 1;
  std::vector<Demand> demands;
};

class Simulation {
public:
  Simulation(const Target &target, const Command *commands, int64_t count,
             int cores, const std::vector<int64_t> &barriers)
      : target(target), commands(commands), count(count),
        queues(std::max(0, cores) * kEnginesPerCore), barriers(barriers) {}

  absl::StatusOr<Timeline> run();

private:
  absl::Status sortByQueue();
  bool ready(const Command &command) const;
  bool startReady();
  void start(int queue, int64_t index);
  void setSpeeds();
  double untilNextEvent() const;
  void advance(double cycles);

  struct Queue {
    std::vector<int64_t> commands;
    size_t next = 0; ///< first one that has not started
    uint32_t done = 0;
    Running running;
  };

  const Target &target;
  const Command *commands;
  int64_t count;
  std::vector<Queue> queues;
  const std::vector<int64_t> &barriers;
  std::vector<double> capacity, load;
  double now = 0;
  int64_t completed = 0;
  int64_t limit = 0; ///< commands from here on are behind a barrier
  size_t nextBarrier = 0;
  Timeline timeline;
};

absl::Status Simulation::sortByQueue() {
  for (int64_t i = 0; i < count; ++i) {
    auto queue =
        static_cast<size_t>(queueIndex(commands[i].core, commands[i].engine));
    if (queue >= queues.size())
      return absl::InvalidArgumentError(absl::StrCat(
          "command ", i, " is on core ", commands[i].core,
          " of a program with ", queues.size() / kEnginesPerCore, " core(s)"));
    queues[queue].commands.push_back(i);
  }
  const Memory &m = target.memory;
  capacity.assign(kSramPorts + queues.size() / kEnginesPerCore,
                  m.sram_bytes_per_cycle);
  capacity[kDramPort] = m.dram_bytes_per_cycle;
  capacity[kConstPort] = m.const_bytes_per_cycle;
  load.resize(capacity.size());
  return absl::OkStatus();
}

bool Simulation::ready(const Command &command) const {
  for (int w = 0; w < std::min<int>(command.num_waits, kMaxWaits); ++w) {
    const Wait &wait = command.waits[w];
    if (wait.queue >= queues.size() || queues[wait.queue].done < wait.count)
      return false;
  }
  return true;
}

void Simulation::start(int queue, int64_t index) {
  const Command &command = commands[index];
  Cost c = cost(target, workloadOf(command));
  if (!c.supported)
    timeline.unsupported.push_back(index);
  Running &r = queues[queue].running;
  r.command = index;
  r.latency = c.overhead;
  r.work = c.supported ? std::max(c.compute, c.memory) : 0;
  r.demands.clear();
  double outside = static_cast<double>(c.traffic[Space::kDram]) +
                   static_cast<double>(c.traffic[Space::kIo]);
  double weights = static_cast<double>(c.traffic[Space::kConst]);
  auto demand = [&](int resource, double bytes) {
    if (bytes > 0 && r.work > 0 && capacity[resource] > 0)
      r.demands.push_back({resource, bytes / r.work});
  };
  demand(kDramPort, outside + (target.memory.const_in_dram ? weights : 0));
  demand(kConstPort, weights);
  demand(kSramPorts + command.core,
         static_cast<double>(c.traffic[Space::kSram]));
  timeline.commands[index].start = now;
  timeline.macs += c.macs;
  double peak = target.peakMacs(command.operands[1].dtype);
  if (c.macs > 0 && peak > 0)
    timeline.ideal_cycles += static_cast<double>(c.macs) / peak;
}

/// Starts what can start now. True if something did.
bool Simulation::startReady() {
  while (nextBarrier < barriers.size() && completed >= barriers[nextBarrier])
    ++nextBarrier;
  limit = nextBarrier < barriers.size() ? barriers[nextBarrier] : count;
  bool any = false;
  for (size_t q = 0; q < queues.size(); ++q) {
    Queue &queue = queues[q];
    if (queue.running.command >= 0 || queue.next == queue.commands.size())
      continue;
    int64_t index = queue.commands[queue.next];
    if (index >= limit || !ready(commands[index]))
      continue;
    ++queue.next;
    start(static_cast<int>(q), index);
    any = true;
  }
  return any;
}

/// A memory that is asked for more than it has slows all its users alike.
void Simulation::setSpeeds() {
  std::fill(load.begin(), load.end(), 0);
  for (const Queue &queue : queues)
    if (queue.running.command >= 0 && queue.running.latency <= 0)
      for (const Demand &d : queue.running.demands)
        load[d.resource] += d.bytesPerCycle;
  for (Queue &queue : queues) {
    queue.running.speed = 1;
    for (const Demand &d : queue.running.demands)
      if (load[d.resource] > capacity[d.resource])
        queue.running.speed = std::min(queue.running.speed,
                                       capacity[d.resource] / load[d.resource]);
  }
}

/// Until a command ends or its latency is over.
double Simulation::untilNextEvent() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Queue &queue : queues) {
    const Running &r = queue.running;
    if (r.command >= 0)
      next = std::min(next, r.latency > 0 ? r.latency : r.work / r.speed);
  }
  return next;
}

void Simulation::advance(double cycles) {
  constexpr double kNothing = 1e-6;
  now += cycles;
  for (size_t q = 0; q < queues.size(); ++q) {
    Running &r = queues[q].running;
    if (r.command < 0)
      continue;
    double &left = r.latency > 0 ? r.latency : r.work;
    left -= cycles * (r.latency > 0 ? 1 : r.speed);
    if (left < kNothing)
      left = 0;
    if (r.latency > 0 || r.work > 0)
      continue;
    Timeline::Span &span = timeline.commands[r.command];
    span.end = now;
    timeline.busy[q % kEnginesPerCore] += span.end - span.start;
    r.command = -1;
    ++queues[q].done;
    ++completed;
  }
}

absl::StatusOr<Timeline> Simulation::run() {
  timeline.commands.resize(count);
  if (absl::Status status = sortByQueue(); !status.ok())
    return status;
  while (completed < count) {
    startReady();
    setSpeeds();
    double step = untilNextEvent();
    if (step == std::numeric_limits<double>::infinity()) {
      for (const Queue &queue : queues)
        if (queue.next < queue.commands.size())
          return absl::InvalidArgumentError(absl::StrCat(
              "command ", queue.commands[queue.next],
              " never starts: its waits are not satisfied when all other "
              "queues have ended or wait too; run cmdq-verify-schedule"));
    }
    advance(step);
  }
  timeline.cycles = now;
  return std::move(timeline);
}

} // namespace

absl::StatusOr<Timeline> simulate(const Target &target, const Command *commands,
                                  int64_t count, int cores,
                                  const std::vector<int64_t> &barriers) {
  return Simulation(target, commands, count, cores, barriers).run();
}

} // namespace npu::target
