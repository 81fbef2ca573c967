#include "select/rules.hpp"

#include "select/forecast.hpp"
#include "select/node_rule.hpp"
#include "select/tuned_rules.hpp"

namespace stretto {
namespace {

constexpr std::size_t kKiB = 1024;

// The algorithms that the rule knows, looked up by name once.
struct Named {
  const Algorithm* recursive_doubling = find_algorithm(Collective::allreduce, "recursive_doubling");
  const Algorithm* reduce_binomial = find_algorithm(Collective::reduce, "binomial");
  const Algorithm* bcast_binomial = find_algorithm(Collective::bcast, "binomial");
  const Algorithm* dissemination = find_algorithm(Collective::barrier, "dissemination");
  const Algorithm* announced_linear = find_algorithm(Collective::scatter, "announced_linear");
  const Algorithm* reduce_scatter_block_pairwise = find_algorithm(Collective::reduce_scatter_block, "pairwise");
  const Algorithm* reduce_scatter_pairwise = find_algorithm(Collective::reduce_scatter, "pairwise");
  const Algorithm* gather_background = find_algorithm(Collective::gather, "background_linear_nonblocking");
};
const Named& known() {
  static const Named algorithms;
  return algorithms;
}

// Between nodes, where prediction does not tell one linear algorithm from another (stretto bench, 8 emulated nodes at 1
// gbit, Open MPI 4.1). Of a scatter's long blocks the root sends one after the other, to whoever has announced itself,
// so that most ranks leave earlier: mean times 0.73 of native's with 64 KiB and 0.77 with 128 KiB, where all at once
// take 0.86, and 1.0 with 1 MiB against 1.4. It costs more than it brings where blocks need not wait for their
// receivers, 1.1 to 2 of 32 KiB, and where announcing takes as long as the block, 1.3 to 1.6 of 64 KiB at 10 gbit; all
// at once, on a wire that they share, take 1.1 to 1.3 there. Long blocks of a gather find no room on the way, and all
// ranks leave at the end: mean times are 0.43 to 0.76 of native's from 32 to 512 KiB, 1.7 of 1 MiB, 2.1 of 4 MiB.
constexpr std::size_t kLongestGather = 512 * kKiB;
// From here on blocks that a thread has taken in the background save more than they cost.
constexpr std::size_t kBackgroundFrom = 32 * kKiB;

// A background thread costs the program CPU time, so it has to be asked for (STRETTO_BACKGROUND=thread). Then a late
// root finds the blocks of its gather there. A scatter's data is not there before its root.
const Algorithm* rule_between_nodes(const CallFacts& facts, bool background) {
  const bool gathers = facts.collective == Collective::gather;
  if (gathers && background && facts.bytes >= kBackgroundFrom) return known().gather_background;
  if (facts.forecast == nullptr || (gathers && facts.bytes > kLongestGather)) return nullptr;
  const Algorithm* const best =
      facts.forecast->best(facts.collective, facts.bytes, facts.commutative, facts.arrivals, facts.candidate);
  if (best == nullptr || facts.collective != Collective::scatter) return best;
  if (facts.forecast->leaves_at_once(facts.bytes)) return best;
  return facts.forecast->fills_wire(facts.bytes) ? known().announced_linear : nullptr;
}

// The default rule; nullptr is the MPI library's own.
const Algorithm* rule(const CallFacts& facts, bool background) {
  return facts.shared_memory ? node_rule(facts) : rule_between_nodes(facts, background);
}

// Whether the rule may name an algorithm.
bool rule_may_serve(Collective collective, std::size_t bytes, int ranks, bool one_node) {
  switch (collective) {
    case Collective::scatterv:
    case Collective::gatherv:
    case Collective::alltoallv:
      return false;  // no rank knows the lengths of all blocks
    default:
      return !one_node || node_rule_may_serve(collective, bytes, ranks);
  }
}

// Whether its tree is laid out by where ranks are.
bool has_places(const Algorithm& algorithm) { return algorithm.shape != nullptr && *algorithm.shape == kByPlaces; }

// Native algorithms may depend on timing; these do not.
const Algorithm* steady(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return known().recursive_doubling;
    case Collective::reduce:
      return known().reduce_binomial;
    case Collective::bcast:
      return known().bcast_binomial;
    case Collective::barrier:
      return known().dissemination;
    case Collective::scatter:
    case Collective::gather:
    case Collective::scatterv:
    case Collective::gatherv:
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::alltoall:
    case Collective::alltoallv:
      return nullptr;  // data are only moved
    case Collective::reduce_scatter_block:
      return known().reduce_scatter_block_pairwise;
    case Collective::reduce_scatter:
      return known().reduce_scatter_pairwise;
  }
  return nullptr;
}

}  // namespace

bool may_serve(const Configuration& configuration, Collective collective, std::size_t bytes, int ranks, bool one_node) {
  switch (configuration.choice(collective).kind) {
    case Choice::Kind::native:
      return false;
    case Choice::Kind::forced:
      return true;
    case Choice::Kind::by_rule:
      return rule_may_serve(collective, bytes, ranks, one_node) ||
             (configuration.deterministic && steady(collective) != nullptr) ||
             (configuration.rules != nullptr && configuration.rules->may_serve(collective));
  }
  return false;
}

