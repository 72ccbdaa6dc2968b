//===- Placement.cc - Offsets for buffers with lifetimes ------------------===//

#include "passes/memory/Placement.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace npu {
namespace {

using Buffers = std::vector<PlacedBuffer>;
using Order = std::vector<int>;

int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

bool together(const PlacedBuffer &a, const PlacedBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Where a buffer goes among the gaps between those placed before it that hold
/// it; behind all of them if there is none. kHighestGap goes to the upper end
/// of its gap, the ceiling being the end of the last one.
enum class Policy { kSmallestGap, kLowestGap, kHighestGap };

/// Places one buffer after the other.
class Greedy {
public:
  Greedy(Buffers &buffers, int64_t ceiling)
      : buffers(buffers),
        ceiling(ceiling / kBufferAlignment * kBufferAlignment) {}

  int64_t place(const Order &order, Policy policy) {
    placed.clear();
    return add(order, policy);
  }
  /// Each with a policy of its own.
  int64_t place(const Order &order, const std::vector<Policy> &policies) {
    placed.clear();
    int64_t peak = 0;
    for (size_t i = 0; i < order.size(); ++i)
      peak = std::max(peak, place(order[i], policies[i]));
    return peak;
  }
  /// Places more beside those that are placed; returns their end.
  int64_t add(const Order &order, Policy policy) {
    int64_t peak = 0;
    for (int index : order)
      peak = std::max(peak, place(index, policy));
    return peak;
  }
  /// Comparisons so far.
  int64_t work() const { return steps; }

private:
  /// Returns the end of the buffer.
  int64_t place(int index, Policy policy) {
    PlacedBuffer &buffer = buffers[index];
    int64_t size = aligned(buffer.bytes), end = 0, best = -1;
    int64_t bestGap = std::numeric_limits<int64_t>::max();
    steps += static_cast<int64_t>(placed.size()) + 1;
    for (const PlacedBuffer &other : placed) {
      if (!together(buffer, other))
        continue;
      int64_t gap = other.offset - end;
      if (gap >= size && gap < bestGap && policy != Policy::kHighestGap) {
        bestGap = gap;
        best = end;
        if (policy == Policy::kLowestGap)
          break;
      }
      if (gap >= size && policy == Policy::kHighestGap)
        best = other.offset - size;
      end = std::max(end, other.offset + aligned(other.bytes));
    }
    if (policy == Policy::kHighestGap && ceiling - end >= size)
      best = ceiling - size;
    buffer.offset = best >= 0 ? best : end;
    auto at =
        std::upper_bound(placed.begin(), placed.end(), buffer,
                         [](const PlacedBuffer &a, const PlacedBuffer &b) {
                           return a.offset < b.offset;
                         });
    placed.insert(at, buffer);
    return buffer.offset + size;
  }

  Buffers &buffers;
  int64_t ceiling;
  Buffers placed; ///< by offset
  int64_t steps = 0;
};

/// The order with everything that ends at `peak` moved to the front.
Order promotePeak(const Order &order, const Buffers &buffers, int64_t peak) {
  Order result, rest;
  for (int i : order) {
    bool atPeak = buffers[i].offset + aligned(buffers[i].bytes) == peak;
    (atPeak ? result : rest).push_back(i);
  }
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

LiveBytes largestLive(const Buffers &buffers, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> events; // time, change
  for (const PlacedBuffer &b : buffers) {
    int64_t bytes = (b.bytes + alignment - 1) / alignment * alignment;
    events.push_back({b.first, bytes});
    events.push_back({b.last + 1, -bytes});
  }
  std::sort(events.begin(), events.end());
  LiveBytes result;
  int64_t live = 0;
  for (auto [time, change] : events) {
    live += change;
    if (live > result.bytes)
      result = {live, time};
  }
  return result;
}

/// The most bytes that live at any time of each buffer's life.
std::vector<int64_t> contention(const Buffers &buffers) {
  // Live bytes by interval between events, and a sparse table of maxima.
  std::vector<int64_t> times;
  for (const PlacedBuffer &b : buffers) {
    times.push_back(b.first);
    times.push_back(b.last + 1);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto at = [&](int64_t time) {
    return std::lower_bound(times.begin(), times.end(), time) - times.begin();
  };
  std::vector<int64_t> live(times.size() + 1, 0);
  for (const PlacedBuffer &b : buffers) {
    live[at(b.first)] += aligned(b.bytes);
    live[at(b.last + 1)] -= aligned(b.bytes);
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  std::vector<std::vector<int64_t>> maxima = {live};
  for (size_t width = 1; 2 * width <= live.size(); width *= 2) {
    const std::vector<int64_t> &half = maxima.back();
    std::vector<int64_t> whole(live.size() - 2 * width + 1);
    for (size_t i = 0; i < whole.size(); ++i)
      whole[i] = std::max(half[i], half[i + width]);
    maxima.push_back(std::move(whole));
  }
  std::vector<int64_t> result;
  for (const PlacedBuffer &b : buffers) {
    auto from = at(b.first), to = at(b.last + 1); // at least one interval
    int level = 0;
    while ((int64_t(2) << level) <= to - from)
      ++level;
    result.push_back(std::max(maxima[level][from],
                              maxima[level][to - (int64_t(1) << level)]));
  }
  return result;
}

/// Orders of placement; what is hardest to place comes first in each.
std::vector<Order> greedyOrders(const Buffers &buffers) {
  std::vector<int64_t> crowd = contention(buffers);
  using Key = std::function<double(int)>;
  auto bytes = [&](int i) { return static_cast<double>(buffers[i].bytes); };
  auto life = [&](int i) {
    return static_cast<double>(buffers[i].last - buffers[i].first + 1);
  };
  const std::pair<Key, Key> keys[] = {
      {bytes, life},
      {[&](int i) { return static_cast<double>(crowd[i]); }, bytes},
      {[&](int i) { return bytes(i) * life(i); }, bytes},
      {life, bytes},
      {[&](int i) { return static_cast<double>(crowd[i]); }, life},
      {[&](int i) { return -static_cast<double>(buffers[i].first); }, bytes},
      {[&](int i) { return static_cast<double>(buffers[i].last); }, bytes}};
  std::vector<Order> orders;
  for (const auto &[first, second] : keys) {
    std::vector<std::pair<double, double>> values;
    for (size_t i = 0; i < buffers.size(); ++i)
      values.push_back(
          {first(static_cast<int>(i)), second(static_cast<int>(i))});
    Order order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return values[a] != values[b] ? values[a] > values[b] : a < b;
    });
    orders.push_back(std::move(order));
  }
  return orders;
}

/// Comparisons that each stage may take: some hundred milliseconds.
constexpr int64_t kThoroughWork = 100000000, kQuickWork = 30000000;
constexpr int kRounds = 40;
constexpr int64_t kMaxLarge = 150;
constexpr int kFits = 16; ///< arrangements of large buffers that are tried

/// The stages of the search; each stops once the goal is reached.
class Placement {
public:
  Placement(Buffers &buffers, int64_t goal, int64_t work)
      : buffers(buffers), trial(buffers), goal(goal), work(work),
        greedy(trial, goal) {}

  void tryOrders();
  void improveOrders();
  void arrangeLarge();

  int64_t best = std::numeric_limits<int64_t>::max();

private:
  struct Start {
    int64_t peak;
    Policy policy;
    Order order;
  };

  bool enough(int64_t until) const {
    return best <= goal || greedy.work() > until;
  }
  int64_t note(int64_t peak) {
    if (peak < best) {
      best = peak;
      buffers = trial;
    }
    return peak;
  }

  Buffers &buffers;
  Buffers trial;
  int64_t goal, work;
  Greedy greedy;
  std::vector<Start> starts;
};

void Placement::tryOrders() {
  for (Order &order : greedyOrders(buffers))
    for (Policy policy : {Policy::kSmallestGap, Policy::kLowestGap}) {
      if (!starts.empty() && enough(work))
        return;
      starts.push_back({note(greedy.place(order, policy)), policy, order});
    }
}

/// What made the memory grow is placed earlier the next time; from the best
/// orders first.
void Placement::improveOrders() {
  std::sort(starts.begin(), starts.end(), [](const Start &a, const Start &b) {
    return a.peak != b.peak ? a.peak < b.peak : a.order < b.order;
  });
  for (Start &start : starts) {
    if (enough(work))
      return;
    start.peak = greedy.place(start.order, start.policy);
    for (int round = 0; round < kRounds && !enough(work); ++round) {
      start.order = promotePeak(start.order, trial, start.peak);
      start.peak = note(greedy.place(start.order, start.policy));
    }
  }
}

/// Where a few large buffers decide, it matters at which end of the memory each
/// of them lies: a random walk over ends and orders. The small ones then fill
/// the gaps.
void Placement::arrangeLarge() {
  int64_t until = greedy.work() + work;
  std::vector<Order> orders = greedyOrders(buffers);
  const Order &bySize = orders[0], &byArea = orders[2];
  std::vector<bool> isLarge(buffers.size(), false);
  Order large;
  for (int i : byArea)
    if (static_cast<int64_t>(large.size()) < kMaxLarge &&
        buffers[i].bytes >= goal / 64) {
      isLarge[i] = true;
      large.push_back(i);
    }
  std::vector<Order> fillings; // orders of the small ones
  for (const Order &order : {bySize, orders[1]}) {
    fillings.emplace_back();
    for (int i : order)
      if (!isLarge[i])
        fillings.back().push_back(i);
  }
  if (large.size() < 2)
    return;
  // In order of time, one end after the other, to begin with.
  std::sort(large.begin(), large.end(), [&](int a, int b) {
    return std::make_pair(buffers[a].first, a) <
           std::make_pair(buffers[b].first, b);
  });
  std::vector<Policy> ends(large.size());
  for (size_t i = 0; i < ends.size(); ++i)
    ends[i] = i % 2 ? Policy::kHighestGap : Policy::kLowestGap;
  std::minstd_rand random(1);
  auto pick = [&] { return random() % large.size(); };
  int64_t peak = greedy.place(large, ends);
  for (int fits = 0; fits < kFits && !enough(until);) {
    if (peak <= goal) {
      ++fits;
      for (const Order &small : fillings)
        for (Policy policy : {Policy::kSmallestGap, Policy::kLowestGap}) {
          greedy.place(large, ends);
          note(std::max(peak, greedy.add(small, policy)));
        }
    }
    Order order = large;
    std::vector<Policy> policies = ends;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      Policy &end = policies[pick()];
      end =
          end == Policy::kLowestGap ? Policy::kHighestGap : Policy::kLowestGap;
      if (random() % 2)
        std::swap(order[pick()], order[pick()]);
    }
    int64_t next = greedy.place(order, policies);
    if (next > std::max(peak, goal))
      continue;
    peak = next;
    large = std::move(order);
    ends = std::move(policies);
  }
}

} // namespace

LiveBytes largestLiveBytes(const std::vector<PlacedBuffer> &buffers) {
  return largestLive(buffers, 1);
}

int64_t placeBuffers(std::vector<PlacedBuffer> &buffers, int64_t enough,
                     bool quick) {
  if (buffers.empty())
    return 0;
  int64_t bound = largestLive(buffers, kBufferAlignment).bytes;
  Placement placement(buffers, std::max(enough, bound),
                      quick ? kQuickWork : kThoroughWork);
  placement.tryOrders();
  placement.improveOrders();
  if (!quick)
    placement.arrangeLarge();
  return placement.best;
}

} // namespace npu
