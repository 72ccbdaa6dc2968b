//===- simulator_test.cc - Timing of small schedules ----------------------===//

#include "target/simulator.h"

#include <gtest/gtest.h>

using namespace npu::rt;

namespace npu::target {
namespace {

Operand run(Space space, int64_t offset, int32_t bytes) {
  Operand o{};
  o.space = space;
  o.dtype = DType::kI8;
  o.rank = 1;
  o.offset = offset;
  o.dims[0] = bytes;
  o.strides[0] = 1;
  return o;
}

Command copy(Engine engine, Space to, Space from, int core = 0) {
  Command c{};
  c.opcode = Opcode::kDma;
  c.engine = engine;
  c.core = static_cast<uint8_t>(core);
  c.operands[0] = run(to, 0, 1 << 20);
  c.operands[1] = run(from, 0, 1 << 20);
  return c;
}

double alone(const Target &target, const Command &command) {
  return cost(target, workloadOf(command)).cycles();
}

TEST(Simulator, QueuesRunInOrderAndWait) {
  Target edge = *preset("edge");
  std::vector<Command> program = {
      copy(Engine::kDmaIn, Space::kSram, Space::kDram),
      copy(Engine::kDmaIn, Space::kSram, Space::kDram),
      copy(Engine::kDmaOut, Space::kDram, Space::kSram)};
  program[2].waits[program[2].num_waits++] = {
      static_cast<uint16_t>(queueIndex(0, Engine::kDmaIn)), 0, 2};
  auto timeline = simulate(edge, program.data(), 3, 1);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  double one = alone(edge, program[0]);
  EXPECT_NEAR(timeline->commands[1].start, one, 1);
  EXPECT_NEAR(timeline->commands[2].start, 2 * one, 1);
  EXPECT_NEAR(timeline->cycles, 3 * one, 1);
  EXPECT_NEAR(timeline->busy[static_cast<int>(Engine::kDmaIn)], 2 * one, 1);
}

TEST(Simulator, BandwidthIsShared) {
  Target pc = *preset("pc");
  std::vector<Command> program;
  for (int core = 0; core < 16; ++core)
    program.push_back(copy(Engine::kDmaIn, Space::kSram, Space::kDram, core));
  auto timeline = simulate(pc, program.data(), 16, 16);
  ASSERT_TRUE(timeline.ok());
  double least = 16.0 * (1 << 20) / pc.memory.dram_bytes_per_cycle;
  EXPECT_GE(timeline->cycles, least);
  EXPECT_LE(timeline->cycles, std::max(least, alone(pc, program[0])) +
                                  2 * pc.memory.dma_latency_cycles);
  // As soon as one core has finished, none waits any more.
  EXPECT_EQ(timeline->commands[0].end, timeline->commands[15].end);
}

TEST(Simulator, BarriersDrainTheQueues) {
  Target edge = *preset("edge");
  std::vector<Command> program = {
      copy(Engine::kDmaIn, Space::kSram, Space::kDram),
      copy(Engine::kDmaOut, Space::kDram, Space::kSram)};
  auto free = simulate(edge, program.data(), 2, 1);
  auto barred = simulate(edge, program.data(), 2, 1, {1});
  ASSERT_TRUE(free.ok() && barred.ok());
  EXPECT_EQ(free->commands[1].start, 0);
  EXPECT_EQ(barred->commands[1].start, barred->commands[0].end);
}

TEST(Simulator, DeadlocksAndWildCores) {
  Target edge = *preset("edge");
  Command c = copy(Engine::kDmaIn, Space::kSram, Space::kDram);
  c.waits[c.num_waits++] = {0, 0, 1};
  EXPECT_FALSE(simulate(edge, &c, 1, 1).ok());
  c.num_waits = 0;
  c.core = 3;
  EXPECT_FALSE(simulate(edge, &c, 1, 1).ok());
}

} // namespace
} // namespace npu::target
