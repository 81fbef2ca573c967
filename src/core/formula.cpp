#include "core/formula.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stretto {
namespace {

constexpr std::string_view kLetters[] = {"P", "q", "n", "N", "α", "β", "γ", "κ", "λ", "m", "depth", "c"};
// Those that stand beside their factor without a space: 2nβ, but 2 log P α.
constexpr std::string_view kClose[] = {"n", "N", "β", "γ", "κ"};

double number_of(Formula::Symbol symbol, const Terms& terms) {
  const double numbers[] = {terms.ranks,    terms.ranks_per_node, terms.bytes,    terms.all_bytes,
                            terms.alpha_ns, terms.beta_ns,        terms.gamma_ns, terms.copy_ns,
                            terms.line_ns,  terms.segments,       terms.depth,    terms.children};
  return numbers[static_cast<std::size_t>(symbol)];
}

template <class T>
T pop(std::vector<T>& stack) {
  T top = std::move(stack.back());
  stack.pop_back();
  return top;
}

// A part of a formula as text, with what it is made by, which decides about brackets.
struct Piece {
  enum class Kind { sum, product, quotient, atom };
  Kind kind;
  std::string text;

  std::string as_factor() const { return kind == Kind::sum ? "(" + text + ")" : text; }
  std::string as_divisor() const { return kind == Kind::atom ? text : "(" + text + ")"; }
};

bool begins_with_any(std::string_view text, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}
bool ends_closely(std::string_view text) {
  const bool digit = !text.empty() && text.back() >= '0' && text.back() <= '9';
  return digit || text.ends_with("n") || text.ends_with("N");
}

Piece product_of(const Piece& a, const Piece& b) {
  const std::string left = a.as_factor();
  const std::string right = b.as_factor();
  const bool close = ends_closely(left) && begins_with_any(right, kClose);
  // A number before a latency stands close to it, as in 3α.
  const bool counted =
      a.kind == Piece::Kind::atom && ends_closely(left) && (right == "α" || right == "P" || right == "λ");
  return {Piece::Kind::product, left + (close || counted ? "" : " ") + right};
}

}  // namespace

double Formula::value(const Terms& terms) const {
  std::vector<double> stack;
  for (std::size_t i = 0; i < size_; ++i) {
    const Step step = steps_[i];
    if (step.kind == Step::Kind::number) {
      stack.push_back(step.operand);
    } else if (step.kind == Step::Kind::symbol) {
      stack.push_back(number_of(static_cast<Symbol>(step.operand), terms));
    } else if (step.kind == Step::Kind::logarithm) {
      stack.back() = std::log2(stack.back());
    } else {
      const double b = pop(stack);
      double& a = stack.back();
      if (step.kind == Step::Kind::sum) a += b;
      if (step.kind == Step::Kind::difference) a -= b;
      if (step.kind == Step::Kind::product) a *= b;
      if (step.kind == Step::Kind::quotient) a /= b;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

std::string Formula::text() const {
  std::vector<Piece> stack;
  for (std::size_t i = 0; i < size_; ++i) {
    const Step step = steps_[i];
    if (step.kind == Step::Kind::number) {
      stack.push_back({Piece::Kind::atom, std::to_string(step.operand)});
    } else if (step.kind == Step::Kind::symbol) {
      stack.push_back({Piece::Kind::atom, std::string(kLetters[step.operand])});
    } else if (step.kind == Step::Kind::logarithm) {
      stack.back() = {Piece::Kind::product, "log " + stack.back().as_divisor()};
    } else {
      const Piece b = pop(stack);
      const Piece a = pop(stack);
      if (step.kind == Step::Kind::sum) stack.push_back({Piece::Kind::sum, a.text + " + " + b.text});
      if (step.kind == Step::Kind::difference) stack.push_back({Piece::Kind::sum, a.text + " - " + b.as_factor()});
      if (step.kind == Step::Kind::product) stack.push_back(product_of(a, b));
      if (step.kind == Step::Kind::quotient) {
        stack.push_back({Piece::Kind::quotient, a.as_factor() + "/" + b.as_divisor()});
      }
    }
  }
  return stack.empty() ? "0" : stack.back().text;
}

}  // namespace stretto
