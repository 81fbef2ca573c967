#include "select/node_rule.hpp"

namespace stretto {
namespace {

constexpr std::size_t kKiB = 1024;

// The algorithms that the rule knows, looked up by name once.
struct Named {
  const Algorithm* allreduce_slots = find_algorithm(Collective::allreduce, "slot_exchange");
  const Algorithm* allreduce_tree = find_algorithm(Collective::allreduce, "arrival_tree");
  const Algorithm* allreduce_stripes = find_algorithm(Collective::allreduce, "arrival_stripes");
  const Algorithm* reduce_slots = find_algorithm(Collective::reduce, "slot_gather");
  const Algorithm* reduce_stripes = find_algorithm(Collective::reduce, "arrival_stripes");
  const Algorithm* bcast_copy = find_algorithm(Collective::bcast, "arrival_copy");
  const Algorithm* barrier_slots = find_algorithm(Collective::barrier, "slot_exchange");
  const Algorithm* barrier_count = find_algorithm(Collective::barrier, "arrival_count");
  const Algorithm* scatter_copy = find_algorithm(Collective::scatter, "arrival_copy");
  const Algorithm* gather_slots = find_algorithm(Collective::gather, "slot_gather");
  const Algorithm* gather_copy = find_algorithm(Collective::gather, "arrival_copy");
  const Algorithm* allgather_slots = find_algorithm(Collective::allgather, "slot_exchange");
  const Algorithm* allgather_copy = find_algorithm(Collective::allgather, "arrival_copy");
  const Algorithm* allgather_ring = find_algorithm(Collective::allgather, "ring");
  const Algorithm* allgatherv_ring = find_algorithm(Collective::allgatherv, "ring");
  const Algorithm* allgatherv_slots = find_algorithm(Collective::allgatherv, "slot_exchange");
  const Algorithm* allgatherv_copy = find_algorithm(Collective::allgatherv, "arrival_copy");
  const Algorithm* reduce_scatter_block_slots = find_algorithm(Collective::reduce_scatter_block, "slot_exchange");
  const Algorithm* alltoall_slots = find_algorithm(Collective::alltoall, "slot_exchange");
  const Algorithm* alltoall_copy = find_algorithm(Collective::alltoall, "arrival_copy");
  const Algorithm* reduce_scatter_block_ring = find_algorithm(Collective::reduce_scatter_block, "ring");
  const Algorithm* reduce_scatter_slots = find_algorithm(Collective::reduce_scatter, "slot_exchange");
  const Algorithm* reduce_scatter_ring = find_algorithm(Collective::reduce_scatter, "ring");
};
const Named& known() {
  static const Named algorithms;
  return algorithms;
}

constexpr int kMostMeasured = 8;  // ranks, of which the figures below are; on 2 cores
constexpr int kMostRanks = 64;    // that take blocks from each other

// Blocks that do not lie in slots are taken as they come: 0.05 to 0.9 of Open MPI 4.1's balanced and under uniform:2ms,
// up to 8 MiB, but for alltoall: 0.2 to 0.99 up to 768 KiB, from 1 MiB on 0.6 to 1.35, from one run of the same program
// to the next.
constexpr std::size_t kLongestAlltoall = 512 * kKiB;
// Where each leaves a block for each, they share memory for all of them, which the first call of a program touches
// anew: 0.6 ms a MiB, once.
constexpr std::size_t kMostLeft = 32 * kKiB * kKiB;
bool leave_little(std::size_t block_bytes, int ranks) {
  const auto blocks = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  return ranks <= kMostRanks && block_bytes <= kMostLeft / blocks;
}

// Whether an alltoall of such blocks is ours.
bool exchange_in_memory(std::size_t block_bytes, int ranks) {
  return leave_little(block_bytes, ranks) && block_bytes <= kLongestAlltoall;
}

// To combine the blocks that all have left takes 0.06 to 0.9 of Open MPI 4.1's on 2 to 8 ranks, 256 B to 1 MiB,
// balanced and under uniform:2ms. More than that goes through mailboxes: a ring takes 0.12 to 0.74, 0.28 to 0.63 of
// MPICH's; with 16 KiB a block it took 1.3 on 8 ranks.
constexpr std::size_t kRingFrom = 32 * kKiB;

// Up to where one algorithm is taken for another. What a rank leaves, if it is short, lies in its slot, for whoever
// wants it in the order of ranks: mean times are 0.35 to 1.0 of Open MPI 4.1's for 2 to 8 ranks and 8 B to 2 KB
// (balanced; 1.1 for alltoall of 128 B on 2 ranks, which is what passing it on takes).
struct Borders {
  std::size_t read_by_all = 16 * kKiB;    // of an allreduce, P n bytes that each of P ranks reads from slots
  std::size_t read_by_root = 2 * kKiB;    // of a reduce, a slot
  std::size_t block = 2 * kKiB - 1;       // that lies in a slot
  std::size_t taken_in_order = 8 * kKiB;  // P blocks of an alltoall: with 2 KiB on 2 ranks 0.86, as they come 1.1
  std::size_t signalling = 16;            // ranks of a barrier that each look at all others