namespace {

// Whether a rules file tells what serves such calls of these very ranks.
bool was_measured(const CallFacts& facts) {
  return facts.tuned != nullptr && facts.tuned->find(facts.collective, facts.bytes, facts.uneven).exact;
}

bool adapts_between_nodes(Adapt adapt, const Forecast& forecast, Collective collective) {
  return adapt >= Adapt::automatic || (adapt == Adapt::listen && forecast.goes_by_arrivals(collective));
}

Adaptation::Mode mode_of(Adapt adapt) {
  switch (adapt) {
    case Adapt::automatic:
    case Adapt::on:
      return Adaptation::Mode::chooses;
    case Adapt::watch:
      return Adaptation::Mode::watches;
    case Adapt::off:
    case Adapt::listen:
      break;
  }
  return Adaptation::Mode::listens;
}

}  // namespace

std::optional<Adaptation::Mode> adaptation_of(const Configuration& configuration, const CallFacts& facts) {
  if (configuration.choice(facts.collective).kind != Choice::Kind::by_rule) return std::nullopt;
  if (configuration.deterministic && sums(facts.collective)) return std::nullopt;
  Adapt adapt = configuration.adapt;
  if (adapt == Adapt::automatic && was_measured(facts)) adapt = Adapt::listen;
  const bool adapts = facts.forecast == nullptr ? adapts_on_a_node(adapt, facts.ranks)
                                                : adapts_between_nodes(adapt, *facts.forecast, facts.collective);
  return adapts ? std::optional(mode_of(adapt)) : std::nullopt;
}

bool adapts_on_a_node(Adapt adapt, int ranks) {
  return adapt >= Adapt::watch || (adapt == Adapt::automatic && !node_rule_is_measured(ranks));
}

bool can_serve(const Algorithm& algorithm, const CallFacts& facts) {
  if (algorithm.needs.commutative && !facts.commutative) return false;
  if (algorithm.begins_ahead && !facts.may_begin_ahead) return false;
  if (algorithm.needs.words && !facts.remote_words) return false;
  if (algorithm.needs.memory == Memory::none) return true;
  const bool has_memory = algorithm.uses_node_memory() ? facts.shared_nodes.boards : facts.shared_memory;
  if (!has_memory) return false;
  if (algorithm.needs.max_bytes > 0 && facts.element_bytes > algorithm.needs.max_bytes) return false;
  return !algorithm.needs_pool(facts.bytes, facts.ranks) ||
         facts.element_bytes <=
             facts.pool_window / algorithm.messages_in_pool(facts.ranks, facts.shared_nodes.at_least_one());
}

bool looks_inside_nodes(const Algorithm& algorithm, bool one_node) {
  if (algorithm.needs.memory != Memory::none) return false;
  if (algorithm.map != nullptr || has_places(algorithm)) return true;
  if (algorithm.hierarchy == nullptr) return false;
  const auto within_looks = [](const Algorithm* within) {
    return within != nullptr && looks_inside_nodes(*within, true);
  };
  return one_node || within_looks(algorithm.hierarchy->up) || within_looks(algorithm.hierarchy->down);
}

namespace {

// What was measured: of these ranks, or else of the nearest, where no prediction tells more.
Choice tuned_choice(const CallFacts& facts) {
  if (facts.tuned == nullptr) return {};
  const RuleTable::Found found = facts.tuned->find(facts.collective, facts.bytes, facts.uneven);
  const bool is_own = found.exact || found.nearest.kind == Choice::Kind::by_rule;
  if (is_own || facts.forecast == nullptr) return found.nearest;
  const Algorithm* best =
      facts.forecast->best_between(facts.collective, facts.bytes, facts.commutative, found.nearest, found.other);
  return {best == nullptr ? Choice::Kind::native : Choice::Kind::forced, best};
}

}  // namespace

bool is_asked_for(const Algorithm& algorithm, const Configuration& configuration, const CallFacts& facts) {
  return configuration.choice(facts.collective).algorithm == &algorithm || tuned_choice(facts).algorithm == &algorithm;
}

const Algorithm* choose(const Configuration& configuration, const CallFacts& facts) {
  const Choice& choice = configuration.choice(facts.collective);
  const auto acceptable = [&](const Algorithm* algorithm) {
    return algorithm != nullptr && can_serve(*algorithm, facts) &&
           (algorithm->deterministic || !configuration.deterministic);
  };
  if (choice.kind == Choice::Kind::native) return nullptr;
  if (choice.kind == Choice::Kind::forced && acceptable(choice.algorithm)) return choice.algorithm;
  const bool background = configuration.background == Background::thread && facts.may_begin_ahead;
  const Choice tuned = tuned_choice(facts);
  if (tuned.kind == Choice::Kind::forced && acceptable(tuned.algorithm)) return tuned.algorithm;
  const Algorithm* by_rule = tuned.kind == Choice::Kind::native ? nullptr : rule(facts, background);
  if (acceptable(by_rule)) return by_rule;
  const Algorithm* fallback = configuration.deterministic ? steady(facts.collective) : nullptr;
  return acceptable(fallback) ? fallback : nullptr;
}

}  // namespace stretto
