#include "select/seeded_program.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace stretto {

Outcome run(const std::vector<Pattern>& patterns, std::uint64_t seed, const Setting& setting) {
  const double deviation = setting.deviation;
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> noise(-deviation * deviation / 2, deviation);  // mean 1
  std::bernoulli_distribution preempted(0.005);
  std::bernoulli_distribution dear(setting.burst.often);
  Adaptation adaptation = setting.adaptation;
  std::vector<SeenCall> seen, told;
  std::vector<int> calls_under(patterns.size());
  std::size_t pattern = 0;
  double native = 0, played = 0, best = 0, excess = 0;
  Outcome outcome;
  for (int call = 0; call < kCalls; ++call) {
    if (call % kSame == 0) pattern = random() % patterns.size();
    const Pattern& now = patterns[pattern];
    const Burst& burst = setting.burst;
    const bool busy = call >= burst.from && call - burst.from < burst.calls && dear(random);
    const double drift = (1 + setting.drifts * std::sin(call / 300.0)) * (busy ? burst.times : 1);
    const double native_takes = drift * now.native_ns;
    const auto candidate = static_cast<std::size_t>(adaptation.candidate());
    const double ours_takes = candidate == 0 ? now.ours_ns : now.rivals_ns.at(candidate - 1);
    const double takes = adaptation.arm() == Adaptation::Arm::ours ? drift * ours_takes : native_takes;
    if (adaptation.is_measured()) {
      const double seen_ns = takes * noise(random) * (preempted(random) ? 30 : 1);
      seen.push_back({static_cast<std::int64_t>(now.skew_ns * noise(random)), static_cast<std::int64_t>(seen_ns)});
    }
    native += native_takes;
    played += takes;
    double least = std::min(now.native_ns, now.ours_ns);
    for (const double rival_ns : now.rivals_ns) least = std::min(least, rival_ns);
    best += drift * least;
    if (call + 1 == 100) outcome.early_ours = adaptation.ours();
    const double more = takes - native_takes;
    excess += ++calls_under[pattern] > kUncounted ? more : std::min(more, 0.0);
    outcome.worst = std::max(outcome.worst, 1 + excess / native);
    switch (adaptation.pass(true)) {
      case Adaptation::Due::nothing:
        break;
      case Adaptation::Due::exchange:
        told.swap(seen);
        seen.clear();
        break;
      case Adaptation::Due::lesson:
        adaptation.learn(told, setting.lesson_ns);
        break;
    }
  }
  outcome.played = played / native;
  outcome.oracle = best / native;
  outcome.ours = adaptation.ours();
  outcome.learnt = adaptation.learnt();
  outcome.saved_ns = native - played;
  outcome.native_ns = native;
  outcome.says = adaptation.savings();
  return outcome;
}

}  // namespace stretto
