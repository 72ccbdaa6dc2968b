//===- queue.h - Asynchronous submission ------------------------*- C++ -*-===//
#ifndef RUNTIME_API_QUEUE_H
#define RUNTIME_API_QUEUE_H

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/api/session.h"

namespace npu::rt {

/// Tells when a job has ended, and how. Reusable once it has.
class Fence {
public:
  /// Waits for the job; DeadlineExceeded if it has not ended by then (the job
  /// goes on). Otherwise the job's own status.
  absl::Status wait(absl::Duration timeout = absl::InfiniteDuration());
  bool done() const;
  /// Asks the job to end: at once if it has not started, otherwise after the
  /// command that is running. It then ends with Cancelled.
  void cancel();

private:
  friend class Queue;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool pending_ = false, cancelled_ = false;
  absl::Status status_;
};

struct JobOptions {
  int priority = 0; ///< larger runs first; equal ones in order of submission
  /// The job ends with DeadlineExceeded once this has passed, started or not.
  absl::Time deadline = absl::InfiniteFuture();
};

/// A device's queue: one worker that runs one job after another.
class Queue {
public:
  explicit Queue(std::shared_ptr<Device> device);
  /// Waits for the running job and cancels the others.
  ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /// Appends a job. The session must not be touched and the fence must live
  /// until it has ended. FailedPrecondition if either is in use,
  /// ResourceExhausted when `kCapacity` jobs wait. Does not allocate.
  absl::Status submit(Session &session, Fence *fence,
                      const JobOptions &options = {});

  static constexpr int kCapacity = 256;

private:
  struct Job {
    Session *session;
    Fence *fence;
    JobOptions options;
    int64_t order;
  };
  void work();
  void end(Fence *fence, absl::Status status);

  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Job> jobs_; ///< a heap, capacity reserved
  int64_t submitted_ = 0;
  Session *running_ = nullptr;
  bool stop_ = false;
  std::thread worker_;
};

} // namespace npu::rt

#endif // RUNTIME_API_QUEUE_H
