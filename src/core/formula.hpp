// Formulas of what an algorithm costs: written once in the file of the algorithm, in C++'s own notation, then computed
// for a machine and printed for people.
//
//     .balanced = 2 * log(P) * alpha + 2 * n * beta + n * gamma      "2 log P α + 2nβ + nγ"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stretto {

/// What formulas speak of. Times are in ns, lengths in bytes.
struct Terms {
  double ranks = 1;           // P
  double ranks_per_node = 1;  // q
  double bytes = 0;           // n: of the message; where each rank has a block, of one
  double all_bytes = 0;       // N: of the blocks of all ranks
  double alpha_ns = 0;        // α: latency of a message
  double beta_ns = 0;         // β: time of a message per byte
  double gamma_ns = 0;        // γ: time of a reduction per byte
  double copy_ns = 0;         // κ: time of a copy in memory per byte
  double line_ns = 0;         // λ: handing a cache line from one core to another
  double segments = 1;        // m: into which a message is cut
  double depth = 1;           // of a tree
  double children = 1;        // c: that a rank of a tree has
};

class Formula {
 public:
  enum class Symbol : std::uint8_t { P, q, n, N, alpha, beta, gamma, kappa, lambda, m, depth, c };

  constexpr Formula() = default;
  constexpr Formula(int number) { append({Step::Kind::number, static_cast<std::int16_t>(number)}); }
  constexpr Formula(Symbol symbol) { append({Step::Kind::symbol, static_cast<std::int16_t>(symbol)}); }

  friend constexpr Formula operator+(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::sum); }
  friend constexpr Formula operator-(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::difference); }
  friend constexpr Formula operator*(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::product); }
  friend constexpr Formula operator/(const Formula& a, const Formula& b) { return join(a, b, Step::Kind::quotient); }
  /// To the base 2.
  friend constexpr Formula log(Formula a) {
    a.append({Step::Kind::logarithm, 0});
    return a;
  }

  /// In ns.
  double value(const Terms& terms) const;
  /// As people write it.
  std::string text() const;

 private:
  // In reverse Polish notation.
  struct Step {
    enum class Kind : std::uint8_t { number, symbol, sum, difference, product, quotient, logarithm };
    Kind kind = Kind::number;
    std::int16_t operand = 0;
  };
  static constexpr std::size_t kMostSteps = 40;

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
inline constexpr Formula c = Formula::Symbol::c;
}  // namespace letters

}  // namespace stretto
