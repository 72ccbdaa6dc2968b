//===- Placement.cc - Offsets for buffers with lifetimes ------------------===//

#include "passes/memory/Placement.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

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

/// Best fit, one buffer after the other: the smallest gap between those placed
/// before that holds it, or the place after the last one.
class BestFit {
public:
  explicit BestFit(Buffers &buffers) : buffers(buffers) {}

  int64_t place(const Order &order) {
    placed.clear();
    int64_t peak = 0;
    for (int index : order)
      peak = std::max(peak, place(index));
    return peak;
  }
  /// Comparisons so far.
  int64_t work() const { return steps; }

private:
  /// Returns the end of the buffer.
  int64_t place(int index) {
    PlacedBuffer &buffer = buffers[index];
    int64_t size = aligned(buffer.bytes), end = 0, best = -1;
    int64_t bestGap = std::numeric_limits<int64_t>::max();
    steps += static_cast<int64_t>(placed.size()) + 1;
    for (const PlacedBuffer &other : placed) {
      if (!together(buffer, other))
        continue;
      int64_t gap = other.offset - end;
      if (gap >= size && gap < bestGap) {
        bestGap = gap;
        best = end;
      }
      end = std::max(end, other.offset + aligned(other.bytes));
    }
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

/// The key of each greedy order: larger keys are placed first.
double areaOf(const PlacedBuffer &b) {
  return static_cast<double>(b.bytes) *
         static_cast<double>(b.last - b.first + 1);
}

std::vector<Order> greedyOrders(const Buffers &buffers) {
  const std::function<double(const PlacedBuffer &)> keys[] = {
      [](const PlacedBuffer &b) { return static_cast<double>(b.bytes); },
      areaOf,
      [](const PlacedBuffer &b) {
        return static_cast<double>(b.last - b.first);
      },
      [](const PlacedBuffer &b) { return -static_cast<double>(b.first); },
      [](const PlacedBuffer &b) { return static_cast<double>(b.last); }};
  std::vector<Order> orders;
  for (const auto &key : keys) {
    Order order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      double x = key(buffers[a]), y = key(buffers[b]);
      if (x != y)
        return x > y;
      if (buffers[a].bytes != buffers[b].bytes)
        return buffers[a].bytes > buffers[b].bytes;
      return a < b;
    });
    orders.push_back(std::move(order));
  }
  return orders;
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

/// Comparisons that improving may take: some hundred milliseconds.
constexpr int64_t kWork = 100000000;
constexpr int kRounds = 200;

} // namespace

LiveBytes largestLiveBytes(const std::vector<PlacedBuffer> &buffers) {
  return largestLive(buffers, 1);
}

int64_t placeBuffers(std::vector<PlacedBuffer> &buffers, int64_t enough) {
  int64_t goal = std::max(enough, largestLive(buffers, kBufferAlignment).bytes);
  Buffers trial = buffers;
  BestFit fit(trial);
  int64_t best = std::numeric_limits<int64_t>::max();
  Order bestOrder;
  auto attempt = [&](const Order &order) {
    int64_t peak = fit.place(order);
    if (peak < best) {
      best = peak;
      bestOrder = order;
      buffers = trial;
    }
    return peak;
  };
  for (const Order &order : greedyOrders(buffers))
    if (best > goal)
      attempt(order);
  // What made the memory grow is placed earlier the next time.
  Order order = bestOrder;
  trial = buffers;
  int64_t peak = best;
  for (int round = 0; round < kRounds && best > goal && fit.work() < kWork;
       ++round) {
    order = promotePeak(order, trial, peak);
    peak = attempt(order);
  }
  return best == std::numeric_limits<int64_t>::max() ? 0 : best;
}

} // namespace npu
