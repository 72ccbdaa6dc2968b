//===- waits_test.cc - Random programs: enough waits, none too many -------===//

#include "passes/scheduling/Waits.h"

#include "runtime/queue/hazards.h"

#include <gtest/gtest.h>

#include <random>

using namespace npu::rt;

namespace npu {
namespace {

class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {}

  int pick(int n) { return static_cast<int>(random() % n); }

  Operand operand(bool out) {
    Operand o{};
    int space = pick(8);
    o.space = space < 4          ? Space::kSram
              : space < 6        ? Space::kDram
              : space < 7 || out ? Space::kIo
                                 : Space::kConst;
    o.io = static_cast<uint8_t>(pick(3));
    o.dtype = pick(2) ? DType::kI8 : DType::kF32;
    if (pick(2)) { // a tile of an image
      o.rank = 2;
      o.dims[0] = 1 + pick(8);
      o.dims[1] = 1 + pick(8);
      o.strides[0] = 16;
      o.strides[1] = 1;
    } else {
      o.rank = 1;
      o.dims[0] = 1 + pick(64);
      o.strides[0] = 1;
    }
    o.offset = pick(512) * sizeOf(o.dtype);
    return o;
  }

  Command command(int cores) {
    Command c{};
    c.opcode = Opcode::kBinary;
    c.engine = static_cast<Engine>(pick(kEnginesPerCore));
    c.core = static_cast<uint8_t>(pick(cores));
    c.operands[0] = operand(true);
    c.operands[1] = operand(false);
    if (pick(2))
      c.operands[2] = operand(false);
    return c;
  }

private:
  std::mt19937 random;
};

/// The program with the waits, nops where they are needed.
std::vector<Command> apply(const std::vector<Command> &program,
                           const WaitList &waits,
                           const std::vector<int64_t> &barriers,
                           std::vector<int64_t> &newBarriers) {
  std::vector<Command> result;
  for (size_t i = 0; i < program.size(); ++i) {
    for (int64_t barrier : barriers)
      if (barrier == static_cast<int64_t>(i))
        newBarriers.push_back(static_cast<int64_t>(result.size()));
    std::vector<Wait> rest = waits[i];
    Command nop{};
    nop.engine = program[i].engine;
    nop.core = program[i].core;
    for (; rest.size() > kMaxWaits;
         rest.erase(rest.begin(), rest.begin() + kMaxWaits)) {
      std::copy(rest.begin(), rest.begin() + kMaxWaits, nop.waits);
      nop.num_waits = kMaxWaits;
      result.push_back(nop);
    }
    result.push_back(program[i]);
    std::copy(rest.begin(), rest.end(), result.back().waits);
    result.back().num_waits = static_cast<uint8_t>(rest.size());
  }
  return result;
}

TEST(Waits, EnoughAndNoneTooMany) {
  int removed = 0, nops = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Generator generate(seed);
    int cores = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 2 : 8;
    std::vector<Command> program;
    for (int i = 0; i < 80; ++i)
      program.push_back(generate.command(cores));
    std::vector<int64_t> barriers, newBarriers;
    if (seed % 2)
      barriers = {20, 50};
    WaitList waits =
        deriveWaits(program.data(), program.size(), cores, barriers);
    auto scheduled = apply(program, waits, barriers, newBarriers);
    nops += scheduled.size() - program.size();
    absl::Status status =
        checkSchedule(scheduled.data(), scheduled.size(), cores, newBarriers);
    ASSERT_TRUE(status.ok()) << seed << ": " << status;
    for (Command &c : scheduled)
      for (int w = 0; w < c.num_waits; ++w) {
        Command whole = c;
        c.waits[w] = c.waits[--c.num_waits];
        EXPECT_FALSE(checkSchedule(scheduled.data(), scheduled.size(), cores,
                                   newBarriers)
                         .ok())
            << "seed " << seed << ", command " << &c - scheduled.data();
        c = whole;
        ++removed;
      }
  }
  EXPECT_GT(removed, 1000);
  EXPECT_GT(nops, 0);
}

} // namespace
} // namespace npu
