// Ranks choose alike: virtual ranks, each with what it has read, measured and seen itself, through calls of all kinds.
// Each run has a seed; STRETTO_SEED=n runs one again, STRETTO_RUNS=n sets how many there are (at night a million).

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "conformance/checks.hpp"
#include "select/adaptation.hpp"
#include "select/earlier_runs.hpp"
#include "select/forecast.hpp"
#include "select/machine_file.hpp"
#include "select/node_rule.hpp"
#include "select/rules.hpp"
#include "select/rules_text.hpp"
#include "select/sight_view.hpp"
#include "select/tuned_rules.hpp"

namespace stretto {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random()) % bound; }
bool sometimes(Random& random, unsigned one_in) { return random() % one_in == 0; }

template <class Range>
auto one_of(Random& random, const Range& range) {
  return std::data(range)[below(random, std::size(range))];
}

const MeasuredOn kOn{"2026-11-27", "0.1.0", "any", "any", 2, 16, 4};
const KindOfCalls kLessons{Collective::allreduce, 10, 16, 4};

std::string random_rules(Random& random) {
  std::string text = kHead;
  constexpr const char* kArrivals[] = {"any", "even", "uneven"};
  for (std::size_t left = below(random, 6); left-- > 0;) {
    const Algorithm& algorithm = one_of(random, algorithms());
    text +=
        rule(std::string(name_of(algorithm.collective)), static_cast<int>(2 + below(random, 40)),
             static_cast<int>(1 + below(random, 4)), one_of(random, kArrivals),
             static_cast<int>(below(random, 1 << 20)), sometimes(random, 3) ? "native" : std::string(algorithm.name));
  }
  // A file that somebody has cut off, or written over.
  if (sometimes(random, 8)) text.resize(1 + below(random, text.size()));
  if (sometimes(random, 8)) text[below(random, text.size())] = static_cast<char>(random() % 128);
  return text;
}

