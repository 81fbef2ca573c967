// Forecast: which algorithm is predicted to take least between nodes, for ranks that lie so on a machine.
//
// The formulas of the algorithms (core/formula.hpp) are computed for the machine; a table by collective and length is
// filled as calls come. Integers of the machine and exact arithmetic in, so that ranks that have the same machine
// choose the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalogue/terms.hpp"
#include "select/adaptation.hpp"
#include "select/configuration.hpp"
#include "select/machine.hpp"
#include "select/node_layout.hpp"

namespace stretto {

/// What no formula knows. `native`: what the MPI library takes in terms of the best that it has, as its thresholds are
/// those of other machines; `native_allgather`: the same of allgathers of `waited_for` bytes or more where the ranks of
/// a node share cores. `engine`: what ours adds to the latencies of up to kShort bytes, in terms of these; of longer
/// messages less and less; `engine_on_shared_cores`: where those of a node share cores. There shorter messages than
/// `waited_for` that all ranks of a node wait for are left to the library, trees of them wherever nodes have several
/// ranks, and broadcasts of them by messages anywhere. `handshakes`: how many latencies more a message takes that asks
/// its receiver first.
struct Handicaps {
  double native = 1;
  double native_allgather = 1;
  double engine = 0;
  double engine_on_shared_cores = 0;
  std::size_t waited_for = 0;
  double handshakes = 0;
};

/// On 8 emulated nodes at 1 gbit, with more ranks than cores, Open MPI 4.1 took in the median 1.2 of the best that it
/// can be forced to, over bcast, reduce and allreduce of 8 B to 128 KiB; other libraries have not been measured.
/// Algorithms of ours took of the same ones of Open MPI's 0.95 to 1.25 of the run time up to 2 KiB, 1.02 to 1.12 of
/// 16 KiB and 1.02 to 1.03 of 128 KiB, and 1.0 to 1.3 of the mean time in short calls; broadcasts by trees with half as
/// many latencies took no less: where it is not sure, native is the choice. A message that is not sent at once is
/// announced and asked for first.
///
/// With 2 and 4 ranks a node the binomial broadcast of 8 and 256 B took 1.5 to 1.8 of Open MPI's, and all others of
/// ours 1.0 to 1.7; allreduce, scatter and allgather of such lengths in the memory of nodes took 0.8 to 1.3 of native's
/// from one run to the next, as who waits there is woken late where it has no core of its own; the linear scatter by
/// messages 0.83 to 1.8. From 1 KiB on 0.2 to 0.95. Allgathers of 16 to 256 KiB a block took it 1.2 to 3.6 of its
/// best, 1.9 in the mean.
inline constexpr Handicaps kBesideOpenMpi{1.1, 2, 0.35, 0.8, 1 << 10, 2};
inline constexpr Handicaps kBesideOthers{1, 1, 0.35, 0.8, 1 << 10, 2};

class Forecast {
 public:
  /// What is not known of the machine is as that of a usual cluster. `deterministic`: only what has the same bits from
  /// run to run is the best.
  Forecast(const Machine& machine, const NodeLayout& layout, const Handicaps& handicaps, bool deterministic = false);

  /// In ns, of a message, or a block, of `bytes` bytes: the mean of the run time of ranks that come together, of what
  /// they spend in the call in the mean, of what is left once the last of them has come, and of what the others wait
  /// where one is late by the run time. Nothing is known of algorithms in shared memory of all ranks, nor of
  /// hierarchies in more than two levels.
  double cost_ns(const Algorithm& algorithm, std::size_t bytes);
  /// The same of ranks that come so: what they wait for each other counts as much.
  double cost_ns(const Algorithm& algorithm, std::size_t bytes, ArrivalClass arrivals);
  /// Whether a message between nodes takes so long that a latency beside it hardly counts: three of them.
  bool fills_wire(std::size_t bytes) const;
  /// Whether it does not wait for its receiver.
  bool leaves_at_once(std::size_t bytes) const { return bytes <= eager_bytes_; }
  /// What the MPI library is taken to run: the best of those that every library has (Thakur, Rabenseifner and Gropp
  /// 2005).
  const Algorithm& native_like(Collective collective, std::size_t bytes);
  /// What that is predicted to take ranks that come together, in ns.
  double native_ns(Collective collective, std::size_t bytes) {
    return times_of(native_like(collective, bytes), bytes).run_ns;
  }
  /// Whether anything else is worth considering where ranks come late.
  bool goes_by_arrivals(Collective collective) const;
  /// What is worth considering: what is best for some machines, lengths and numbers of ranks.
  std::vector<const Algorithm*> considered(Collective collective, std::size_t bytes,
                                           ArrivalClass arrivals = ArrivalClass::balanced) const;
  /// The best of these, nullptr for the MPI library's own: where nothing of ours, with what the
  /// engine adds, is predicted to take less than that. The same for all lengths of a class: four a factor of two. Where
  /// ranks are known to come at different times what they wait for each other counts as they do. `place`: the next ones
  /// after the best, from 1 on, as far as there are such that are predicted to take little more; else the best.
  const Algorithm* best(Collective collective, std::size_t bytes, bool commutative,
                        ArrivalClass arrivals = ArrivalClass::balanced, int place = 0);
  /// How many such places there are by class of arrivals, of operations that commute: one at least.
  std::array<int, kArrivalClasses> places(Collective collective, std::size_t bytes);

