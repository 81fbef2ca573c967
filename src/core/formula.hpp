// Formulas of what an algorithm costs: written once in the file of the algorithm, in C++'s own notation, then computed
// for a machine and printed for people.
//
//     .balanced = 2 * log(P) * alpha + 2 * n * beta + n * gamma      "2 log P α + 2nβ + nγ"
//
// A way stands for the messages that a pattern of communication takes one after the other, doubling(n) for log P (α +
// nβ). Computed, each message goes within a node or between nodes; printed, all links are the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stretto {

/// Messages one after the other: so many go within nodes, so many between them.
struct Hops {
  double near = 0;
  double far = 0;
  double count() const { return near + far; }
};

/// Ways in an algorithm's tree.
struct TreeHops {
  // In the mean over who is last:
  Hops deep{};        // from the root to the farthest rank
  Hops queued{};      // what the ranks on this way send before they send along it
  Hops children{};    // c: of the rank that has most
  Hops below{};       // from where a message waits for the ranks that come last to the farthest below them
  Hops wide_below{};  // of the rank on this way that sends most
  Hops above{};       // from where contributions wait for them to the root
  Hops wide_above{};  // of the rank on this way that receives most
  // In the mean over all ranks:
  Hops midway{};         // from the root to a rank; d: over all but the root
  Hops midway_queued{};  // what the ranks on this way send before they send along it
  Hops under{};          // from the farthest rank below a rank to it
  Hops wide_under{};     // of the rank on this way that receives most
  Hops rest_under{};     // the same, without its first message
  double busiest = 0;    // messages between nodes that one node sends, or receives; of that which has most
};

/// What formulas speak of. Times are in ns, lengths in bytes.
struct Terms : TreeHops {
  double ranks = 1;           // P
  double ranks_per_node = 1;  // q: with numbers that follow each other, unless
  int in_turn = 0;            // so many nodes each have a rank in turn
  double bytes = 0;           // n: of the message; where each rank has a block, of one
  double all_bytes = 0;       // N: of the blocks of all ranks
  double alpha_ns = 0;        // α: latency of a message between the ranks that are farthest from each other
  double beta_ns = 0;         // β: time of such a message per byte
  double gamma_ns = 0;        // γ: time of a reduction per byte
  double copy_ns = 0;         // κ: time of a copy in memory per byte
  double line_ns = 0;         // λ: handing a cache line from one core to another
  double segments = 1;        // m: into which a message is cut
  double near_alpha_ns = 0;   // of a message between ranks of a node
  double near_beta_ns = 0;
  double crowded_beta_ns = 0;       // of messages between nodes where all ranks send at once; 0: β
  double near_crowded_beta_ns = 0;  // the same within nodes
  double gap_ns = 0;                // g: from the end of a message until its port can carry the next
  double near_gap_ns = 0;
  double handshakes = 0;      // latencies more of a message that is not shorter than eager_bytes
  double eager_bytes = 0;     // shorter messages leave before their receiver is ready
  double sent_ahead = 1e300;  // more segments than so many leave when their receiver has said that it is there
  double last = 1;            // ranks that come last together, with numbers that follow each other

  /// Whether messages wait for their receiver.
  bool waits() const { return bytes >= eager_bytes * segments || segments > sent_ahead; }
  /// Whether a receiver says first that it is there.
  bool announced() const { return segments > sent_ahead; }
};

class Formula {
 public:
  enum class Symbol : std::uint8_t { P, q, n, N, alpha, beta, gamma, kappa, lambda, m, depth, d, c, e, w, s, g };
  /// Messages one after the other, of the length that the formula gives:
  enum class Way : std::uint8_t {
    beside,     // one, with the next rank
    any,        // one, of one rank after the other with another
    pairs,      // one, of all ranks at once
    doubling,   // with the rank 1, 2, 4... away, as far as a power of two of ranks goes
    spreading,  // to the rank 1, 2, 4... further on, which may be on the next node
    halving,    // with the same ranks as doubling, half of the length, a quarter...
    growing,    // the same, but the longest with the rank that is farthest
    climbing,   // up or down the longest way of a binomial tree
    from_last,  // up such a tree from the ranks that come last
    past_last,  // down such a tree from where they are
    around,     // of each rank to the next, P - 1 times
    to_all,     // P - 1, of each rank to each other, at once
    deep,       // from the root of the algorithm's tree to the farthest rank
    below,      // from where a message waits for the ranks that come last to the farthest below them
    above,      // from where contributions wait for them to the root
    queue,      // without their latencies, what the ranks on this way send before they send along it
    fan,        // without their latencies, of the rank that has most children
    fan_below,  // the same, of the rank on such a way that sends most
    fan_above,  // the same, receives most, and reduces it
    midway,     // from the root to a rank, in the mean over all, with what is sent before
    under,      // from the farthest rank below a rank to it, in the mean over all
    fan_under,  // without their latencies, of the rank on such a way that receives most, and reduces it
    rest_under  // the same, without its first message
  };

  constexpr Formula() = default;
  constexpr Formula(int number) { append({Step::Kind::number, static_cast<std::int16_t>(number)}); }
  constexpr Formula(Symbol symbol) { append({Step::Kind::symbol, static_cast<std::int16_t>(symbol)}); }

