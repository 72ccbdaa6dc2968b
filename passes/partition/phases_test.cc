#include "passes/partition/Phases.h"

#include <gtest/gtest.h>

namespace npu {
namespace {

constexpr Place N = Place::kNpu, H = Place::kHost, E = Place::kEither;

TEST(Phases, OneSide) {
  EXPECT_EQ(assignPhases({}).npuPhases, 0);
  Phases p = assignPhases({{N, {}}, {N, {0}}});
  EXPECT_EQ(p.places, std::vector<Place>{N});
  EXPECT_EQ(assignPhases({{H, {}}, {H, {0}}}).npuPhases, 0);
}

TEST(Phases, ACutInTheMiddle) {
  Phases p = assignPhases({{N, {}}, {H, {0}}, {N, {1}}});
  EXPECT_EQ(p.npuPhases, 2);
  EXPECT_EQ(p.phase, (std::vector<int>{0, 1, 2}));
}

TEST(Phases, IndependentHostNodesShareATurn) {
  // Two branches, each NPU - host - NPU, listed one after the other.
  Phases p =
      assignPhases({{N, {}}, {H, {0}}, {N, {1}}, {N, {}}, {H, {3}}, {N, {4}}});
  EXPECT_EQ(p.npuPhases, 2);
  EXPECT_EQ(p.phase, (std::vector<int>{0, 1, 2, 0, 1, 2}));
}

TEST(Phases, TheHostGoesFirstWhereThatSavesATurn) {
  // A host node on an input, and the NPU after it; another NPU node is free.
  Phases p = assignPhases({{N, {}}, {H, {}}, {N, {0, 1}}});
  EXPECT_EQ(p.npuPhases, 1);
  EXPECT_EQ(p.places, (std::vector<Place>{H, N}));
}

TEST(Phases, MovementsFollowWhereThatSavesACut) {
  // host - reshape - host between two convolutions.
  Phases p = assignPhases({{N, {}}, {H, {0}}, {E, {1}}, {H, {2}}, {N, {3}}});
  EXPECT_EQ(p.npuPhases, 2);
  EXPECT_EQ(p.places[p.phase[2]], H);
}

TEST(Phases, MovementsStayWhereItDoesNot) {
  // conv - reshape - host - reshape - conv
  Phases p = assignPhases({{N, {}}, {E, {0}}, {H, {1}}, {E, {2}}, {N, {3}}});
  EXPECT_EQ(p.npuPhases, 2);
  EXPECT_EQ(p.places[p.phase[1]], N);
  EXPECT_EQ(p.places[p.phase[3]], N);
}

TEST(Phases, AMovementAloneIsNoReasonForASubgraph) {
  // host - reshape - out: all on the host.
  Phases p = assignPhases({{H, {}}, {E, {0}}});
  EXPECT_EQ(p.npuPhases, 0);
}

} // namespace
} // namespace npu