  /// Of what was measured to be best on fewer and on more ranks, the nearer first, and what is predicted to be: the
  /// one that is predicted to take least, nullptr for the MPI library's own. The same for all lengths of a class.
  const Algorithm* best_between(Collective collective, std::size_t bytes, bool commutative, const Choice& nearest,
                                const Choice& other);

  /// A later one of those that are considered must be predicted to take at most so much of an earlier one: what differs
  /// by less is as good, and the former is the one that does well where the machine is not as the model has it.
  static constexpr double kBetter = 0.9;
  /// What others than the best may be predicted to take of it to be worth a trial.
  static constexpr double kRival = 1.5;
  static constexpr std::size_t kShort = 16 << 10;  // bytes; longer ones keep wires and cores busy meanwhile
  static constexpr std::size_t kLong = 128 << 10;  // the same; of which the library runs other algorithms than are best

 private:
  static constexpr std::size_t kClassesADoubling = 4;
  static constexpr std::size_t kClasses = 48 * kClassesADoubling;  // the last one has all that is longer
  // The best first; nullptr is the MPI library's own, or that there are no more.
  using Ranking = std::array<const Algorithm*, kCandidates>;
  using Choices = std::array<std::optional<Ranking>, kClasses>;
  using Tables = std::array<std::unique_ptr<Choices>, 2 * std::size(kCollectives)>;
  static std::optional<Ranking>& cell_of(Tables& tables, Collective collective, std::size_t bytes, bool commutative);
  static std::size_t class_of(std::size_t bytes);
  static std::size_t middle_of(std::size_t number);

  struct Times {
    double run_ns = 0;         // of ranks that come together
    double mean_ns = 0;        // of a rank of them, in the mean
    double after_last_ns = 0;  // once the last is there
    double waiting = 1;        // of what one rank is late, the share that the others wait in the mean
  };
  Times times_of(const Algorithm& algorithm, std::size_t bytes);
  Times times_of(CallTerms& terms, const Algorithm& algorithm, std::size_t bytes);
  double shared_ns(const Terms& first, std::size_t segments, std::size_t bytes) const;
  /// Of a stage of a hierarchy within nodes; nullptr takes no time.
  Times times_within(const Algorithm* stage, std::size_t bytes);
  Times times_of(const Hierarchy& hierarchy, Collective collective, std::size_t bytes);
  struct StageBytes {
    std::size_t up;
    std::size_t between;
    std::size_t down;
  };
  StageBytes bytes_of_stages(const Hierarchy& hierarchy, Collective collective, std::size_t bytes) const;
  CallTerms& terms_between(const Hierarchy& hierarchy, Collective collective);
  double saved_copies(const Hierarchy& hierarchy, Collective collective, std::size_t bytes) const;

  /// By how much one rank is taken to be late; 0: they come together.
  double late_ns(Collective collective, std::size_t bytes, ArrivalClass arrivals);
  /// As cost_ns; of ranks of which one comes `late_ns` after the others, or all together.
  double cost_ns(const Algorithm& algorithm, std::size_t bytes, double late_ns);
  const Ranking& ranking(Collective collective, std::size_t bytes, bool commutative, ArrivalClass arrivals);
  struct Predicted {
    const Algorithm* algorithm;
    double ns;
  };
  static void add_rivals(Ranking& ranking, std::vector<Predicted> others, double best_ns);
  Ranking rank(Collective collective, std::size_t bytes, bool commutative, ArrivalClass arrivals);
  bool is_for_memory(Collective collective, std::size_t bytes) const;
  std::string ring_name(std::string_view ring, Collective collective, std::size_t bytes) const;
  double engine_ns(const Algorithm& algorithm, std::size_t bytes);
  double native_handicap(Collective collective, std::size_t bytes) const;

  NodeLayout layout_;
  bool shares_cores_;  // those of a node
  Handicaps handicaps_;
  bool deterministic_;
  std::size_t eager_bytes_;
  double near_ns_;       // latency of a message within a node
  CallTerms by_number_;  // of all ranks, as they are numbered
  CallTerms by_places_;  // of all ranks, those of a node one after the other
  CallTerms within_;     // of the ranks of a node
  CallTerms between_;    // of one rank of each
  CallTerms alone_;      // of one rank of each, while the others wait in memory
  CallTerms of_team_;    // of one rank of each, while the others talk to those of others
  std::array<Tables, kArrivalClasses> choices_;
  Tables between_choices_;
  std::unordered_map<const Algorithm*, double> latencies_ns_;  // what those that were considered cost with a byte
};

}  // namespace stretto
