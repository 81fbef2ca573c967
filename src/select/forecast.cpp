#include "select/forecast.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "catalogue/catalogue.hpp"
#include "compose/hierarchy.hpp"
#include "select/candidates.hpp"
#include "select/machine_terms.hpp"

namespace stretto {
namespace {

constexpr std::size_t kKiB = 1024;
// By how much one rank is taken to be late under each class of arrivals, in terms of what the library's call takes: in
// the middle of the class. Of ranks that are not late cost_ns has it otherwise.
constexpr double kLateness[kArrivalClasses] = {0, 4, 32};

}  // namespace

Forecast::Forecast(const Machine& machine, const NodeLayout& layout, const Handicaps& handicaps, bool deterministic)
    : layout_(layout),
      shares_cores_(layout.shares_nodes() && ranks_share_cores(machine)),
      handicaps_(handicaps),
      deterministic_(deterministic),
      eager_bytes_(costs_between(machine).eager_bytes),
      near_ns_(static_cast<double>(costs_within(machine).alpha_ns)),
      by_number_(terms_by_number(machine, handicaps.handshakes, layout)),
      by_places_(call_terms(machine, handicaps.handshakes, layout.ranks, layout.most_on_a_node())),
      within_(call_terms(machine, handicaps.handshakes, layout.most_on_a_node(), layout.most_on_a_node())),
      between_(call_terms(machine, handicaps.handshakes, layout.nodes, 1)),
      alone_(call_terms(less_crowded(machine, layout), handicaps.handshakes, layout.nodes, 1)),
      of_team_(call_terms(known_crowd(machine, layout), handicaps.handshakes, layout.nodes, 1)) {}

double Forecast::cost_ns(const Algorithm& algorithm, std::size_t bytes, ArrivalClass arrivals) {
  return cost_ns(algorithm, bytes, late_ns(algorithm.collective, bytes, arrivals));
}

double Forecast::late_ns(Collective collective, std::size_t bytes, ArrivalClass arrivals) {
  if (arrivals == ArrivalClass::balanced) return 0;
  return kLateness[static_cast<std::size_t>(arrivals)] * native_ns(collective, bytes);
}

bool Forecast::fills_wire(std::size_t bytes) const {
  constexpr std::int64_t kLatencies = 3;
  constexpr std::int64_t kPicoseconds = 1000;  // in a ns
  const Costs& between = between_.plan();
  return static_cast<std::int64_t>(bytes) * between.beta_ps_per_byte >= kLatencies * kPicoseconds * between.alpha_ns;
}

const Algorithm& Forecast::native_like(Collective collective, std::size_t bytes) {
  const Names names = known_everywhere(collective, layout_.ranks);
  const auto cost = [&](std::string_view name) { return cost_ns(*find_algorithm(collective, name), bytes); };
  return *find_algorithm(collective, *std::ranges::min_element(names, {}, cost));
}

// In an alltoall all have to send what they have, and every library does so; messages that are fewer have to be worth
// the copies.
double Forecast::native_handicap(Collective collective, std::size_t bytes) const {
  if (collective == Collective::alltoall) return kBetter;
  const bool gathers_all = without_lengths(collective) == Collective::allgather;
  const bool is_dear = gathers_all && shares_cores_ && bytes >= handicaps_.waited_for;
  return is_dear ? handicaps_.native_allgather : handicaps_.native;
}

double Forecast::engine_ns(const Algorithm& algorithm, std::size_t bytes) {
  const double share = static_cast<double>(kShort) / static_cast<double>(std::max(bytes, kShort));
  const auto [found, is_new] = latencies_ns_.try_emplace(&algorithm, 0);
  if (is_new) found->second = cost_ns(algorithm, 1);
  const double engine = shares_cores_ ? handicaps_.engine_on_shared_cores : handicaps_.engine;
  return share * engine * found->second;
}

// A ring's messages are a block long. Where they would wait for their receivers an allreduce runs in segments of as
// many blocks as there are ranks. Of three binary digits, as there is room for some hundred names.
std::string Forecast::ring_name(std::string_view ring, Collective collective, std::size_t bytes) const {
  std::size_t kibibytes = eager_bytes_ / kKiB * static_cast<std::size_t>(layout_.ranks);
  const int more_digits = std::max(static_cast<int>(std::bit_width(kibibytes)) - 3, 0);
  kibibytes = kibibytes >> more_digits << more_digits;
  const bool cuts = collective == Collective::allreduce && kibibytes > 0 && bytes > kibibytes * kKiB;
  if (!cuts) return std::string(ring);
  const bool in_mebibytes = kibibytes % kKiB == 0;
  return std::string(ring) + "+" +
         (in_mebibytes ? std::to_string(kibibytes / kKiB) + "M" : std::to_string(kibibytes) + "K");
}

// Whether hierarchies in the memory of nodes are worth considering. Whoever reduces or gathers need not wait for others
// of its node: 0.4 to 1.0 of native's at any length. Blocks of a scatter's node that would wait for their receiver are
// better sent one after the other, as most get there sooner: in memory they took 1.0 to 1.4. Where cores are shared
// alltoalls took 1.2 to 1.6 of native's.
bool Forecast::is_for_memory(Collective collective, std::size_t bytes) const {
  if (!layout_.boards || !layout_.shares_nodes()) return false;
  if (is_by_teams_only(collective) && layout_.uneven) return false;
  if (collective == Collective::reduce || collective == Collective::gather) return true;
  if (shares_cores_ && (bytes < handicaps_.waited_for || collective == Collective::alltoall)) return false;
  return collective != Collective::scatter ||
         leaves_at_once(static_cast<std::size_t>(layout_.most_on_a_node()) * bytes);
}

std::vector<const Algorithm*> Forecast::considered(Collective collective, std::size_t bytes,
                                                   ArrivalClass arrivals) const {
  std::vector<const Algorithm*> found;
  if (is_for_memory(collective, bytes)) {
    for (const std::string_view name : worth_considering_in_memory(collective)) {
      const Algorithm* const algorithm = find_algorithm(collective, name);
      const bool fits = algorithm->needs.max_bytes == 0 || bytes <= algorithm->needs.max_bytes;
      if (fits) found.push_back(algorithm);
    }
  }
  const bool is_handed_down = collective == Collective::bcast || collective == Collective::scatter;
  if (is_handed_down && layout_.shares_nodes() && bytes < handicaps_.waited_for) return found;
  for (const std::string_view name : worth_considering(collective, layout_.shares_nodes())) {
    const bool is_ring = name.starts_with("ring");
    found.push_back(find_algorithm(collective, is_ring ? ring_name(name, collective, bytes) : std::string(name)));
  }
  if (arrivals != ArrivalClass::balanced) {
    for (const std::string_view name : worth_considering_for_late_ranks(collective, is_for_memory(collective, bytes))) {
      found.push_back(find_algorithm(collective, name));
    }
  }
  std::erase(found, nullptr);
  return found;
}

bool Forecast::goes_by_arrivals(Collective collective) const {
  return !deterministic_ && !worth_considering_for_late_ranks(collective, layout_.boards).empty();
}

// Those of `others` that are predicted to take at most so much, the least first, without what is predicted to take the
// same to a percent as one before: that is mostly the same thing by another name.
void Forecast::add_rivals(Ranking& ranking, std::vector<Predicted> others, double best_ns) {
  constexpr double kSame = 1.01;
  std::ranges::stable_sort(others, {}, &Predicted::ns);
  std::size_t place = 1;
  double before_ns = best_ns;
  for (const Predicted& other : others) {
    if (place == ranking.size() || other.ns > kRival * best_ns) return;
    const bool is_same = std::max(other.ns, before_ns) < kSame * std::min(other.ns, before_ns);
    if (other.algorithm == ranking.front() || is_same) continue;
    ranking[place++] = other.algorithm;
    before_ns = other.ns;
  }
}

Forecast::Ranking Forecast::rank(Collective collective, std::size_t bytes, bool commutative, ArrivalClass arrivals) {
  Ranking ranking{};
  const Algorithm*& best = ranking.front();
  const std::vector<const Algorithm*> candidates = considered(collective, bytes, arrivals);
  // Short broadcasts by messages are not worth a trial: on 8 and 16 nodes of one rank 20 cells of 8 and 256 B took 0.96
  // to 1.17 of Open MPI's, 1.05 in the mean.
  const bool is_left =
      collective == Collective::bcast && bytes < handicaps_.waited_for && !is_for_memory(collective, bytes);
  if (candidates.empty() || is_left) return ranking;
  const Algorithm& native = native_like(collective, bytes);
  const double late = late_ns(collective, bytes, arrivals);
  const auto cost = [&](const Algorithm& algorithm) { return cost_ns(algorithm, bytes, late); };
  const double native_cost_ns = cost(native);
  // Of short allreduces the library mostly runs the best that it has. On 8 nodes the same of ours took 0.94 to 1.1 of
  // it with 64 KiB, and 0.67 to 0.96 with 256 KiB to 4 MiB.
  const bool runs_that = layout_.shares_nodes() ? layout_.placement == Placement::side_by_side
                                                : collective == Collective::allreduce && bytes < kLong;
  const bool may_be_native = !deterministic_ || !sums(collective);  // whose bits may depend on timing
  double least_ns =
      may_be_native ? native_handicap(collective, bytes) * native_cost_ns : std::numeric_limits<double>::max();
  double best_ns = 0;
  std::vector<Predicted> predicted;
  const auto consider = [&](const Algorithm* algorithm) {
    if ((algorithm->needs.commutative && !commutative) || (deterministic_ && !algorithm->deterministic)) return;
    const double ns = cost(*algorithm) + engine_ns(*algorithm, bytes);
    // Within nodes, too, messages of ours are the library's: what that does in the same order it does as well.
    const bool is_same = runs_that && algorithm->run == native.run && algorithm->hierarchy == nullptr;
    if (may_be_native && is_same && ns >= native_cost_ns) return;
    predicted.push_back({algorithm, ns});
    if (ns >= least_ns) return;
    least_ns = kBetter * ns;
    best_ns = ns;
    best = algorithm;
  };
  std::ranges::for_each(candidates, consider);
  // Of a scatter the rule knows more.
  if (best != nullptr && collective != Collective::scatter) add_rivals(ranking, std::move(predicted), best_ns);
  return ranking;
}

std::size_t Forecast::class_of(std::size_t bytes) {
  if (bytes < kClassesADoubling) return bytes;
  const auto doublings = static_cast<std::size_t>(std::bit_width(bytes)) - std::bit_width(kClassesADoubling);
  return std::min((doublings << 2) + (bytes >> doublings), kClasses - 1);
}

std::size_t Forecast::middle_of(std::size_t number) {
  if (number < kClassesADoubling) return number;
  const std::size_t doublings = (number >> 2) - 1;
  return (((number & 3) + kClassesADoubling) << doublings) + ((std::size_t{1} << doublings) - 1) / 2;
}

std::optional<Forecast::Ranking>& Forecast::cell_of(Tables& tables, Collective collective, std::size_t bytes,
                                                    bool commutative) {
  std::unique_ptr<Choices>& table = tables[2 * static_cast<std::size_t>(collective) + (commutative ? 1 : 0)];
  if (table == nullptr) table = std::make_unique<Choices>();
  return (*table)[class_of(bytes)];
}

const Forecast::Ranking& Forecast::ranking(Collective collective, std::size_t bytes, bool commutative,
                                           ArrivalClass arrivals) {
  if (arrivals != ArrivalClass::balanced && !goes_by_arrivals(collective)) arrivals = ArrivalClass::balanced;
  Tables& tables = choices_[static_cast<std::size_t>(arrivals)];
  std::optional<Ranking>& choice = cell_of(tables, collective, bytes, commutative);
  if (!choice) choice = rank(collective, middle_of(class_of(bytes)), commutative, arrivals);
  return *choice;
}

const Algorithm* Forecast::best(Collective collective, std::size_t bytes, bool commutative, ArrivalClass arrivals,
                                int place) {
  const Ranking& found = ranking(collective, bytes, commutative, arrivals);
  const Algorithm* const wanted = found[static_cast<std::size_t>(place)];
  return wanted == nullptr ? found.front() : wanted;
}

std::array<int, kArrivalClasses> Forecast::places(Collective collective, std::size_t bytes) {
  std::array<int, kArrivalClasses> places{};
  for (std::size_t arrivals = 0; arrivals < kArrivalClasses; ++arrivals) {
    const Ranking& found = ranking(collective, bytes, true, static_cast<ArrivalClass>(arrivals));
    const auto there = std::ranges::count_if(found, [](const Algorithm* each) { return each != nullptr; });
    places[arrivals] = std::max(static_cast<int>(there), 1);
  }
  return places;
}

const Algorithm* Forecast::best_between(Collective collective, std::size_t bytes, bool commutative,
                                        const Choice& nearest, const Choice& other) {
  std::optional<Ranking>& choice = cell_of(between_choices_, collective, bytes, commutative);
  if (choice) return choice->front();
  const std::size_t middle = middle_of(class_of(bytes));
  const auto is_known = [&](const Algorithm* algorithm) {
    return algorithm == nullptr || (!algorithm->uses_node_memory() && (commutative || !algorithm->needs.commutative));
  };
  const auto cost = [&](const Algorithm* algorithm) {
    return algorithm != nullptr
               ? cost_ns(*algorithm, middle)
               : native_handicap(collective, middle) * cost_ns(native_like(collective, middle), middle);
  };
  const Algorithm* untuned = best(collective, bytes, commutative);
  const Algorithm* least = nearest.kind == Choice::Kind::by_rule ? untuned : nearest.algorithm;
  const bool is_predicted = !worth_considering(collective, layout_.shares_nodes()).empty();
  if (is_predicted && is_known(least)) {
    double least_ns = cost(least);
    const auto consider = [&](const Algorithm* algorithm) {
      if (!is_known(algorithm) || cost(algorithm) >= kBetter * least_ns) return;
      least = algorithm;
      least_ns = cost(algorithm);
    };
    if (other.kind != Choice::Kind::by_rule) consider(other.algorithm);
    consider(untuned);
  }
  choice = Ranking{least};
  return least;
}

}  // namespace stretto
