//===- hazards_test.cc - Overlaps and races -------------------------------===//

#include "runtime/queue/hazards.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

namespace npu::rt {
namespace {

Operand view(Space space, int64_t offset, std::vector<int32_t> dims,
             std::vector<int32_t> strides, DType type = DType::kI8) {
  Operand o{};
  o.space = space;
  o.dtype = type;
  o.rank = static_cast<uint8_t>(dims.size());
  o.offset = offset;
  std::copy(dims.begin(), dims.end(), o.dims);
  std::copy(strides.begin(), strides.end(), o.strides);
  return o;
}

Operand run(int64_t offset, int32_t bytes, Space space = Space::kSram) {
  return view(space, offset, {bytes}, {1});
}

Command copy(Engine engine, Operand out, Operand in, int core = 0) {
  Command c{};
  c.opcode = Opcode::kDma;
  c.engine = engine;
  c.core = static_cast<uint8_t>(core);
  c.operands[0] = out;
  c.operands[1] = in;
  return c;
}

void addWait(Command &c, int queue, uint32_t count) {
  c.waits[c.num_waits++] = {static_cast<uint16_t>(queue), 0, count};
}

TEST(Overlap, ContiguousViews) {
  EXPECT_TRUE(overlaps(run(0, 10), run(9, 1)));
  EXPECT_FALSE(overlaps(run(0, 10), run(10, 5)));
}

TEST(Overlap, InterleavedColumnsAreDisjoint) {
  // Channels 0..3 and 4..7 of 16 pixels with 8 channels.
  Operand low = view(Space::kDram, 0, {4, 4, 4}, {32, 8, 1});
  Operand high = view(Space::kDram, 4, {4, 4, 4}, {32, 8, 1});
  EXPECT_FALSE(overlaps(low, high));
  EXPECT_TRUE(overlaps(low, view(Space::kDram, 3, {16, 4}, {8, 1})));
  EXPECT_FALSE(overlaps(high, view(Space::kDram, 0, {16, 4}, {8, 1})));
}

TEST(Overlap, TilesOfAnImage) {
  // 8 x 8 image: left and right halves, upper and lower ones; with f32 too.
  for (DType type : {DType::kI8, DType::kF32}) {
    int64_t element = sizeOf(type);
    Operand left = view(Space::kDram, 0, {8, 4}, {8, 1}, type);
    Operand right = view(Space::kDram, 4 * element, {8, 4}, {8, 1}, type);
    Operand lower = view(Space::kDram, 32 * element, {4, 8}, {8, 1}, type);
    EXPECT_FALSE(overlaps(left, right));
    EXPECT_TRUE(overlaps(left, lower));
    EXPECT_TRUE(overlaps(right, lower));
  }
}

TEST(Overlap, EvenAndOddElements) {
  Operand even = view(Space::kDram, 0, {100}, {2});
  Operand odd = view(Space::kDram, 1, {100}, {2});
  EXPECT_FALSE(overlaps(even, odd));
  EXPECT_TRUE(overlaps(even, even));
}

std::set<int64_t> bytesOf(const Operand &o) {
  std::set<int64_t> bytes = {o.offset};
  for (int d = 0; d < o.rank; ++d) {
    std::set<int64_t> next;
    for (int64_t b : bytes)
      for (int i = 0; i < o.dims[d]; ++i)
        next.insert(b + int64_t(i) * o.strides[d] * sizeOf(o.dtype));
    bytes = next;
  }
  std::set<int64_t> all;
  for (int64_t b : bytes)
    for (int i = 0; i < sizeOf(o.dtype); ++i)
      all.insert(b + i);
  return all;
}

TEST(Overlap, AgreesWithTheBytes) {
  int tooCareful = 0;
  std::mt19937 random(1);
  auto pick = [&](int n) { return static_cast<int32_t>(random() % n); };
  for (int round = 0; round < 20000; ++round) {
    Operand operands[2];
    for (Operand &o : operands) {
      int rank = 1 + pick(4);
      std::vector<int32_t> dims, strides;
      for (int d = 0; d < rank; ++d) {
        dims.push_back(1 + pick(4));
        strides.push_back(pick(3) ? pick(20) : 16);
      }
      DType type = pick(2) ? DType::kI8 : DType::kI16;
      o = view(Space::kDram, pick(60) * sizeOf(type), dims, strides, type);
    }
    std::set<int64_t> a = bytesOf(operands[0]), b = bytesOf(operands[1]);
    bool common = false;
    for (int64_t byte : a)
      common |= b.count(byte) > 0;
    bool found = overlaps(operands[0], operands[1]);
    ASSERT_TRUE(found || !common) << round;
    tooCareful += found && !common;
    EXPECT_EQ(boundsOf(operands[0]).begin, *a.begin());
    EXPECT_EQ(boundsOf(operands[0]).end, *a.rbegin() + 1);
  }
  // Only where strides interleave in odd ways, for lack of steps.
  EXPECT_LE(tooCareful, 5);
}

TEST(Conflict, MemoriesAndReads) {
  Command a = copy(Engine::kDmaIn, run(0, 64), run(0, 64, Space::kDram));
  Command b = copy(Engine::kDmaOut, run(0, 64, Space::kDram), run(0, 64));
  EXPECT_TRUE(conflict(a, b));
  b.core = 1; // another SRAM, but the DRAM is common
  EXPECT_TRUE(conflict(a, b));
  b.operands[0].offset = 64;
  EXPECT_FALSE(conflict(a, b));
  // Two readers of constants or of DRAM.
  Command c = copy(Engine::kDmaIn, run(64, 64), run(0, 64, Space::kDram));
  EXPECT_FALSE(conflict(a, c));
}

TEST(Schedule, RaceAndItsRepair) {
  std::vector<Command> program = {
      copy(Engine::kDmaIn, run(0, 64), run(0, 64, Space::kConst)),
      copy(Engine::kVector, run(64, 64), run(32, 64))};
  auto error = findScheduleError(program.data(), 2, 1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->first, 0);
  EXPECT_EQ(error->second, 1);
  EXPECT_NE(error->message.find("command 1 may run together with command 0"),
            std::string::npos);
  EXPECT_NE(error->message.find("bytes 32 to 64 of sram of core 0"),
            std::string::npos)
      << error->message;
  // A barrier between them, or a wait, orders them.
  EXPECT_TRUE(checkSchedule(program.data(), 2, 1, {1}).ok());
  addWait(program[1], queueIndex(0, Engine::kDmaIn), 1);
  EXPECT_TRUE(checkSchedule(program.data(), 2, 1).ok());
}

TEST(Schedule, OrderIsTransitive) {
  // dma_in -> vector -> dma_out; the last overwrites what the first read.
  std::vector<Command> program = {
      copy(Engine::kDmaIn, run(0, 64), run(0, 64, Space::kDram)),
      copy(Engine::kVector, run(64, 64), run(0, 64)),
      copy(Engine::kDmaOut, run(0, 64, Space::kDram), run(64, 64))};
  addWait(program[1], queueIndex(0, Engine::kDmaIn), 1);
  addWait(program[2], queueIndex(0, Engine::kVector), 1);
  EXPECT_TRUE(checkSchedule(program.data(), 3, 1).ok());
}

TEST(Schedule, WaitsThatNeverEnd) {
  std::vector<Command> program = {
      copy(Engine::kDmaIn, run(0, 64), run(0, 64, Space::kConst)),
      copy(Engine::kVector, run(64, 64), run(0, 64))};
  addWait(program[1], queueIndex(0, Engine::kDmaIn), 2);
  absl::Status status = checkSchedule(program.data(), 2, 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("never start"),
            std::string::npos);
  program[1].waits[0] = {60000, 0, 1}; // no such queue
  EXPECT_FALSE(checkSchedule(program.data(), 2, 1).ok());
  program[1].waits[0] = {queueIndex(0, Engine::kVector), 0, 1}; // itself
  EXPECT_FALSE(checkSchedule(program.data(), 2, 1).ok());
  program[1].num_waits = 200;
  EXPECT_FALSE(checkSchedule(program.data(), 2, 1).ok());
  program[1].num_waits = 0;
  program[1].core = 1;
  EXPECT_FALSE(checkSchedule(program.data(), 2, 1).ok());
}

TEST(Schedule, LongProgramsAreFast) {
  // Loads that nothing orders against the stores, on eight cores.
  std::vector<Command> program;
  for (int i = 0; i < 20000; ++i) {
    int core = i % 8;
    bool in = i / 8 % 2;
    Command c = copy(in ? Engine::kDmaIn : Engine::kDmaOut,
                     run(in ? 0 : 64, 64), run(64 * i, 64, Space::kDram), core);
    if (!in)
      std::swap(c.operands[0], c.operands[1]);
    program.push_back(c);
  }
  auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(checkSchedule(program.data(), program.size(), 8).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

} // namespace
} // namespace npu::rt
