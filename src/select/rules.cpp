#include "select/rules.hpp"

#include "arrival/board.hpp"

namespace stretto {
namespace {

constexpr std::size_t kKiB = 1024;

// The default rule. Between nodes nothing of Stretto's is known to be better yet, so the MPI library's own runs.
std::string_view rule(const CallFacts& facts) {
  if (!facts.shared_memory) return "native";
  switch (facts.collective) {
    case Collective::allreduce:
      // Slots cost P^2 n bytes of reading: for few bytes, and few ranks.
      if (facts.bytes * static_cast<std::size_t>(facts.ranks) <= 8 * kKiB || !facts.commutative) return "slot_exchange";
      return facts.bytes <= 16 * kKiB ? "arrival_tree" : "arrival_stripes";
    case Collective::reduce:
      return facts.bytes >= 8 * kKiB ? "arrival_stripes" : "native";
    case Collective::bcast:
      return "arrival_copy";
    case Collective::barrier:
      return "arrival_count";
  }
  return "native";
}

}  // namespace

bool can_serve(const Algorithm& algorithm, const CallFacts& facts) {
  if (algorithm.commutative_only && !facts.commutative) return false;
  if (algorithm.memory == Memory::none) return true;
  if (!facts.shared_memory) return false;
  if (algorithm.max_bytes > 0 && facts.element_bytes > algorithm.max_bytes) return false;
  return !algorithm.needs_pool(facts.bytes) || facts.element_bytes <= facts.pool_window;
}

const Algorithm* choose(const Configuration& configuration, const CallFacts& facts) {
  const Choice& choice = configuration.choice(facts.collective);
  const auto acceptable = [&](const Algorithm* algorithm) {
    return algorithm != nullptr && can_serve(*algorithm, facts) &&
           (algorithm->deterministic || !configuration.deterministic);
  };
  if (choice.kind == Choice::Kind::native) return nullptr;
  if (choice.kind == Choice::Kind::forced && acceptable(choice.algorithm)) return choice.algorithm;
  const Algorithm* by_rule = find_algorithm(facts.collective, rule(facts));
  if (acceptable(by_rule)) return by_rule;
  if (!configuration.deterministic) return nullptr;
  // Native algorithms may depend on timing, so on request one of ours runs that does not.
  const std::string_view steady = facts.collective == Collective::allreduce ? "recursive_doubling" : "binomial";
  const Algorithm* fallback = find_algorithm(facts.collective, steady);
  return acceptable(fallback) ? fallback : nullptr;
}

}  // namespace stretto
