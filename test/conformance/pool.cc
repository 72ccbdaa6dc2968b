#include "test/conformance/pool.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "runtime/support/json_object.h"

namespace npu::conformance {

namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  size_t index = 0; ///< of its case
  pid_t pid = -1;
  int fd = -1;
  Clock::time_point deadline;
  std::string bytes;
};

std::string toText(const Outcome &o) {
  return rt::Json{{"verdict", int(o.verdict)}, {"reason", o.reason},
                  {"message", o.message},      {"ops", o.ops},
                  {"fixed", o.fixed},          {"folded", o.folded},
                  {"opset", o.opset}}
      .dump(-1, ' ', false, rt::Json::error_handler_t::replace);
}

bool fromText(const std::string &text, Outcome *o) {
  rt::Json j = rt::Json::parse(text, nullptr, false);
  if (j.is_discarded())
    return false;
  o->verdict = Verdict(j["verdict"].get<int>());
  o->reason = j["reason"];
  o->message = j["message"];
  o->ops = j["ops"].get<std::vector<std::string>>();
  o->fixed = j["fixed"].get<std::vector<std::string>>();
  o->folded = j["folded"];
  o->opset = j["opset"];
  return true;
}

[[noreturn]] void childMain(const Case &c, int fd) {
  int quiet = open("/dev/null", O_WRONLY);
  dup2(quiet, 1);
  dup2(quiet, 2);
  std::string text = toText(runCase(c));
  for (size_t at = 0; at < text.size();) {
    ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n <= 0)
      break;
    at += size_t(n);
  }
  _exit(0);
}

Child start(const Case &c, size_t index, int seconds) {
  Child child;
  child.index = index;
  child.deadline = Clock::now() + std::chrono::seconds(seconds);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return child;
  child.pid = fork();
  if (child.pid == 0)
    childMain(c, fds[1]);
  close(fds[1]);
  child.fd = fds[0];
  return child;
}

// Reads what there is; true once the child has closed its end.
bool drain(Child *child) {
  char buffer[65536];
  ssize_t n = read(child->fd, buffer, sizeof(buffer));
  if (n > 0)
    child->bytes.append(buffer, size_t(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

Outcome finish(Child *child, bool late, int seconds) {
  if (late)
    kill(child->pid, SIGKILL);
  int status = 0;
  waitpid(child->pid, &status, 0);
  close(child->fd);
  Outcome outcome;
  if (!late && fromText(child->bytes, &outcome))
    return outcome;
  outcome.message = late ? absl::StrCat("no result after ", seconds, " s")
                    : WIFSIGNALED(status)
                        ? absl::StrCat("killed by signal ", WTERMSIG(status),
                                       " (", strsignal(WTERMSIG(status)), ")")
                        : absl::StrCat("exit code ", WEXITSTATUS(status));
  return outcome;
}

} // namespace

std::vector<Outcome> runAll(const std::vector<Case> &cases, int jobs,
                            int seconds) {
  std::vector<Outcome> outcomes(cases.size());
  std::vector<Child> running;
  size_t next = 0;
  while (next < cases.size() || !running.empty()) {
    while (next < cases.size() && int(running.size()) < jobs) {
      running.push_back(start(cases[next], next, seconds));
      ++next;
    }
    std::vector<pollfd> fds;
    for (const Child &child : running)
      fds.push_back({child.fd, POLLIN, 0});
    poll(fds.data(), fds.size(), 200);
    for (size_t n = running.size(); n-- > 0;) {
      Child &child = running[n];
      bool late = Clock::now() > child.deadline;
      bool ended = child.pid < 0 || (fds[n].revents && drain(&child));
      if (!ended && !late)
        continue;
      outcomes[child.index] = finish(&child, !ended, seconds);
      running.erase(running.begin() + long(n));
    }
  }
  return outcomes;
}

} // namespace npu::conformance