  // Of a machine where they are so many times as high.
  Borders times(std::size_t much, std::size_t over) const {
    return {read_by_all * much / over, read_by_root * much / over, block * much / over, taken_in_order * much / over,
            signalling * much / over};
  }
};

// Of two ranks that come together each copies the other's block once, where the memory of both is to be had: from 256
// KiB to 4 MiB 0.90 to 0.98 of MPICH 5's and of Open MPI 5's, which do the same; a copy on the way takes 0.90 to 1.4.
// Where one is late that copy is there before it, 0.77 and 0.84 of 256 KiB and 1 MiB for 0.93 and 0.97.
constexpr std::size_t kCopiedOnceFrom = 256 * kKiB;
bool copies_once(const CallFacts& facts) {
  return facts.ranks == 2 && facts.single_copy && !facts.uneven && facts.bytes >= kCopiedOnceFrom;
}

const Algorithm* blocks_by(const Borders& borders, const CallFacts& facts, const Algorithm* slots,
                           const Algorithm* copy) {
  if (facts.ranks > kMostRanks) return nullptr;
  return facts.bytes <= borders.block ? slots : copy;
}

const Algorithm* rule(const CallFacts& facts, const Borders& borders) {
  const std::size_t of_all = facts.bytes * static_cast<std::size_t>(facts.ranks);
  switch (facts.collective) {
    case Collective::allreduce:
      if (of_all <= borders.read_by_all || !facts.commutative) return known().allreduce_slots;
      // Up to a slot's size, one step after the last arrival is quicker than sharing chunks, if there is a last.
      return facts.bytes <= 32 * kKiB && facts.uneven ? known().allreduce_tree : known().allreduce_stripes;
    case Collective::reduce:
      return facts.bytes <= borders.read_by_root || !facts.commutative ? known().reduce_slots : known().reduce_stripes;
    case Collective::bcast:
      return known().bcast_copy;
    case Collective::barrier:
      return static_cast<std::size_t>(facts.ranks) <= borders.signalling ? known().barrier_slots
                                                                         : known().barrier_count;
    case Collective::scatter:
      return facts.ranks <= kMostRanks ? known().scatter_copy : nullptr;
    case Collective::gather:
      return blocks_by(borders, facts, known().gather_slots, known().gather_copy);
    case Collective::allgather:
      if (copies_once(facts)) return known().allgather_ring;
      return blocks_by(borders, facts, known().allgather_slots, known().allgather_copy);
    case Collective::allgatherv:
      if (copies_once(facts)) return known().allgatherv_ring;
      return blocks_by(borders, facts, known().allgatherv_slots, known().allgatherv_copy);
    case Collective::reduce_scatter_block:
      if (leave_little(facts.bytes, facts.ranks)) return known().reduce_scatter_block_slots;
      return facts.bytes >= kRingFrom ? known().reduce_scatter_block_ring : nullptr;
    case Collective::reduce_scatter:
      if (leave_little(facts.bytes, facts.ranks)) return known().reduce_scatter_slots;
      return facts.bytes >= kRingFrom ? known().reduce_scatter_ring : nullptr;
    case Collective::alltoall:
      if (!exchange_in_memory(facts.bytes, facts.ranks)) return nullptr;
      return of_all <= borders.taken_in_order ? known().alltoall_slots : known().alltoall_copy;
    default:
      return nullptr;  // no rank knows the lengths of all blocks
  }
}

// Number `candidate` of those that the rule would name on other machines; nullptr: there are not so many.
const Algorithm* candidate_of(const CallFacts& facts, int candidate) {
  constexpr std::size_t kElsewhere = 8;
  const Algorithm* const usual = rule(facts, {});
  if (candidate == 0 || usual == nullptr) return usual;
  for (const Borders& borders : {Borders{}.times(1, kElsewhere), Borders{}.times(kElsewhere, 1)}) {
    const Algorithm* const other = rule(facts, borders);
    if (other != usual && --candidate == 0) return other;
  }
  return nullptr;
}

}  // namespace

const Algorithm* node_rule(const CallFacts& facts) {
  const Algorithm* const named = candidate_of(facts, facts.candidate);
  return named == nullptr ? candidate_of(facts, 0) : named;
}

std::array<int, kArrivalClasses> node_candidates(Collective collective, std::size_t bytes, int ranks) {
  CallFacts facts{collective, bytes, 1, true, ranks, true, 0, false};
  int count = 1;
  while (candidate_of(facts, count) != nullptr) ++count;
  std::array<int, kArrivalClasses> counts{};
  counts.fill(count);
  return counts;
}

bool node_rule_may_serve(Collective collective, std::size_t bytes, int ranks) {
  switch (collective) {
    case Collective::scatter:
    case Collective::gather:
    case Collective::allgather:
    case Collective::allgatherv:
      return ranks <= kMostRanks;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return bytes >= kRingFrom || leave_little(bytes, ranks);
    case Collective::alltoall:
      return bytes == kAnyBytes || exchange_in_memory(bytes, ranks);
    default:
      return true;
  }
}

bool node_rule_is_measured(int ranks) { return ranks <= kMostMeasured; }

}  // namespace stretto
