// What is kept between runs comes back as it was, and what is no such file is refused.

#include "select/earlier_runs.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stretto {
namespace {

const KindOfCalls kShort{Collective::bcast, 0, 2, 1};
const KindOfCalls kLong{Collective::allreduce, 20, 16, 4};

Adaptation::Learnt learnt() {
  Adaptation::Learnt learnt{.arrivals = ArrivalClass::uneven, .native_ns = 3e9};
  learnt.classes[0] = {
      .costs = {MeanCost({.calls = 200, .mean_ns = 5321, .typical_ns = 5000, .spread = 0.25}), MeanCost()},
      .native_ns = 5321};
  learnt.classes[1] = {
      .costs = {MeanCost({.calls = 14, .mean_ns = 9000, .typical_ns = 8000, .spread = 0.5}),
                MeanCost({.calls = 100, .mean_ns = 4000, .typical_ns = 3500, .spread = 0.125}), MeanCost(),
                MeanCost({.calls = 30, .mean_ns = 3000, .typical_ns = 2500, .spread = 0.25})},
      .candidate = 2,
      .native_ns = 9000};
  return learnt;
}

EarlierRunsFile make_file() {
  EarlierRunsFile file;
  file.on = {"2026-11-27T00:00:00Z", "0.1.0", "Open MPI v4.1.4", "a CPU", 2, 16, 4};
  file.program = "/home/user/program";
  file.runs[kShort] = {};
  file.runs[kLong] = learnt();
  return file;
}

std::string text() { return write_earlier_runs(make_file()); }

std::string error_of(const std::string& text) {
  std::string error;
  read_earlier_runs(text, "r.toml", error);
  return error;
}

std::string replaced(const std::string& what, const std::string& by) {
  std::string changed = text();
  const std::size_t at = changed.rfind(what);
  EXPECT_NE(at, std::string::npos) << what << " is not in\n" << changed;
  return changed.replace(at, what.size(), by);
}

TEST(EarlierRuns, ComeBackAsTheyWere) {
  std::string error;
  const EarlierRunsFile read = read_earlier_runs(text(), "r.toml", error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(read.program, make_file().program);
  EXPECT_EQ(read.on.mpi, make_file().on.mpi);
  EXPECT_EQ(read.on.nodes, 4);
  ASSERT_EQ(read.runs.size(), 2);
  const Adaptation::Learnt& found = read.runs.at(kLong);
  EXPECT_EQ(found.arrivals, ArrivalClass::uneven);
  EXPECT_EQ(found.native_ns, 3e9);
  for (std::size_t at = 0; at < kArrivalClasses; ++at) {
    EXPECT_EQ(found.classes[at].native_ns, learnt().classes[at].native_ns);
    EXPECT_EQ(found.classes[at].candidate, learnt().classes[at].candidate);
    for (std::size_t arm = 0; arm < found.classes[at].costs.size(); ++arm) {
      const MeanCost::Summary has = found.classes[at].costs[arm].summary();
      const MeanCost::Summary had = learnt().classes[at].costs[arm].summary();
      EXPECT_EQ(has.calls, had.calls);
      EXPECT_NEAR(has.mean_ns, had.mean_ns, 0.5);
      EXPECT_NEAR(has.typical_ns, had.typical_ns, 0.5);
      EXPECT_NEAR(has.spread, had.spread, 0.001);
    }
  }
  EXPECT_EQ(write_earlier_runs(read), text());
}

TEST(EarlierRuns, WhatIsNoSuchFileIsRefused) {
  EXPECT_EQ(error_of(text()), "");
  EXPECT_NE(error_of(replaced("schema = 2", "schema = 3")).find("r.toml: schema: is 3, this Stretto reads 2"),
            std::string::npos);
  EXPECT_NE(error_of(replaced("'allreduce'", "'allreduces'")).find("kind.collective: is allreduces"),
            std::string::npos);
  EXPECT_NE(error_of(replaced("'uneven'", "'late'")).find("kind.arrivals: must be"), std::string::npos);
  EXPECT_NE(error_of(replaced("524288", "524287")).find("kind.from_bytes: must be 0 or a power of two"),
            std::string::npos);
  EXPECT_NE(error_of(replaced("nodes = 4", "nodes = 17")).find("nodes"), std::string::npos);
  EXPECT_NE(error_of(replaced("candidate = 2", "candidate = 3")).find("candidate: must be"), std::string::npos);
  EXPECT_NE(error_of(replaced("spread_permille", "spread")).find("spread"), std::string::npos);
  EXPECT_NE(error_of(replaced("mean_ns = 5321", "mean_ns = -1")).find("mean_ns: must be a whole number"),
            std::string::npos);
  EXPECT_NE(error_of("schema = 2").find("measured: is missing"), std::string::npos);
  EXPECT_NE(error_of("[[").find("r.toml, line 1: no TOML"), std::string::npos);
}

// Whatever is cut off or changed: an error, or a file that can be used.
TEST(EarlierRuns, NoTextBreaksTheReader) {
  const std::string whole = text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::string error;
    const EarlierRunsFile cut = read_earlier_runs(whole.substr(0, length), "r.toml", error);
    for (const auto& [kind, learnt] : cut.runs) {
      Adaptation adaptation(1);
      adaptation.recall(learnt);
    }
  }
}

}  // namespace
}  // namespace stretto
