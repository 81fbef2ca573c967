#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "catalogue/catalogue.hpp"

namespace stretto {
namespace {

const Algorithm* find_plain(Collective collective, std::string_view name) {
  const auto table = algorithms();
  const auto found = std::ranges::find_if(
      table, [&](const Algorithm& one) { return one.collective == collective && one.name == name; });
  return found == table.end() ? nullptr : &*found;
}

// An algorithm of this process, with all that it refers to.
struct Derived {
  std::string name;
  Algorithm algorithm;
  Hierarchy hierarchy;
};

// One that is made of two others.
bool derive_hierarchical(Collective collective, std::string_view name, Derived& made) {
  if (!find_hierarchy(collective, parse_hierarchical(name), made.hierarchy)) return false;
  made.algorithm = *made.hierarchy.between;
  made.algorithm.collective = collective;  // that of `between` may have blocks of several lengths
  if (made.hierarchy.up != nullptr) made.algorithm.in_nodes = made.hierarchy.up->in_nodes;
  const auto note = [&](const Algorithm* part) {
    if (part == nullptr) return;
    made.algorithm.deterministic = made.algorithm.deterministic && part->deterministic;
    made.algorithm.needs.words = made.algorithm.needs.words || part->needs.words;
    if (part->needs.memory == Memory::none) return;
    const bool first = made.algorithm.needs.memory != Memory::pool;
    if (part->needs.memory == Memory::pool) {
      made.algorithm.needs.pool_from =
          first ? part->needs.pool_from : std::min(made.algorithm.needs.pool_from, part->needs.pool_from);
      const bool gathers_all = without_lengths(collective) == Collective::allgather;
      if (gathers_all) made.algorithm.needs.pool_from = 0;  // all blocks are there as one
    }
    made.algorithm.needs.memory = std::max(made.algorithm.needs.memory, part->needs.memory);
    const std::size_t bound = made.algorithm.needs.max_bytes;
    if (part->needs.max_bytes > 0)
      made.algorithm.needs.max_bytes = bound > 0 ? std::min(bound, part->needs.max_bytes) : part->needs.max_bytes;
  };
  note(made.hierarchy.up);
  note(made.hierarchy.down);
  const Algorithm* up = made.hierarchy.up;  // units may hold any ranks
  made.algorithm.needs.commutative = up != nullptr && up->collective == Collective::reduce;
  made.algorithm.hierarchy = &made.hierarchy;
  made.algorithm.pipelining = {};
  return true;
}

// One of the catalogue under a map, or as it is; or what the MPI library runs, of which no more is known.
bool derive_mapped(Collective collective, std::string_view name, Derived& made) {
  const std::size_t at = std::min(name.find('@'), name.size());
  made.algorithm = {};
  made.algorithm.collective = collective;
  made.algorithm.name = "native";
  const std::string_view plain = name.substr(0, at);
  if (plain != made.algorithm.name) {
    const Algorithm* const base = find_plain(collective, plain);
    if (base == nullptr) return false;
    made.algorithm = *base;
  }
  if (at == name.size()) return true;
  if (!can_be_mapped(made.algorithm)) return false;
  made.algorithm.map = find_map_kind(made.algorithm, name.substr(at + 1));
  made.algorithm.needs.commutative = collective != Collective::bcast;  // the order of ranks is another
  return made.algorithm.map != nullptr;
}

bool derive(Collective collective, std::string_view name, Derived& made) {
  const auto in_segments = parse_pipelined(name);
  const std::string_view whole = in_segments ? in_segments->base : name;
  if (!derive_hierarchical(collective, whole, made) && !derive_mapped(collective, whole, made)) return false;
  if (!in_segments) return made.algorithm.run != nullptr;
  // Segments within segments would meet each other's messages.
  const bool cut_within = made.algorithm.hierarchy != nullptr && has_segments(made.hierarchy);
  if (cut_within || !can_be_pipelined(made.algorithm)) return false;
  made.algorithm.pipelining = in_segments->pipelining;
  return true;
}

// Those that somebody has asked for. They stay, as those of the table do.
class DerivedAlgorithms {
 public:
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const Algorithm& operator[](std::size_t index) const { return entries_[index]->algorithm; }

  const Algorithm* find(Collective collective, std::string_view name) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < size(); ++i) {
      const Algorithm& one = entries_[i]->algorithm;
      if (one.collective == collective && one.name == name) return &one;
    }
    auto made = std::make_unique<Derived>();
    if (!derive(collective, name, *made) || algorithm_count() == kMostAlgorithms) return nullptr;
    made->name = name;
    made->algorithm.name = made->name;
    made->algorithm.number = algorithm_count();
    std::unique_ptr<Derived>& entry = entries_[size()];  // those that it is made of have been added meanwhile
    entry = std::move(made);
    size_.fetch_add(1, std::memory_order_release);
    return &entry->algorithm;
  }

 private:
  std::recursive_mutex mutex_;
  std::atomic<std::size_t> size_{0};
  std::array<std::unique_ptr<Derived>, kMostAlgorithms> entries_{};
};

DerivedAlgorithms& derived_algorithms() {
  static auto* all = new DerivedAlgorithms;  // never destroyed: MPI may still run when the process ends
  return *all;
}

}  // namespace

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  const Algorithm* const plain = find_plain(collective, name);
  const bool derived = name.find_first_of("@+(") != std::string_view::npos;
  return plain != nullptr || !derived ? plain : derived_algorithms().find(collective, name);
}

std::size_t algorithm_count() { return algorithms().size() + derived_algorithms().size(); }

const Algorithm& algorithm_numbered(std::size_t number) {
  const auto table = algorithms();
  return number < table.size() ? table[number] : derived_algorithms()[number - table.size()];
}

}  // namespace stretto