  friend constexpr Formula operator+(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::sum); }
  friend constexpr Formula operator-(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::difference); }
  friend constexpr Formula operator*(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::product); }
  friend constexpr Formula operator/(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::quotient); }
  friend constexpr Formula max(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::maximum); }
  friend constexpr Formula min(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::minimum); }
  /// To the base 2.
  friend constexpr Formula log(Formula a) {
    a.append({Step::Kind::logarithm, 0});
    return a;
  }
  /// Letters has a function for each way.
  friend constexpr Formula along(Way way, Formula bytes) {
    bytes.append({Step::Kind::way, static_cast<std::int16_t>(way)});
    return bytes;
  }

  /// In ns.
  double value(const Terms& terms) const;
  /// As people write it.
  std::string text() const;

 private:
  // In reverse Polish notation.
  struct Step {
    enum class Kind : std::uint8_t {
      number,
      symbol,
      sum,
      difference,
      product,
      quotient,
      maximum,
      minimum,
      logarithm,
      way
    };
    Kind kind = Kind::number;
    std::int16_t operand = 0;
  };
  static constexpr std::size_t kMostSteps = 40;
  static double joined(Step::Kind kind, double a, double b);

  constexpr void append(Step step) { steps_.at(size_++) = step; }  // too many do not compile
  static constexpr Formula join(const Formula& a, const Formula& b, Step::Kind kind) {
    Formula all = a;
    for (std::size_t i = 0; i < b.size_; ++i) all.append(b.steps_[i]);
    all.append({kind, 0});
    return all;
  }

  std::array<Step, kMostSteps> steps_{};
  std::uint8_t size_ = 0;
};

/// The letters, for the files of algorithms.
namespace letters {
inline constexpr Formula P = Formula::Symbol::P;
inline constexpr Formula q = Formula::Symbol::q;
inline constexpr Formula n = Formula::Symbol::n;
inline constexpr Formula N = Formula::Symbol::N;
inline constexpr Formula alpha = Formula::Symbol::alpha;
inline constexpr Formula beta = Formula::Symbol::beta;
inline constexpr Formula gamma = Formula::Symbol::gamma;
inline constexpr Formula kappa = Formula::Symbol::kappa;
inline constexpr Formula lambda = Formula::Symbol::lambda;
inline constexpr Formula m = Formula::Symbol::m;
inline constexpr Formula depth = Formula::Symbol::depth;
inline constexpr Formula d = Formula::Symbol::d;
inline constexpr Formula c = Formula::Symbol::c;
inline constexpr Formula e = Formula::Symbol::e;
inline constexpr Formula w = Formula::Symbol::w;
inline constexpr Formula s = Formula::Symbol::s;
inline constexpr Formula g = Formula::Symbol::g;
constexpr Formula pairs(const Formula& bytes) { return along(Formula::Way::pairs, bytes); }
constexpr Formula any(const Formula& bytes) { return along(Formula::Way::any, bytes); }
constexpr Formula beside(const Formula& bytes) { return along(Formula::Way::beside, bytes); }
constexpr Formula from_last(const Formula& bytes) { return along(Formula::Way::from_last, bytes); }
constexpr Formula past_last(const Formula& bytes) { return along(Formula::Way::past_last, bytes); }
constexpr Formula doubling(const Formula& bytes) { return along(Formula::Way::doubling, bytes); }
constexpr Formula climbing(const Formula& bytes) { return along(Formula::Way::climbing, bytes); }
constexpr Formula spreading(const Formula& bytes) { return along(Formula::Way::spreading, bytes); }
constexpr Formula halving(const Formula& bytes) { return along(Formula::Way::halving, bytes); }
constexpr Formula growing(const Formula& bytes) { return along(Formula::Way::growing, bytes); }
constexpr Formula deep(const Formula& bytes) { return along(Formula::Way::deep, bytes); }
constexpr Formula below(const Formula& bytes) { return along(Formula::Way::below, bytes); }
constexpr Formula above(const Formula& bytes) { return along(Formula::Way::above, bytes); }
constexpr Formula fan_below(const Formula& bytes) { return along(Formula::Way::fan_below, bytes); }
constexpr Formula fan_above(const Formula& bytes) { return along(Formula::Way::fan_above, bytes); }
constexpr Formula midway(const Formula& bytes) { return along(Formula::Way::midway, bytes); }
constexpr Formula under(const Formula& bytes) { return along(Formula::Way::under, bytes); }
constexpr Formula fan_under(const Formula& bytes) { return along(Formula::Way::fan_under, bytes); }
constexpr Formula rest_under(const Formula& bytes) { return along(Formula::Way::rest_under, bytes); }
constexpr Formula queue(const Formula& bytes) { return along(Formula::Way::queue, bytes); }
constexpr Formula fan(const Formula& bytes) { return along(Formula::Way::fan, bytes); }
constexpr Formula around(const Formula& bytes) { return along(Formula::Way::around, bytes); }
constexpr Formula to_all(const Formula& bytes) { return along(Formula::Way::to_all, bytes); }
/// All others' messages through one port.
inline constexpr Formula one_by_one = (P - 1) * (n * beta + g);
}  // namespace letters

}  // namespace stretto
