// Rules of a file: which of them counts, and what files are refused.

#include "select/tuned_rules.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "select/forecast.hpp"
#include "select/gigabit.hpp"
#include "select/rules.hpp"
#include "select/rules_text.hpp"

namespace stretto {
namespace {

std::string error_of(const std::string& text) {
  std::string error;
  read_rules(text, "r.toml", error);
  return error;
}

TunedRules rules_of(const std::string& text) {
  std::string error;
  TunedRules rules = read_rules(kHead + text, "r.toml", error).rules;
  EXPECT_EQ(error, "");
  return rules;
}

// Its name; "default" where no rule counts.
std::string found(const RuleTable& table, Collective collective, std::size_t bytes, bool uneven = false) {
  const Choice choice = table.find(collective, bytes, uneven).nearest;
  if (choice.kind == Choice::Kind::by_rule) return "default";
  return choice.kind == Choice::Kind::native ? "native" : std::string(choice.algorithm->name);
}

TEST(TunedRules, EachCountsFromItsLengthOn) {
  const RuleTable table =
      rules_of(rule("allreduce", 8, 1, "any", 4096, "ring") + rule("allreduce", 8, 1, "any", 1 << 20, "native") +
               rule("allreduce", 8, 1, "any", 512, "arrival_tree"))
          .table_of(8, 1);
  EXPECT_EQ(found(table, Collective::allreduce, 0), "default");
  EXPECT_EQ(found(table, Collective::allreduce, 511), "default");
  EXPECT_EQ(found(table, Collective::allreduce, 512), "arrival_tree");
  EXPECT_EQ(found(table, Collective::allreduce, 4095), "arrival_tree");
  EXPECT_EQ(found(table, Collective::allreduce, 4096), "ring");
  EXPECT_EQ(found(table, Collective::allreduce, (1 << 20) - 1), "ring");
  EXPECT_EQ(found(table, Collective::allreduce, 1 << 20), "native");
  EXPECT_EQ(found(table, Collective::allreduce, std::numeric_limits<std::size_t>::max()), "native");
  EXPECT_EQ(found(table, Collective::bcast, 1 << 20), "default") << "of which nothing was measured";
}

TEST(TunedRules, ArrivalsAreToldApart) {
  const RuleTable table =
      rules_of(rule("allreduce", 8, 1, "even", 0, "ring") + rule("allreduce", 8, 1, "uneven", 0, "arrival_tree") +
               rule("bcast", 8, 1, "any", 0, "binomial"))
          .table_of(8, 1);
  EXPECT_EQ(found(table, Collective::allreduce, 8, false), "ring");
  EXPECT_EQ(found(table, Collective::allreduce, 8, true), "arrival_tree");
  EXPECT_EQ(found(table, Collective::bcast, 8, false), "binomial");
  EXPECT_EQ(found(table, Collective::bcast, 8, true), "binomial");
}

TEST(TunedRules, TheNearestRanksCountAndFarOnesDoNot) {
  const TunedRules rules =
      rules_of(rule("bcast", 4, 1, "any", 0, "binomial") + rule("bcast", 16, 1, "any", 0, "native") +
               rule("bcast", 8, 8, "any", 0, "event_chain") + rule("bcast", 16, 4, "any", 0, "event_binary"));
  const auto of = [&](int ranks, int nodes) { return found(rules.table_of(ranks, nodes), Collective::bcast, 8); };
  EXPECT_EQ(of(2, 1), "binomial");
  EXPECT_EQ(of(4, 1), "binomial");
  EXPECT_EQ(of(7, 1), "binomial");
  EXPECT_EQ(of(8, 1), "binomial") << "as far from either: the lower one";
  EXPECT_EQ(of(9, 1), "native");
  EXPECT_EQ(of(32, 1), "native");
  EXPECT_EQ(of(33, 1), "default") << "more than twice as many";
  EXPECT_EQ(of(4, 4), "event_chain");
  EXPECT_EQ(of(16, 16), "event_chain");
  EXPECT_EQ(of(3, 3), "default");
  EXPECT_EQ(of(16, 4), "event_binary");
  EXPECT_EQ(of(32, 4), "event_binary");
  EXPECT_EQ(of(32, 8), "event_binary");
  EXPECT_EQ(of(16, 8), "event_binary");
  EXPECT_EQ(of(32, 2), "default") << "four times as many a node";
  EXPECT_EQ(of(64, 4), "default");
}

// In a sweep over ranks and lengths what counts changes only where it has to: once between two that were measured.
TEST(TunedRules, ThereAreNoCliffsButThoseBetweenWhatWasMeasured) {
  const TunedRules rules =
      rules_of(rule("bcast", 4, 1, "any", 0, "binomial") + rule("bcast", 16, 1, "any", 0, "native") +
               rule("bcast", 64, 1, "any", 0, "event_chain") + rule("bcast", 4, 1, "any", 1 << 16, "arrival_copy"));
  int changes = 0;
  std::string before = found(rules.table_of(2, 1), Collective::bcast, 8);
  for (int ranks = 3; ranks <= 64; ++ranks) {
    const RuleTable table = rules.table_of(ranks, 1);
    const std::string here = found(table, Collective::bcast, 8);
    changes += here != before ? 1 : 0;
    before = here;
    for (std::size_t power = 2; power <= 1 << 24; power <<= 1) {
      const bool is_step = ranks <= 8 && power == 1 << 16;
      EXPECT_EQ(found(table, Collective::bcast, power - 1) == found(table, Collective::bcast, power), !is_step);
      EXPECT_EQ(found(table, Collective::bcast, power), found(table, Collective::bcast, power + 1));
    }
  }
  EXPECT_EQ(changes, 2);
}

TEST(TunedRules, TheyComeBeforeTheDefaultAndBehindWhatIsForced) {
  const TunedRules rules =
      rules_of(rule("allreduce", 8, 1, "any", 0, "ring") + rule("allreduce", 8, 1, "any", 64, "native") +
               rule("allreduce", 8, 1, "any", 4096, "arrival_tree"));
  const RuleTable table = rules.table_of(8, 1);
  Configuration configuration;
  CallFacts facts{Collective::allreduce, 8, 4, true, 8, true, std::size_t{1} << 20, false};
  facts.tuned = &table;
  EXPECT_EQ(choose(configuration, facts), find_algorithm(Collective::allreduce, "ring"));
  facts.bytes = 64;
  EXPECT_EQ(choose(configuration, facts), nullptr);
  facts.bytes = 4096;
  EXPECT_EQ(choose(configuration, facts)->name, "arrival_tree");
  facts.commutative = false;
  const Algorithm* const in_order = choose(configuration, facts);
  ASSERT_NE(in_order, nullptr);
  EXPECT_TRUE(can_serve(*in_order, facts));
  facts.bytes = 64;
  configuration.deterministic = true;
  ASSERT_NE(choose(configuration, facts), nullptr) << "the library's own may not be";
  EXPECT_TRUE(choose(configuration, facts)->deterministic);
  configuration.deterministic = false;
  configuration.choice(Collective::allreduce) = *parse_choice(Collective::allreduce, "recursive_doubling");
  EXPECT_EQ(choose(configuration, facts)->name, "recursive_doubling");
}

TEST(TunedRules, WhatWasMeasuredIsNotTriedAnewUnlessAskedFor) {
  using Mode = Adaptation::Mode;
  const TunedRules rules =
      rules_of(rule("reduce", 16, 16, "any", 0, "event_linear") + rule("reduce", 16, 16, "any", 4096, "default") +
               rule("bcast", 16, 16, "any", 0, "default"));
  Configuration configuration;
  Forecast forecast(gigabit({16, 16}), {16, 16}, kBesideOpenMpi);
  CallFacts facts{Collective::reduce, 8, 4, true, 16, false, 0, false};
  facts.forecast = &forecast;
  EXPECT_EQ(adaptation_of(configuration, facts), Mode::chooses);
  const RuleTable near = rules.table_of(12, 12);
  facts.tuned = &near;
  EXPECT_EQ(adaptation_of(configuration, facts), Mode::chooses) << "of other ranks";
  const RuleTable own = rules.table_of(16, 16);
  facts.tuned = &own;
  for (const std::size_t bytes : {8, 4096}) {
    facts.bytes = bytes;
    EXPECT_EQ(adaptation_of(configuration, facts), std::nullopt);
  }
  facts.collective = Collective::bcast;
  EXPECT_EQ(adaptation_of(configuration, facts), Mode::listens) << "for who comes late, as it was measured";
  facts.collective = Collective::allreduce;
  EXPECT_EQ(adaptation_of(configuration, facts), Mode::chooses) << "which was not";
  facts.collective = Collective::reduce;
  configuration.adapt = Adapt::on;
  EXPECT_EQ(adaptation_of(configuration, facts), Mode::chooses);
}

TEST(TunedRules, WhatTheyNameMayServe) {
  Configuration configuration;
  EXPECT_FALSE(may_serve(configuration, Collective::alltoallv));
  configuration.rules = std::make_shared<const TunedRules>(rules_of(rule("alltoallv", 8, 1, "any", 0, "native")));
  EXPECT_FALSE(may_serve(configuration, Collective::alltoallv));
  configuration.rules = std::make_shared<const TunedRules>(rules_of(rule("alltoallv", 8, 1, "any", 0, "pairwise")));
  EXPECT_TRUE(may_serve(configuration, Collective::alltoallv));
}

TEST(TunedRules, FilesThatAreNoneAreRefused) {
  EXPECT_EQ(error_of(kHead), "r.toml: rule: is missing");
  EXPECT_NE(error_of("schema = 1\nrule = 3").find("measured: is missing"), std::string::npos);
  EXPECT_NE(error_of("schema = 2").find("r.toml: schema: is 2, this Stretto reads 1: measure again"),
            std::string::npos);
  EXPECT_NE(error_of("schema").find("r.toml, line 1: no TOML"), std::string::npos);
  EXPECT_EQ(error_of("[!rule]"), "r.toml: no TOML") << "which toml++ 3.3 does not see coming";
  const auto refuses = [](const std::string& text, const std::string& said) {
    EXPECT_NE(error_of(kHead + text).find(said), std::string::npos) << error_of(kHead + text);
  };
  refuses(rule("allreduze", 8, 1, "any", 0, "ring"), "r.toml: rule.collective: is allreduze");
  refuses(rule("allreduce", 8, 1, "any", 0, "rong"), "rule.algorithm: is rong; choose default, native, ");
  refuses(rule("allreduce", 1, 1, "any", 0, "ring"), "rule.ranks: must be a whole number from 2");
  refuses(rule("allreduce", 8, 9, "any", 0, "ring"), "rule.nodes: must be a whole number from 1 to 8");
  refuses(rule("allreduce", 8, 1, "odd", 0, "ring"), "rule.arrivals: is odd; it must be even, uneven or any");
  refuses(rule("allreduce", 8, 1, "any", -1, "ring"), "rule.from_bytes: must be a whole number from 0");
  refuses(rule("allreduce", 8, 1, "any", 0, "ring") + "speed = 3\n", "rule.speed: is not known here");
  refuses(rule("allreduce", 8, 1, "any", 0, "ring") + rule("allreduce", 8, 1, "any", 0, "native"),
          "rule.from_bytes: is that of an earlier rule for the same calls");
}

}  // namespace
}  // namespace stretto
