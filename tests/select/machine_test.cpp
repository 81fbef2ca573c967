// Machines: curves, what is taken where something was not measured, and their files.

#include "select/machine.hpp"

#include <gtest/gtest.h>

#include <string>

#include "select/machine_file.hpp"

namespace stretto {
namespace {

// a + b n, in ns; b per byte.
Curve line(std::int64_t a, std::int64_t b) {
  Curve curve;
  for (std::size_t i = 0; i < curve.ns.size(); ++i) curve.ns[i] = a + b * static_cast<std::int64_t>(Curve::kLengths[i]);
  return curve;
}

Machine example() {
  Machine machine;
  machine.know(Level::node, {line(500, 2), line(90, 1), 4096});
  machine.know(Level::machine, {line(20'000, 9), line(400, 8), 65'536});
  machine.works[0] = {1, line(1, 3), line(2, 5)};
  machine.works[1] = {4, line(1, 7), line(2, 11)};
  machine.crowded = {30'000, 16'000, 2'000, 400};
  machine.line_ns = 200;
  machine.wake_ns = 7'000;
  machine.call_ns = 40;
  return machine;
}

TEST(Curve, IsALineBetweenWhatIsKnown) {
  Curve curve;
  curve.ns = {10, 10, 458, 1000, 2000, 3000, 4000, 5000};
  EXPECT_EQ(curve.at(0), 10);
  EXPECT_EQ(curve.at(8), 10);
  EXPECT_EQ(curve.at(64), 10);
  EXPECT_EQ(curve.at(64 + 56), 10 + 56);
  EXPECT_EQ(curve.at(512), 458);
  EXPECT_EQ(curve.at(16 << 20), 5000);
  EXPECT_EQ(curve.slope_ps(100), 1000);
}

TEST(Curve, GoesOnAsTheLastTwo) {
  const Curve straight = line(100, 3);
  Curve known = straight;
  known.ns[6] = known.ns[7] = 0;
  known.extend_from(6);
  EXPECT_EQ(known.ns, straight.ns);
  EXPECT_EQ(straight.at(std::size_t{64} << 20), 100 + 3 * (std::int64_t{64} << 20));
  Curve falling;
  falling.ns = {50, 40, 0, 0, 0, 0, 0, 0};
  falling.extend_from(2);
  EXPECT_EQ(falling.at(1 << 20), 40) << "no time falls below what shorter ones take";
}

TEST(Curve, IsALineThroughTwo) {
  Curve curve;
  curve.ns[0] = 1'000;
  curve.ns[4] = 1'000 + 2 * ((32 << 10) - 8);
  curve.straighten(4);
  EXPECT_EQ(curve.at(8), 1'000);
  EXPECT_EQ(curve.at(4 << 10), 1'000 + 2 * ((4 << 10) - 8));
  EXPECT_EQ(curve.slope_ps(16 << 20), 2'000);
  curve.ns[4] = 900;
  curve.straighten(4);
  EXPECT_EQ(curve.at(1 << 20), 1'000) << "longer messages take no less";
}

TEST(Machine, TakesTheNearestLinkFurtherOutFirst) {
  const Machine machine = example();
  EXPECT_EQ(machine.link(Level::core)->eager_bytes, 4096);
  EXPECT_EQ(machine.link(Level::node)->eager_bytes, 4096);
  EXPECT_EQ(machine.link(Level::network_switch)->eager_bytes, 65'536);
  Machine inside;
  inside.know(Level::l3_cache, {line(1, 1), line(1, 1), 1});
  EXPECT_EQ(inside.link(Level::machine)->eager_bytes, 1);
  EXPECT_EQ(Machine{}.link(Level::node), nullptr);
}

TEST(Machine, TakesTheCrowdBelow) {
  const Machine machine = example();
  EXPECT_EQ(machine.work(1)->cores, 1);
  EXPECT_EQ(machine.work(3)->cores, 1);
  EXPECT_EQ(machine.work(100)->cores, 4);
  EXPECT_EQ(Machine{}.work(1), nullptr);
}

TEST(Machine, CostsAreOfTheLevelAndTheLength) {
  const Costs costs = example().costs(Level::machine, 64 << 10);
  EXPECT_EQ(costs.alpha_ns, 30'000);
  EXPECT_EQ(example().costs(Level::node, 8).alpha_ns, 516) << "the others are on other nodes";
  Machine quiet = example();
  quiet.crowded = {};
  EXPECT_EQ(quiet.costs(Level::machine, 8).alpha_ns, 20'072);
  EXPECT_EQ(costs.beta_ps_per_byte, 9'000);
  EXPECT_EQ(costs.gamma_ps_per_byte, 5'000);
  const Costs unknown = Machine{}.costs(Level::node, 8);
  EXPECT_EQ(unknown.alpha_ns, Costs{}.alpha_ns);
}

TEST(MachineFile, IsReadAsItWasWritten) {
  const MachineFile file{{"2026-11-25T09:00:00Z", "0.1.0", "Open MPI v4.1.4", "Xeon \"A\"", 2, 4, 1}, example()};
  const std::string text = write_machine(file);
  std::string error;
  const MachineFile read = read_machine(text, "machine.toml", error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(write_machine(read), text);
  EXPECT_EQ(read.on.cpu, "Xeon \"A\"");
  EXPECT_EQ(read.machine.link(Level::machine)->message.ns, example().link(Level::machine)->message.ns);
  EXPECT_EQ(read.machine.works[1].reduce.ns, example().works[1].reduce.ns);
  EXPECT_EQ(read.machine.wake_ns, 7'000);
  EXPECT_EQ(read.machine.crowded.message_ns, 30'000);
  EXPECT_EQ(read.machine.crowded.byte_ps, 16'000);
  EXPECT_EQ(read.machine.crowded.near_message_ns, 2'000);
  EXPECT_EQ(read.machine.crowded.near_byte_ps, 400);
}

TEST(MachineFile, WhatIsWrongIsNamed) {
  struct Case {
    std::string_view replaced, by, said;
  };
  const std::string right = write_machine({{"d", "v", "m", "c", 2, 4, 1}, example()});
  for (const auto& [replaced, by, said] : std::initializer_list<Case>{
           {"schema = 1", "schema = 2", "m.toml: schema: is 2, this Stretto reads 1: measure again"},
           {"schema = 1", "schema = 'one'", "m.toml: schema: must be a whole number"},
           {"schema = 1", "schema", "no TOML"},
           {"lengths = [ 8,", "lengths = [ 9,", "m.toml: lengths: must be those of schema 1"},
           {"eager_bytes = 4096", "eager_bytes = -1", "m.toml: link.node.eager_bytes: must be a whole number from 0"},
           {"eager_bytes = 4096", "eagr_bytes = 1", "m.toml: link.node.eager_bytes: is missing"},
           {"[link.node]", "[link.nodes]", "m.toml: link.nodes: is not known here"},
           {"gap_ns = [ 98,", "gap_ns = [", "m.toml: link.node.gap_ns: must be a list of 8 numbers"},
           {"gap_ns = [ 98,", "gap_ns = [ 98.5,", "m.toml: link.node.gap_ns: must hold whole numbers"},
           {"byte_ps = 16000", "byte_ps = -1", "m.toml: crowded.byte_ps: must be a whole number from 0"},
           {"cores = 4", "cores = 1", "m.toml: work.cores: must rise"},
           {"[times]", "[time]", "m.toml: times: is missing"},
           {"wake_ns = 7000", "wake_ns = 7000\nslep_ns = 1", "m.toml: times.slep_ns: is not known here"},
           {"cpu = 'c'", "cpu = 3", "m.toml: measured.cpu: must be a text"}}) {
    std::string text = right;
    const std::size_t at = text.find(replaced);
    ASSERT_NE(at, std::string::npos) << replaced << " in " << text;
    text.replace(at, replaced.size(), by);
    std::string error;
    read_machine(text, "m.toml", error);
    EXPECT_NE(error.find(said), std::string::npos) << by << ": " << error;
  }
}

}  // namespace
}  // namespace stretto
