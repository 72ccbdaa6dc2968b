#include <atomic>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "runtime/api/npu.h"
#include "runtime/api/queue.h"
#include "runtime/blob/testing.h"

namespace npu::rt {
namespace {

using testing::addProgram;

std::shared_ptr<Device> device() { return *openDevice({}); }

std::shared_ptr<const Program> program(int n = 8, int repeat = 1) {
  auto blob = Blob::parse(writeBlob(addProgram(n, repeat)), "a.npub");
  EXPECT_TRUE(blob.ok()) << blob.status();
  return *blob;
}

std::unique_ptr<Session> session(std::shared_ptr<Device> d, int n = 8,
                                 int repeat = 1) {
  return *Session::create(std::move(d), program(n, repeat));
}

TEST(Session, Runs) {
  auto s = session(device());
  std::vector<float> x = {-1, 2, -3, 4, 0, 0, 0, 8};
  ASSERT_TRUE(s->setInput("x", DType::kF32, {1, 8}, x.data()).ok());
  ASSERT_TRUE(s->run().ok());
  const float *y = reinterpret_cast<float *>(s->output(0).data);
  EXPECT_EQ(std::vector<float>(y, y + 8),
            (std::vector<float>{3, 4, 5, 6, 2, 2, 2, 10}));
}

TEST(Session, WrongInputsAreNamed) {
  auto s = session(device());
  float x[8] = {};
  auto text = [](absl::Status status) { return std::string(status.message()); };
  EXPECT_EQ(text(s->setInput("x", DType::kF32, {8}, x)),
            "input 'x' must be f32 [1,8], not f32 [8]");
  EXPECT_EQ(text(s->setInput("x", DType::kI8, {1, 8}, x)),
            "input 'x' must be f32 [1,8], not i8 [1,8]");
  EXPECT_NE(text(s->setInput("z", DType::kF32, {1, 8}, x)).find("x, y"),
            std::string::npos);
  EXPECT_FALSE(s->setInput("y", DType::kF32, {1, 8}, x).ok());
  EXPECT_FALSE(s->bind("x", x, 4).ok());
  EXPECT_FALSE(s->bind("x", reinterpret_cast<char *>(x) + 1, 32).ok());
}

TEST(Session, BoundMemoryIsUsed) {
  auto s = session(device());
  float x[8] = {-5}, y[8] = {};
  ASSERT_TRUE(s->bind("x", x, sizeof(x)).ok());
  ASSERT_TRUE(s->bind("y", y, sizeof(y)).ok());
  ASSERT_TRUE(s->run().ok());
  EXPECT_EQ(y[0], 7);
  ASSERT_TRUE(s->bind("y", nullptr, 0).ok());
  y[0] = 0;
  ASSERT_TRUE(s->run().ok());
  EXPECT_EQ(y[0], 0);
}

TEST(Session, TapsAndProfile) {
  auto s = session(device());
  reinterpret_cast<float *>(s->input(0).data)[0] = -4;
  std::vector<std::string> seen;
  s->setTap([&](const TapView &tap) {
    seen.push_back(tap.name);
    EXPECT_EQ(reinterpret_cast<const float *>(tap.data)[0], 4);
    return absl::OkStatus();
  });
  s->setProfiling(true);
  ASSERT_TRUE(s->run().ok());
  EXPECT_EQ(seen, std::vector<std::string>{"abs_out"});
  auto profile = s->profile();
  ASSERT_EQ(profile.size(), 2u);
  EXPECT_EQ(profile[1].layer, "add");
  EXPECT_EQ(profile[1].engine, "vector");
  s->setTap([](const TapView &) { return absl::AbortedError("enough"); });
  EXPECT_EQ(s->run().message(), "enough");
}

TEST(Device, UnknownNamesListTheKnown) {
  DeviceOptions options;
  options.name = "tpu";
  EXPECT_NE(openDevice(options).status().message().find("software"),
            absl::string_view::npos);
  options.name = "software";
  options.threads = 1000;
  EXPECT_FALSE(openDevice(options).ok());
}

TEST(Queue, RunsInOrderOfPriority) {
  auto d = device();
  std::vector<int> order;
  std::atomic<bool> go{false};
  std::vector<std::unique_ptr<Session>> sessions;
  Fence fences[4];
  {
    Queue queue(d);
    // The first job holds the queue until the others wait in it.
    for (int i = 0; i < 4; ++i) {
      sessions.push_back(session(d));
      sessions[i]->setTap([&, i](const TapView &) {
        while (!go)
          absl::SleepFor(absl::Milliseconds(1));
        order.push_back(i);
        return absl::OkStatus();
      });
    }
    ASSERT_TRUE(queue.submit(*sessions[0], &fences[0]).ok());
    while (true) { // until it is the running one
      absl::SleepFor(absl::Milliseconds(5));
      if (!fences[0].done())
        break;
    }
    for (int i = 1; i < 4; ++i) {
      JobOptions options;
      options.priority = i == 3 ? 10 : 0;
      ASSERT_TRUE(queue.submit(*sessions[i], &fences[i], options).ok());
    }
    EXPECT_EQ(queue.submit(*sessions[1], &fences[1]).code(),
              absl::StatusCode::kFailedPrecondition);
    go = true;
    for (Fence &fence : fences)
      EXPECT_TRUE(fence.wait().ok());
  }
  EXPECT_EQ(order, (std::vector<int>{0, 3, 1, 2}));
}

TEST(Queue, DeadlineCancelAndClose) {
  auto d = device();
  auto slow = session(d, 1024, 100), other = session(d);
  slow->setTap([](const TapView &) { return absl::OkStatus(); });
  std::atomic<bool> started{false};
  auto blocking = session(d);
  std::atomic<bool> go{false};
  blocking->setTap([&](const TapView &) {
    started = true;
    while (!go)
      absl::SleepFor(absl::Milliseconds(1));
    return absl::OkStatus();
  });
  Fence first, second, third;
  {
    Queue queue(d);
    ASSERT_TRUE(queue.submit(*blocking, &first).ok());
    while (!started)
      absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(first.wait(absl::Milliseconds(1)).code(),
              absl::StatusCode::kDeadlineExceeded);
    JobOptions late;
    late.deadline = absl::Now() - absl::Seconds(1);
    ASSERT_TRUE(queue.submit(*slow, &second, late).ok());
    ASSERT_TRUE(queue.submit(*other, &third).ok());
    third.cancel();
    go = true;
    EXPECT_TRUE(first.wait().ok());
    EXPECT_EQ(second.wait().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(third.wait().code(), absl::StatusCode::kCancelled);
    ASSERT_TRUE(queue.submit(*other, &third).ok()) << "fences are reusable";
    EXPECT_TRUE(third.wait().ok());
  }
  go = false;
  started = false;
  {
    Queue queue(d);
    ASSERT_TRUE(queue.submit(*blocking, &first).ok());
    while (!started)
      absl::SleepFor(absl::Milliseconds(1));
    ASSERT_TRUE(queue.submit(*other, &second).ok());
    std::thread release([&] {
      absl::SleepFor(absl::Milliseconds(20));
      go = true;
    });
    release.detach();
  }
  EXPECT_TRUE(first.wait().ok());
  EXPECT_EQ(second.wait().code(), absl::StatusCode::kCancelled);
}

TEST(CInterface, Runs) {
  std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/c.npub";
  std::ofstream(path) << writeBlob(addProgram());
  npu_device *device;
  npu_program *program;
  npu_session *session;
  EXPECT_EQ(npu_abi_version(), uint32_t(NPU_ABI_VERSION));
  ASSERT_EQ(npu_device_open("software", 1, 0, &device), NPU_OK);
  ASSERT_EQ(npu_program_load(path.c_str(), &program), NPU_OK);
  ASSERT_EQ(npu_session_create(device, program, &session), NPU_OK);
  EXPECT_STREQ(npu_program_tensor_name(program, 1), "y");
  EXPECT_EQ(npu_program_tensor_name(program, 2), nullptr);
  EXPECT_EQ(npu_program_tensor_type(program, 0), NPU_F32);
  EXPECT_EQ(npu_program_tensor_shape(program, 0)[1], 8);
  EXPECT_STREQ(npu_program_info(program, "mode"), "fp32");
  EXPECT_EQ(npu_program_session_bytes(program), 96);
  static_cast<float *>(npu_session_data(session, 0))[2] = -1;
  ASSERT_EQ(npu_session_run(session), NPU_OK);
  EXPECT_EQ(static_cast<float *>(npu_session_data(session, 1))[2], 3);
  EXPECT_EQ(npu_session_data(session, 2), nullptr);

  npu_queue *queue;
  npu_fence *fence = npu_fence_create();
  ASSERT_EQ(npu_queue_create(device, &queue), NPU_OK);
  ASSERT_EQ(npu_queue_submit(queue, session, fence, 0, 0), NPU_OK);
  EXPECT_EQ(npu_fence_wait(fence, -1), NPU_OK);
  EXPECT_EQ(npu_fence_done(fence), 1);
  npu_queue_free(queue);
  npu_fence_free(fence);
  npu_program_free(program);
  npu_device_free(device);
  EXPECT_EQ(npu_session_run(session), NPU_OK) << "keeps what it needs alive";
  npu_session_free(session);
}

TEST(CInterface, ErrorsHaveCodesAndText) {
  npu_program *program = nullptr;
  EXPECT_EQ(npu_program_load("/nowhere.npub", &program), NPU_NOT_FOUND);
  EXPECT_NE(std::string(npu_last_error()).find("/nowhere.npub"),
            std::string::npos);
  EXPECT_EQ(npu_program_load_bytes("NPUB", 4, &program), NPU_DATA_LOSS);
  EXPECT_EQ(npu_program_load(nullptr, &program), NPU_INVALID_ARGUMENT);
  EXPECT_EQ(npu_session_run(nullptr), NPU_INVALID_ARGUMENT);
  npu_device *device;
  EXPECT_EQ(npu_device_open("none", 1, 0, &device), NPU_NOT_FOUND);
}

} // namespace
} // namespace npu::rt
