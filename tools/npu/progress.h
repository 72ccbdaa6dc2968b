//===- progress.h - Stages with counts and time left ------------*- C++ -*-===//
#ifndef TOOLS_NPU_PROGRESS_H
#define TOOLS_NPU_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace npu {

/// Shows on stderr which stage runs, how far it is and how long it will take;
/// on a terminal as a line that is redrawn, otherwise one line a stage.
class Progress {
public:
  explicit Progress(bool quiet);
  /// Ends the stage before, starts the next.
  void start(const std::string &stage);
  /// `done` of `total` steps of this stage; redraws at most 10 times a second.
  void step(int64_t done, int64_t total);
  void finish();
  /// Every stage so far with its seconds, in order.
  const std::vector<std::pair<std::string, double>> &seconds() const {
    return seconds_;
  }

private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string &text, bool last);

  bool quiet_, terminal_;
  std::string stage_;
  int64_t total_ = 0;
  Clock::time_point started_, drawn_;
  std::vector<std::pair<std::string, double>> seconds_;
};

} // namespace npu

#endif // TOOLS_NPU_PROGRESS_H
