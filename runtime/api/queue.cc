#include "runtime/api/queue.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace npu::rt {

absl::Status Fence::wait(absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto ended = [this] { return !pending_; };
  if (timeout == absl::InfiniteDuration())
    changed_.wait(lock, ended);
  else if (!changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout), ended))
    return absl::DeadlineExceededError("the job has not ended yet");
  return status_;
}

bool Fence::done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !pending_;
}

void Fence::cancel() {
  std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
}

Queue::Queue(std::shared_ptr<Device> device) : device_(std::move(device)) {
  jobs_.reserve(kCapacity);
  worker_ = std::thread([this] { work(); });
}

Queue::~Queue() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  worker_.join();
  for (Job &job : jobs_)
    end(job.fence, absl::CancelledError("the queue was closed"));
}

void Queue::end(Fence *fence, absl::Status status) {
  // Notified under the lock: the waiter may destroy the fence right after.
  std::lock_guard<std::mutex> lock(fence->mutex_);
  fence->status_ = std::move(status);
  fence->pending_ = false;
  fence->changed_.notify_all();
}

absl::Status Queue::submit(Session &session, Fence *fence,
                           const JobOptions &options) {
  if (session.device_ != device_)
    return absl::InvalidArgumentError(
        "the session belongs to another device than the queue");
  std::lock_guard<std::mutex> lock(mutex_);
  if (jobs_.size() >= kCapacity)
    return absl::ResourceExhaustedError("the queue is full; wait for a fence");
  bool inUse = running_ == &session;
  for (const Job &job : jobs_)
    inUse |= job.session == &session;
  if (inUse)
    return absl::FailedPreconditionError(
        "the session has a job in the queue; wait for its fence");
  {
    std::lock_guard<std::mutex> fenceLock(fence->mutex_);
    if (fence->pending_)
      return absl::FailedPreconditionError(
          "the fence is of a job that has not ended");
    fence->pending_ = true;
    fence->cancelled_ = false;
    fence->status_ = absl::OkStatus();
  }
  jobs_.push_back({&session, fence, options, submitted_++});
  changed_.notify_one();
  return absl::OkStatus();
}

void Queue::work() {
  Job job{};
  std::function<absl::Status()> poll = [&job]() -> absl::Status {
    {
      std::lock_guard<std::mutex> lock(job.fence->mutex_);
      if (job.fence->cancelled_)
        return absl::CancelledError("the job was cancelled");
    }
    if (job.options.deadline != absl::InfiniteFuture() &&
        absl::Now() > job.options.deadline)
      return absl::DeadlineExceededError("the job's deadline has passed");
    return absl::OkStatus();
  };
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      running_ = nullptr;
      changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_)
        return;
      auto next = std::max_element(
          jobs_.begin(), jobs_.end(), [](const Job &a, const Job &b) {
            if (a.options.priority != b.options.priority)
              return a.options.priority < b.options.priority;
            return a.order > b.order;
          });
      job = *next;
      jobs_.erase(next);
      running_ = job.session;
    }
    absl::Status status = poll();
    if (status.ok())
      status = job.session->execute(&poll);
    {
      // Free the session before its fence says so.
      std::lock_guard<std::mutex> lock(mutex_);
      running_ = nullptr;
    }
    end(job.fence, std::move(status));
  }
}

} // namespace npu::rt
