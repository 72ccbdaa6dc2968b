#include "runtime/kernels/thread_pool.h"

#include <chrono>

#include "gtest/gtest.h"

namespace npu::rt {
namespace {

class ThreadPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, RunsEveryPieceOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (int64_t pieces : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> runs(pieces);
    std::atomic<int> badThread{0};
    pool.parallelFor(pieces, [&](int64_t piece, int thread) {
      ++runs[piece];
      badThread += thread < 0 || thread >= pool.threads();
    });
    for (int64_t i = 0; i < pieces; ++i)
      EXPECT_EQ(runs[i], 1) << "piece " << i;
    EXPECT_EQ(badThread, 0);
  }
}

TEST_P(ThreadPoolTest, IsUsableManyTimesInARow) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> sum{0};
  for (int job = 0; job < 5000; ++job)
    pool.parallelFor(3, [&](int64_t piece, int) { sum += piece + 1; });
  EXPECT_EQ(sum, 5000 * 6);
}

TEST_P(ThreadPoolTest, WakesAfterSleeping) {
  ThreadPool pool(GetParam());
  for (int job = 0; job < 5; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::atomic<int> runs{0};
    pool.parallelFor(8, [&](int64_t, int) { ++runs; });
    EXPECT_EQ(runs, 8);
  }
}

TEST_P(ThreadPoolTest, EndsWithoutAJob) { ThreadPool pool(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest,
                         ::testing::Values(1, 2, 3, 8));

} // namespace
} // namespace npu::rt
