#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "algorithms/registry.hpp"

namespace stretto {
namespace {

const Algorithm* find_plain(Collective collective, std::string_view name) {
  const auto table = algorithms();
  const auto found = std::ranges::find_if(
      table, [&](const Algorithm& one) { return one.collective == collective && one.name == name; });
  return found == table.end() ? nullptr : &*found;
}

// What the MPI library runs, of which no more is known.
Algorithm native_algorithm(Collective collective) {
  Algorithm native{};
  native.collective = collective;
  native.name = "native";
  return native;
}

// What `name` means, but for its name.
bool derive(Collective collective, std::string_view name, Algorithm& made) {
  const auto in_segments = parse_pipelined(name);
  const std::string_view whole = in_segments ? in_segments->base : name;
  const std::size_t at = std::min(whole.find('@'), whole.size());
  const Algorithm native = native_algorithm(collective);
  const std::string_view plain = whole.substr(0, at);
  const Algorithm* base = plain == native.name ? &native : find_plain(collective, plain);
  if (base == nullptr || (!in_segments && at == whole.size())) return false;
  made = *base;
  if (at < whole.size()) {
    made.map = find_map_kind(*base, whole.substr(at + 1));
    if (made.map == nullptr || !can_be_mapped(*base)) return false;
    made.commutative_only = collective != Collective::bcast;  // the order of ranks is another
  }
  if (in_segments) {
    if (!can_be_pipelined(*base)) return false;
    made.pipelining = in_segments->pipelining;
  }
  return true;
}

// Those that somebody has asked for. They stay, as those of the table do.
class DerivedAlgorithms {
 public:
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const Algorithm& operator[](std::size_t index) const { return entries_[index].algorithm; }

  const Algorithm* find(Collective collective, std::string_view name) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < size(); ++i) {
      const Algorithm& one = entries_[i].algorithm;
      if (one.collective == collective && one.name == name) return &one;
    }
    Algorithm made{};
    if (!derive(collective, name, made) || algorithm_count() == kMostAlgorithms) return nullptr;
    Entry& entry = entries_[size()];
    entry.name = name;
    entry.algorithm = made;
    entry.algorithm.name = entry.name;
    size_.fetch_add(1, std::memory_order_release);
    return &entry.algorithm;
  }

 private:
  struct Entry {
    std::string name;
    Algorithm algorithm;
  };
  std::mutex mutex_;
  std::atomic<std::size_t> size_{0};
  std::array<Entry, kMostAlgorithms> entries_{};
};

DerivedAlgorithms& derived_algorithms() {
  static auto* all = new DerivedAlgorithms;  // never destroyed: MPI may still run when the process ends
  return *all;
}

}  // namespace

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  const Algorithm* const plain = find_plain(collective, name);
  const bool derived = name.find_first_of("@+") != std::string_view::npos;
  return plain != nullptr || !derived ? plain : derived_algorithms().find(collective, name);
}

std::size_t number_of(const Algorithm& algorithm) {
  const auto table = algorithms();
  const Algorithm* const end = table.data() + table.size();
  if (!std::less<>()(&algorithm, table.data()) && std::less<>()(&algorithm, end)) {
    return static_cast<std::size_t>(&algorithm - table.data());
  }
  std::size_t number = table.size();
  while (&algorithm_numbered(number) != &algorithm) ++number;
  return number;
}

std::size_t algorithm_count() { return algorithms().size() + derived_algorithms().size(); }

const Algorithm& algorithm_numbered(std::size_t number) {
  const auto table = algorithms();
  return number < table.size() ? table[number] : derived_algorithms()[number - table.size()];
}

}  // namespace stretto
