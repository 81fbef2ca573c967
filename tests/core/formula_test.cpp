// Formulas of costs: the same tree is computed and printed.

#include "core/formula.hpp"

#include <gtest/gtest.h>

#include "catalogue/catalogue.hpp"
#include "catalogue/terms.hpp"

namespace stretto {
namespace {

using namespace letters;

TEST(Formula, IsPrintedAsPeopleWriteIt) {
  const std::pair<Formula, const char*> texts[] = {
      {log(P) * (alpha + n * beta + n * gamma), "log P (α + nβ + nγ)"},
      {2 * (P - 1) * alpha + 2 * n * beta + n * gamma, "2 (P - 1) α + 2nβ + nγ"},
      {(2 * P + m) * (alpha + 2 * n * beta / m), "(2P + m) (α + 2nβ/m)"},
      {(log(P) + m) * alpha + n * gamma / log(P), "(log P + m) α + nγ/(log P)"},
      {(depth + m * c) * (alpha + n * beta / m) + c * n * gamma, "(depth + m c) (α + nβ/m) + c nγ"},
      {3 * P * alpha + N * beta, "3P α + Nβ"},
      {P - (q - n), "P - (q - n)"},
      {alpha / (beta * gamma), "α/(β γ)"},
      {lambda, "λ"},
      {doubling(n) + e * beside(n), "log P (α + nβ) + e (α + nβ)"},
      {2 * halving(n) + n * gamma, "2 (log P α + nβ) + nγ"},
      {2 * around(n / P), "2 (P - 1) (α + nβ/P)"},
      {to_all(n) + to_all(0), "α + (P - 1) nβ + α"},
      {max(n / P, min(n, 2048)) * gamma, "max(n/P, min(n, 2048)) γ"},
      {from_last(n) + climbing(0), "log P (α + nβ)/2 + log P α"},
      {below(n / m) + (m - 1) * fan_below(n / m), "depth (α + nβ/m)/2 + (m - 1) nβ/m"},
      {queue(n) + (m - 1) * fan(n), "depth nβ + (m - 1) c nβ"},
      {deep(n / m) + w * n * max(beta, gamma), "depth (α + nβ/m) + w n max(β, γ)"},
      {{}, "0"}};
  for (const auto& [formula, text] : texts) EXPECT_EQ(formula.text(), text);
}

TEST(Formula, IsComputedForAMachine) {
  Terms terms;
  terms.ranks = 8;
  terms.ranks_per_node = 2;
  terms.bytes = 1000;
  terms.all_bytes = 8000;
  terms.alpha_ns = 2000;
  terms.beta_ns = 0.5;
  terms.gamma_ns = 0.25;
  terms.copy_ns = 0.125;
  terms.line_ns = 200;
  terms.segments = 4;
  terms.deep = {1, 2};
  terms.children = {0, 2};
  EXPECT_DOUBLE_EQ((log(P) * (alpha + n * beta + n * gamma)).value(terms), 3 * (2000 + 500 + 250));
  EXPECT_DOUBLE_EQ((2 * (P - 1) * alpha + 2 * n * beta).value(terms), 14 * 2000 + 1000);
  EXPECT_DOUBLE_EQ((N * kappa + q * lambda).value(terms), 1000 + 400);
  EXPECT_DOUBLE_EQ(((depth + m * c) * (alpha + n * beta / m)).value(terms), 11 * (2000 + 125));
  EXPECT_DOUBLE_EQ((n / m - 50).value(terms), 200);
  EXPECT_DOUBLE_EQ((min(n, 600) + max(n, 600)).value(terms), 1600);
  EXPECT_DOUBLE_EQ(Formula().value(terms), 0);
}

// Four nodes with four ranks each: a message within one takes 100 + 2 x, between two 1000 + 3 x.
TEST(Formula, WaysGoWithinNodesAndBetweenThem) {
  Terms terms;
  terms.ranks = 16;
  terms.ranks_per_node = 4;
  terms.alpha_ns = 1000;
  terms.beta_ns = 3;
  terms.near_alpha_ns = 100;
  terms.near_beta_ns = 2;
  terms.bytes = 64;
  terms.eager_bytes = 32;
  EXPECT_DOUBLE_EQ(beside(n).value(terms), 228);
  EXPECT_DOUBLE_EQ(any(n).value(terms), (3 * 228 + 12 * 1192) / 15.0);
  EXPECT_DOUBLE_EQ(pairs(n).value(terms), 1192);
  EXPECT_DOUBLE_EQ(doubling(n).value(terms), 2 * 228 + 2 * 1192);
  EXPECT_DOUBLE_EQ(climbing(n).value(terms), 2 * 228 + 2 * 1192);
  EXPECT_DOUBLE_EQ(spreading(n).value(terms), 228 + 3 * 1192);
  EXPECT_DOUBLE_EQ(halving(n).value(terms), 2 * 100 + (32 + 16) * 2 + 2 * 1000 + (8 + 4) * 3);
  EXPECT_DOUBLE_EQ(growing(n).value(terms), 2 * 100 + (4 + 8) * 2 + 2 * 1000 + (16 + 32) * 3);
  EXPECT_DOUBLE_EQ(around(n).value(terms), 15 * (1000 + 64 * 3));
  EXPECT_DOUBLE_EQ(to_all(n).value(terms), 1000 + 64 * (3 * 2 + 12 * 3));
  EXPECT_DOUBLE_EQ(from_last(n).value(terms), climbing(n).value(terms));
  EXPECT_DOUBLE_EQ(past_last(n).value(terms), 228 + 228 / 2.0 + 228 / 4.0 + 1192 / 8.0 + 1192 / 16.0);
  EXPECT_DOUBLE_EQ(w.value(terms), 1);
  EXPECT_DOUBLE_EQ(e.value(terms), 0);
}

TEST(Formula, WaysOfMessagesThatLeaveAtOnceOverlap) {
  Terms terms;
  terms.ranks = 6;
  terms.ranks_per_node = 1;
  terms.alpha_ns = 1000;
  terms.beta_ns = 3;
  terms.bytes = 8;
  terms.eager_bytes = 32;
  EXPECT_DOUBLE_EQ(climbing(n).value(terms), 2 * 1000 + 3 * 24);
  EXPECT_DOUBLE_EQ(around(n).value(terms), 5 * 1024);
  EXPECT_DOUBLE_EQ(from_last(n).value(terms), 3 * 512);
  EXPECT_DOUBLE_EQ(past_last(n).value(terms), 1024 * (1 / 2.0 + 1 / 4.0 + 1 / 8.0));
  EXPECT_DOUBLE_EQ(w.value(terms), 0);
  EXPECT_DOUBLE_EQ(e.value(terms), 1);
  terms.bytes = 64;
  EXPECT_DOUBLE_EQ(e.value(terms), 2);
}

// The same places in a tree: from the root one message within a node and two between nodes.
TEST(Formula, WaysInATreeAreWhatTheTermsSay) {
  Terms terms;
  terms.alpha_ns = 1000;
  terms.beta_ns = 3;
  terms.near_alpha_ns = 100;
  terms.near_beta_ns = 2;
  terms.gap_ns = 50;
  terms.near_gap_ns = 5;
  terms.deep = {1, 2};
  terms.queued = {0, 3};
  terms.children = {1, 4};
  terms.below = {0.5, 1};
  terms.wide_below = {0, 2};
  terms.above = {1, 0};
  terms.wide_above = {1, 0};
  terms.bytes = 10;
  EXPECT_DOUBLE_EQ(deep(n).value(terms), 120 + 2 * 1030);
  EXPECT_DOUBLE_EQ(queue(n).value(terms), 3 * 80);
  EXPECT_DOUBLE_EQ(fan(n).value(terms), 25 + 4 * 80);
  EXPECT_DOUBLE_EQ(below(n).value(terms), 60 + 1030);
  EXPECT_DOUBLE_EQ(fan_below(n).value(terms), 2 * 80);
  EXPECT_DOUBLE_EQ(above(n).value(terms), 120);
  EXPECT_DOUBLE_EQ(fan_above(n).value(terms), 25);
  EXPECT_DOUBLE_EQ((depth + c).value(terms), 3 + 5);
  EXPECT_DOUBLE_EQ(g.value(terms), 50);
  EXPECT_DOUBLE_EQ(s.value(terms), 0);
  terms.segments = 9;
  terms.sent_ahead = 8;
  EXPECT_DOUBLE_EQ((s + w).value(terms), 2);
}

// Where all ranks of four nodes send at once a byte takes four times as long; where one does it does not.
TEST(Formula, RanksOfANodeShareItsNetwork) {
  Terms terms;
  terms.ranks = 16;
  terms.ranks_per_node = 4;
  terms.beta_ns = 1;
  terms.near_beta_ns = 1;
  terms.crowded_beta_ns = 4;
  terms.bytes = 100;
  EXPECT_DOUBLE_EQ(doubling(n).value(terms), 2 * 100 + 2 * 400);
  EXPECT_DOUBLE_EQ(climbing(n).value(terms), 4 * 100);
  terms.crowded_beta_ns = 0;
  EXPECT_DOUBLE_EQ(doubling(n).value(terms), 4 * 100);
  terms.near_crowded_beta_ns = 3;
  EXPECT_DOUBLE_EQ(doubling(n).value(terms), 2 * 300 + 2 * 100) << "and its memory";
  EXPECT_DOUBLE_EQ(around(n).value(terms), 15 * 300);
  terms.crowded_beta_ns = 4;
  terms.gap_ns = 5;
  EXPECT_DOUBLE_EQ(to_all(n).value(terms), 100 * (3 * 3 + 12 * 4) + 14 * 5);
  terms.ranks = 1;
  EXPECT_DOUBLE_EQ(to_all(n).value(terms), 0);
}

// Four nodes that have a rank in turn: those of a node are 4, 8 and 12 apart.
TEST(Formula, RanksMayLieOnNodesInTurn) {
  Terms terms;
  terms.ranks = 16;
  terms.ranks_per_node = 4;
  terms.in_turn = 4;
  terms.alpha_ns = 1000;
  terms.near_alpha_ns = 100;
  terms.crowded_beta_ns = 4;
  EXPECT_DOUBLE_EQ(doubling(0).value(terms), 2 * 1000 + 2 * 100);
  EXPECT_DOUBLE_EQ(around(0).value(terms), 15 * 1000);
  EXPECT_DOUBLE_EQ(around(1).value(terms), 15 * 1004) << "all ranks of a node send at once";
}

TEST(Formula, EveryAlgorithmHasCosts) {
  for (const double ranks : {2.0, 8.0, 64.0}) {
    for (const double bytes : {8.0, 65536.0, 16777216.0}) {
      for (const Algorithm& algorithm : algorithms()) {
        Terms terms;
        terms.ranks = ranks;
        terms.ranks_per_node = 2;
        terms.bytes = bytes;
        terms.all_bytes = ranks * bytes;
        terms.alpha_ns = 2000;
        terms.near_alpha_ns = 500;
        terms.beta_ns = terms.near_beta_ns = terms.gamma_ns = terms.copy_ns = 0.1;
        terms.line_ns = 200;
        terms.eager_bytes = 4096;
        terms.segments = bytes > 1000 ? 16 : 1;
        if (!algorithm.is_on_board()) terms = CallTerms(terms, {}).of(algorithm, static_cast<std::size_t>(bytes));
        const double balanced = algorithm.balanced->value(terms);
        const double after_last = algorithm.after_last->value(terms);
        EXPECT_GT(after_last, 0) << name_of(algorithm.collective) << " " << algorithm.name;
        EXPECT_GT(balanced, 0) << name_of(algorithm.collective) << " " << algorithm.name;
        EXPECT_GT(algorithm.mean->value(terms), 0) << name_of(algorithm.collective) << " " << algorithm.name;
      }
    }
  }
}

}  // namespace
}  // namespace stretto
