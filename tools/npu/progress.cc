#include "tools/npu/progress.h"

#include <cstdio>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace npu {

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO)) {}

void Progress::start(const std::string &stage) {
  finish();
  stage_ = stage;
  total_ = 0;
  started_ = drawn_ = Clock::now();
  if (terminal_)
    draw(absl::StrFormat("%-11s ...", stage_), false);
}

void Progress::step(int64_t done, int64_t total) {
  total_ = total;
  Clock::time_point now = Clock::now();
  if (!terminal_ || now - drawn_ < std::chrono::milliseconds(100))
    return;
  drawn_ = now;
  double spent = std::chrono::duration<double>(now - started_).count();
  double left = done > 0 ? spent / done * (total - done) : 0;
  draw(
      absl::StrFormat("%-11s %d of %d, %.1f s left", stage_, done, total, left),
      false);
}

void Progress::finish() {
  if (stage_.empty())
    return;
  double spent = std::chrono::duration<double>(Clock::now() - started_).count();
  std::string count = total_ ? absl::StrFormat(", %d done", total_) : "";
  draw(absl::StrFormat("%-11s %.2f s%s", stage_, spent, count), true);
  seconds_.emplace_back(stage_, spent);
  stage_.clear();
}

void Progress::draw(const std::string &text, bool last) {
  if (quiet_)
    return;
  std::fprintf(stderr, terminal_ ? "\r\033[K%s%s" : "%s%s", text.c_str(),
               last ? "\n" : "");
  std::fflush(stderr);
}

} // namespace npu
