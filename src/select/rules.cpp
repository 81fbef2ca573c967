#include "select/rules.hpp"

#include "select/forecast.hpp"
#include "select/tuned_rules.hpp"

namespace stretto {
namespace {

constexpr std::size_t kKiB = 1024;

// The algorithms that the rule knows, looked up by name once.
struct Named {
  const Algorithm* slot_exchange = find_algorithm(Collective::allreduce, "slot_exchange");
  const Algorithm* arrival_tree = find_algorithm(Collective::allreduce, "arrival_tree");
  const Algorithm* allreduce_stripes = find_algorithm(Collective::allreduce, "arrival_stripes");
  const Algorithm* recursive_doubling = find_algorithm(Collective::allreduce, "recursive_doubling");
  const Algorithm* slot_gather = find_algorithm(Collective::reduce, "slot_gather");
  const Algorithm* reduce_stripes = find_algorithm(Collective::reduce, "arrival_stripes");
  const Algorithm* reduce_binomial = find_algorithm(Collective::reduce, "binomial");
  const Algorithm* arrival_copy = find_algorithm(Collective::bcast, "arrival_copy");
  const Algorithm* bcast_binomial = find_algorithm(Collective::bcast, "binomial");
  const Algorithm* flags = find_algorithm(Collective::barrier, "slot_exchange");
  const Algorithm* arrival_count = find_algorithm(Collective::barrier, "arrival_count");
  const Algorithm* dissemination = find_algorithm(Collective::barrier, "dissemination");
  const Algorithm* scatter_copy = find_algorithm(Collective::scatter, "arrival_copy");
  const Algorithm* gather_slots = find_algorithm(Collective::gather, "slot_gather");
  const Algorithm* gather_copy = find_algorithm(Collective::gather, "arrival_copy");
  const Algorithm* announced_linear = find_algorithm(Collective::scatter, "announced_linear");
  const Algorithm* allgather_slots = find_algorithm(Collective::allgather, "slot_exchange");
  const Algorithm* allgather_copy = find_algorithm(Collective::allgather, "arrival_copy");
  const Algorithm* allgatherv_slots = find_algorithm(Collective::allgatherv, "slot_exchange");
  const Algorithm* allgatherv_copy = find_algorithm(Collective::allgatherv, "arrival_copy");
  const Algorithm* reduce_scatter_block_slots = find_algorithm(Collective::reduce_scatter_block, "slot_exchange");
  const Algorithm* alltoall_slots = find_algorithm(Collective::alltoall, "slot_exchange");
  const Algorithm* alltoall_copy = find_algorithm(Collective::alltoall, "arrival_copy");
  const Algorithm* reduce_scatter_block_ring = find_algorithm(Collective::reduce_scatter_block, "ring");
  const Algorithm* reduce_scatter_block_pairwise = find_algorithm(Collective::reduce_scatter_block, "pairwise");
  const Algorithm* reduce_scatter_slots = find_algorithm(Collective::reduce_scatter, "slot_exchange");
  const Algorithm* reduce_scatter_ring = find_algorithm(Collective::reduce_scatter, "ring");
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

// On a node, on 2 cores. What a rank leaves, if it is short, lies in its slot, for whoever wants it in the order of
// ranks: mean times are 0.35 to 1.0 of Open MPI 4.1's for 2 to 8 ranks and 8 B to 2 KB (balanced; 1.1 for alltoall of
// 128 B on 2 ranks, which is what passing it on takes). Longer blocks are taken as they come: 0.05 to 0.9 balanced and
// under uniform:2ms, up to 8 MiB, but for alltoall: 0.2 to 0.99 up to 768 KiB, from 1 MiB on 0.6 to 1.35, from one run
// of the same program to the next.
constexpr std::size_t kCopiedFrom = 2 * kKiB;
constexpr int kMostRanks = 64;  // more have not been measured
bool fits_slot(std::size_t bytes, int ranks) { return ranks <= kMostRanks && bytes < kCopiedFrom; }
constexpr std::size_t kLongestAlltoall = 512 * kKiB;
// Of an alltoall's blocks, together: in the order of ranks 0.86 with 2 KiB each on 2 ranks, as they come 1.1.
constexpr std::size_t kTakenInOrder = 8 * kKiB;
// Where each leaves a block for each, they share memory for all of them, which the first call of a program touches
// anew: 0.6 ms a MiB, once.
constexpr std::size_t kMostLeft = 32 * kKiB * kKiB;
bool leave_little(std::size_t block_bytes, int ranks) {
  const auto blocks = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  return ranks <= kMostRanks && block_bytes <= kMostLeft / blocks;
}

// Whether an alltoall of such blocks on a node is ours.
bool exchange_in_memory(std::size_t block_bytes, int ranks) {
  return leave_little(block_bytes, ranks) && block_bytes <= kLongestAlltoall;
}

// To combine the blocks that all have left takes 0.06 to 0.9 of Open MPI 4.1's on 2 to 8 ranks, 256 B to 1 MiB,
// balanced and under uniform:2ms. More than that goes through mailboxes: a ring takes 0.12 to 0.74, 0.28 to 0.63 of
// MPICH's; with 16 KiB a block it took 1.3 on 8 ranks.
constexpr std::size_t kRingFrom = 32 * kKiB;

// The default rule; nullptr is the MPI library's own.
const Algorithm* rule(const CallFacts& facts, bool background) {
  if (!facts.shared_memory) return rule_between_nodes(facts, background);
  switch (facts.collective) {
    case Collective::allreduce:
      // Slots cost P^2 n bytes of reading: for few bytes, and few ranks.
      if (facts.bytes * static_cast<std::size_t>(facts.ranks) <= 16 * kKiB || !facts.commutative) {
        return known().slot_exchange;
      }
      // Up to a slot's size, one step after the last arrival is quicker than sharing chunks, if there is a last.
      if (facts.bytes <= 32 * kKiB && facts.uneven) return known().arrival_tree;
      return known().allreduce_stripes;
    case Collective::reduce:
      return facts.bytes <= 2 * kKiB || !facts.commutative ? known().slot_gather : known().reduce_stripes;
    case Collective::bcast:
      return known().arrival_copy;
    case Collective::barrier:
      return facts.ranks <= 16 ? known().flags : known().arrival_count;
    case Collective::scatter:
      return facts.ranks <= kMostRanks ? known().scatter_copy : nullptr;
    case Collective::gather:
      if (fits_slot(facts.bytes, facts.ranks)) return known().gather_slots;
      return facts.ranks <= kMostRanks ? known().gather_copy : nullptr;
    case Collective::allgather:
      if (fits_slot(facts.bytes, facts.ranks)) return known().allgather_slots;
      return facts.ranks <= kMostRanks ? known().allgather_copy : nullptr;
    case Collective::allgatherv:
      if (facts.ranks > kMostRanks) return nullptr;
      if (fits_slot(facts.bytes, facts.ranks)) return known().allgatherv_slots;
      return known().allgatherv_copy;
    case Collective::reduce_scatter_block:
      if (leave_little(facts.bytes, facts.ranks)) return known().reduce_scatter_block_slots;
      return facts.bytes >= kRingFrom ? known().reduce_scatter_block_ring : nullptr;
    case Collective::alltoall:
      if (!exchange_in_memory(facts.bytes, facts.ranks)) return nullptr;
      return facts.bytes * static_cast<std::size_t>(facts.ranks) <= kTakenInOrder ? known().alltoall_slots
                                                                                  : known().alltoall_copy;
    case Collective::reduce_scatter:
      if (leave_little(facts.bytes, facts.ranks)) return known().reduce_scatter_slots;
      return facts.bytes >= kRingFrom ? known().reduce_scatter_ring : nullptr;
    case Collective::scatterv:
    case Collective::gatherv:
    case Collective::alltoallv:
      return nullptr;  // no rank knows the lengths of all blocks
  }
  return nullptr;
}

// Whether the rule may name an algorithm.
bool rule_may_serve(Collective collective, std::size_t bytes, int ranks, bool one_node) {
  switch (collective) {
    case Collective::scatter:
    case Collective::gather:
    case Collective::allgather:
    case Collective::allgatherv:
      return !one_node || ranks <= kMostRanks;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return !one_node || bytes >= kRingFrom || leave_little(bytes, ranks);
    case Collective::alltoall:
      return !one_node || bytes == kAnyBytes || exchange_in_memory(bytes, ranks);
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast:
    case Collective::barrier:
      return true;
    default:
      return false;
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

bool adapts(const Configuration& configuration, Collective collective, const Forecast* forecast) {
  if (configuration.adapt == Adapt::off || configuration.choice(collective).kind != Choice::Kind::by_rule) return false;
  if (configuration.deterministic && sums(collective)) return false;
  if (configuration.adapt >= Adapt::watch) return true;
  if (forecast == nullptr) return false;
  return configuration.adapt == Adapt::automatic || forecast->goes_by_arrivals(collective);
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
