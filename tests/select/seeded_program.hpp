// Seeded programs of 10 000 calls, whose arrivals change every 500; what native and Stretto's algorithm take under each
// pattern is given, with noise, and hidden from the one that chooses.
#pragma once

#include <cstdint>
#include <vector>

#include "select/adaptation.hpp"

namespace stretto {

inline constexpr int kCalls = 10'000;
inline constexpr int kSame = 500;  // calls

// How ranks arrive, and what calls then take.
struct Pattern {
  double skew_ns;
  double native_ns;
  double ours_ns;
  std::vector<double> rivals_ns{};  // what Stretto's other candidates take
};

struct Outcome {
  double played = 0;  // of what native takes, in all
  double oracle = 0;  // the same of the better arm in each pattern
  double worst = 0;   // played so far to native so far, at the worst moment
  std::int64_t ours = 0;
  std::int64_t early_ours = 0;  // of the first 100 calls
  Adaptation::Learnt learnt;
  double saved_ns = 0;  // by which all calls cost less than native
  double native_ns = 0;
  Adaptation::Savings says;
};

// What the first calls under each pattern cost more is not counted in `worst`: there it is learnt what they cost.
inline constexpr int kUncounted = 100;

// Ranks that share their memory learn soon, others later.
inline constexpr int kSoon = Adaptation::kInMemory;
inline constexpr int kLater = Adaptation::kByMessages;

// Something else takes the cores: for a while most calls, whatever serves them, are as many times as dear.
struct Burst {
  int from = 0;  // call
  int calls = 0;
  double often = 0.9;
  double times = 30;
};

// How the calls are, and what chooses.
struct Setting {
  Adaptation adaptation{kSoon};
  double deviation = 0.3;  // of the logarithm of what calls take
  double drifts = 0;       // by which part native and ours become slower and faster together, all the time
  std::int64_t lesson_ns = 500;
  Burst burst{};
};

Outcome run(const std::vector<Pattern>& patterns, std::uint64_t seed, const Setting& setting = {});

inline constexpr int kSeeds = 100;

inline Adaptation among_three(int learn_after = kSoon) {
  Adaptation adaptation(learn_after, learn_after == kSoon);
  adaptation.choose_among({3, 3, 3}, false);
  return adaptation;
}

}  // namespace stretto