Machine random_machine(Random& random) {
  Machine machine;
  for (const Level level : {Level::machine, Level::node}) {
    Link link;
    const auto latency_ns = static_cast<std::int64_t>(100 + below(random, 100'000));
    const auto byte_ps = static_cast<std::int64_t>(10 + below(random, 10'000));
    for (std::size_t i = 0; i < Curve::kLengths.size(); ++i) {
      link.message.ns[i] = latency_ns + static_cast<std::int64_t>(Curve::kLengths[i]) * byte_ps / 1000;
      link.gap.ns[i] = link.message.ns[i] / 2;
    }
    link.eager_bytes = std::int64_t{1} << below(random, 20);
    machine.know(level, link);
  }
  return machine;
}

Adaptation::Learnt random_lessons(Random& random) {
  Adaptation::Learnt learnt{.arrivals = static_cast<ArrivalClass>(below(random, kArrivalClasses)), .native_ns = 1e9};
  for (auto& known : learnt.classes) {
    for (MeanCost& cost : known.costs) {
      const auto ns = static_cast<double>(1 + below(random, 1'000'000));
      cost = MeanCost(
          {static_cast<double>(below(random, 300)), ns, ns / 2, static_cast<double>(below(random, 2000)) / 1e3});
    }
    known.native_ns = known.costs.front().summary().mean_ns;
    known.candidate = static_cast<int>(below(random, kCandidates));
  }
  return learnt;
}

// What all ranks have alike, because they have compared it in MPI_Init, or rank 0 has told them.
struct Agreed {
  explicit Agreed(Random& random)
      : ranks(static_cast<int>(2 + below(random, 30))),
        nodes(static_cast<int>(1 + below(random, static_cast<std::size_t>(ranks)))),
        rules(random_rules(random)),
        machine(write_machine({kOn, random_machine(random)})),
        lessons(write_earlier_runs({kOn, "program", {{kLessons, random_lessons(random)}}})),
        boards(nodes > 1 && sometimes(random, 2)),
        meets_soon(sometimes(random, 2)),
        one_clock(nodes == 1) {
    configuration.deterministic = sometimes(random, 4);
    constexpr Adapt kAdapts[] = {Adapt::off, Adapt::listen, Adapt::automatic, Adapt::watch, Adapt::on};
    configuration.adapt = one_of(random, kAdapts);
    if (sometimes(random, 8)) lessons.resize(1 + below(random, lessons.size()));
    for (const Algorithm& algorithm : algorithms()) {
      if (sometimes(random, 200)) configuration.choice(algorithm.collective) = {Choice::Kind::forced, &algorithm};
    }
  }

  int ranks;
  int nodes;
  Configuration configuration;
  std::string rules;    // the file's text
  std::string machine;  // the same
  std::string lessons;  // the same
  bool boards;          // nodes have memory
  bool meets_soon;
  bool one_clock;
};

constexpr Collective kCalled[] = {Collective::allreduce, Collective::bcast,
                                  Collective::gather,    Collective::reduce_scatter_block,
                                  Collective::alltoall,  Collective::allgatherv};
constexpr std::size_t kLengths[] = {8, 600, 40'000, 1 << 20};
constexpr std::size_t kKinds = std::size(kCalled) * std::size(kLengths);
Collective collective_of(std::size_t kind) { return kCalled[kind / std::size(kLengths)]; }
std::size_t bytes_of(std::size_t kind) { return kLengths[kind % std::size(kLengths)]; }

// What one rank has made of it by itself.
class VirtualRank {
 public:
  VirtualRank(const Agreed& agreed, std::uint64_t seed)
      : agreed_(agreed), random_(seed), clock_ahead_ns_(static_cast<std::int64_t>(below(random_, 1'000'000'000))) {
    std::string error;
    const TunedRules rules = read_rules(agreed.rules, "rules", error).rules;
    if (error.empty()) rules_ = rules.table_of(agreed.ranks, agreed.nodes);
    const MachineFile machine = read_machine(agreed.machine, "machine", error = "");
    const NodeLayout layout{agreed.ranks, agreed.nodes, Placement::side_by_side, agreed.boards};
    forecast_ = std::make_unique<Forecast>(machine.machine, layout, kBesideOpenMpi);
    const EarlierRuns lessons = read_earlier_runs(agreed.lessons, "lessons", error = "").runs;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const auto mode = adaptation_of(agreed.configuration, facts_of(kind, false)).value_or(Adaptation::Mode::listens);
      Adaptation& made = kinds_[kind].emplace(agreed.meets_soon ? Adaptation::kInMemory : Adaptation::kByMessages,
                                              agreed.meets_soon, mode);
      if (agreed.nodes == 1) {
        made.choose_among(node_candidates(collective_of(kind), bytes_of(kind), agreed.ranks), false);
      } else {
        made.choose_among(forecast_->places(collective_of(kind), bytes_of(kind)),
                          forecast_->goes_by_arrivals(collective_of(kind)));
      }
      if (mode == Adaptation::Mode::listens)
        made.expect_native(forecast_->native_ns(collective_of(kind), bytes_of(kind)));
      if (lessons.contains(kLessons)) made.recall(lessons.at(kLessons));
    }
  }

  CallFacts facts_of(std::size_t kind, bool uneven) const {
    CallFacts facts{collective_of(kind), bytes_of(kind),       4,     true, agreed_.ranks,
                    agreed_.nodes == 1,  std::size_t{1} << 24, uneven};
    if (agreed_.nodes > 1) facts.forecast = forecast_.get();
    if (rules_) facts.tuned = &*rules_;
    facts.shared_nodes = {agreed_.boards ? agreed_.nodes : 0, false, agreed_.boards};
    return facts;
  }

  // The name of what serves a call.
  std::string choose_for(std::size_t kind, bool uneven) {
    ask_for_itself();
    CallFacts facts = facts_of(kind, uneven);
    const Algorithm* chosen = choose(agreed_.configuration, facts);
    is_kept_ = chosen != nullptr && adaptation_of(agreed_.configuration, facts);
    if (!is_kept_) return chosen == nullptr ? "native" : std::string(chosen->name);
    catch_up(*kinds_[kind]);
    if (kinds_[kind]->arm() == Adaptation::Arm::native) return "native";
    facts.arrivals = kinds_[kind]->arrivals();
    facts.candidate = kinds_[kind]->candidate();
    chosen = choose(agreed_.configuration, facts);
    return chosen == nullptr ? "native" : std::string(chosen->name);
  }

  // It came, and left, by the clock of the world.
  void note(std::size_t kind, std::int64_t arrival_ns, std::int64_t exit_ns) {
    if (is_kept_ && quiet_ == 0 && kinds_[kind]->is_measured())
      seen_[kind].push_back({arrival_ns + clock_ahead_ns_, exit_ns + clock_ahead_ns_});
  }
  Adaptation::Due end(std::size_t kind, bool all_have_told) {
    if (!is_kept_) return Adaptation::Due::nothing;
    if (quiet_ > 0) {
      kinds_[kind]->skip(1);
      return Adaptation::Due::nothing;
    }
    return kinds_[kind]->pass(all_have_told);
  }
  // What it tells of the kind's calls: from when on it counts the others know as well as it does, on several nodes
  // nearly.
  std::vector<SightView> tell(std::size_t kind) {
    const auto wrong_ns = agreed_.one_clock ? 0 : static_cast<std::int64_t>(below(random_, 30'000));
    const std::int64_t believed_ns = clock_ahead_ns_ + wrong_ns;
    std::vector<SightView> told;
    for (const Sight& call : seen_[kind])
      told.push_back(SightView::of({call.arrival_ns - believed_ns, call.exit_ns - believed_ns}));
    seen_[kind].clear();
    return told;
  }
  void learn(std::size_t kind, const std::vector<SightView>& all, std::int64_t cost_ns) {
    std::vector<SeenCall> seen;
    const int may_leave = meets_all(collective_of(kind), bytes_of(kind)) ? 0 : agreed_.ranks;
    for (const SightView& call : all) seen.push_back(call.seen(agreed_.one_clock, may_leave));
    kinds_[kind]->learn(seen, cost_ns);
  }

 private:
  // Tables are filled as they are asked; which cells, and in which order, is each rank's own.
  void ask_for_itself() {
    if (!sometimes(random_, 4)) return;
    const Collective collective = one_of(random_, kCalled);
    forecast_->best(collective, below(random_, 1 << 21), sometimes(random_, 2),
                    static_cast<ArrivalClass>(below(random_, kArrivalClasses)));
    if (rules_) rules_->find(collective, below(random_, 1 << 21), sometimes(random_, 2));
  }
  // A call that is quiet may go the one way on this rank and the other on that one.
  void catch_up(Adaptation& kind) { quiet_ = kind.quiet() > 0 && sometimes(random_, 2) ? 1 : 0; }

  const Agreed& agreed_;
  Random random_;
  std::int64_t clock_ahead_ns_;
  std::optional<RuleTable> rules_;
  std::unique_ptr<Forecast> forecast_;
  std::array<std::optional<Adaptation>, kKinds> kinds_;
  std::array<std::vector<Sight>, kKinds> seen_;
  bool is_kept_ = false;
  int quiet_ = 0;
};

struct Told {
  std::vector<SightView> all;
  std::int64_t cost_ns = 0;
  int calls_ago = 0;
};

// What one has told and the other, in an order that a reduction may have.
void put_together(std::vector<SightView>& all, const std::vector<SightView>& theirs) {
  if (all.empty()) {
    all = theirs;
    return;
  }
  ASSERT_EQ(all.size(), theirs.size()) << "ranks have measured other calls";
  for (std::size_t call = 0; call < all.size(); ++call) all[call].add(theirs[call]);
}

void run(std::uint64_t seed, int calls) {
  Random random(seed);
  const Agreed agreed(random);
  std::vector<std::unique_ptr<VirtualRank>> ranks;
  for (std::size_t rank = 0; rank < 2 + below(random, 3); ++rank)
    ranks.push_back(std::make_unique<VirtualRank>(agreed, random()));
  std::array<Told, kKinds> told;
  std::size_t kind = below(random, kKinds);
  std::int64_t now_ns = 0;
  for (int call = 0; call < calls; ++call) {
    if (sometimes(random, 50)) kind = below(random, kKinds);
    const bool uneven = sometimes(random, 2);
    const std::string chosen = ranks.front()->choose_for(kind, uneven);
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
      ASSERT_EQ(ranks[rank]->choose_for(kind, uneven), chosen) << "STRETTO_SEED=" << seed << ", call " << call;
    const std::int64_t lag_ns = static_cast<std::int64_t>(1000 + below(random, 5000)) * (chosen == "native" ? 2 : 1);
    now_ns += 1'000'000;
    for (auto& rank : ranks) {
      const auto late_ns = static_cast<std::int64_t>(below(random, 100'000));
      rank->note(kind, now_ns + late_ns, now_ns + 100'000 + lag_ns + static_cast<std::int64_t>(below(random, 900)));
    }
    Told& of_kind = told[kind];
    const bool all_have_told = ++of_kind.calls_ago > (agreed.meets_soon ? 0 : 65);
    std::vector<Adaptation::Due> due;
    for (auto& rank : ranks) due.push_back(rank->end(kind, all_have_told));
    for (const Adaptation::Due each : due) ASSERT_EQ(each, due.front()) << "STRETTO_SEED=" << seed << ", call " << call;
    if (due.front() == Adaptation::Due::exchange) {
      of_kind = {{}, static_cast<std::int64_t>(below(random, 5000))};
      for (auto& rank : ranks) put_together(of_kind.all, rank->tell(kind));
    } else if (due.front() == Adaptation::Due::lesson) {
      for (auto& rank : ranks) rank->learn(kind, of_kind.all, of_kind.cost_ns);
    }
  }
}

TEST(Agreement, RanksChooseAlikeWhateverEachHasSeen) {
  const std::uint64_t runs = conformance::number_from("STRETTO_RUNS", conformance::is_brief() ? 100 : 2000);
  if (std::getenv("STRETTO_SEED") != nullptr) return run(conformance::number_from("STRETTO_SEED", 0), 200);
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    run(seed, seed % 10 == 0 ? 1000 : 30);  // long enough for lessons, or for many files and machines
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stretto
