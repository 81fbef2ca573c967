#include "core/formula.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stretto {
namespace {

constexpr std::string_view kLetters[] = {"P", "q", "n", "N", "α", "β", "γ", "κ", "λ", "m", "depth", "c", "e", "w"};
// Those that stand beside their factor without a space: 2nβ, but 2 log P α.
constexpr std::string_view kClose[] = {"n", "N", "β", "γ", "κ"};

// The first message of a rank beyond a power of two overlaps others where there are few of these, if it need not wait.
double messages_to_fold(const Terms& terms) {
  const double power = std::exp2(std::floor(std::log2(terms.ranks)));
  if (terms.ranks == power) return 0;
  return terms.bytes < terms.eager_bytes && terms.ranks <= 1.5 * power ? 1 : 2;
}

// Of one message to the rank that is so far away in number. Ranks of a node follow each other.
double message_ns(const Terms& terms, double distance, double bytes) {
  const bool near = distance < terms.ranks_per_node;
  return (near ? terms.near_alpha_ns : terms.alpha_ns) + bytes * (near ? terms.near_beta_ns : terms.beta_ns);
}

// In the mean over all other ranks.
double any_ns(const Terms& terms, double bytes) {
  const double others = std::max(terms.ranks - 1, 1.0);
  const double near = (std::min(terms.ranks_per_node, terms.ranks) - 1) / others;
  return near * message_ns(terms, 1, bytes) + (1 - near) * message_ns(terms, terms.ranks - 1, bytes);
}

// A parent's messages to its children that leave at once are under way together.
double climbing_ns(const Terms& terms, double bytes) {
  double ns = 0;
  for (int distance = 1; distance < terms.ranks; distance *= 2) {
    const bool overlaps = 2 * distance > terms.ranks && bytes < terms.eager_bytes;
    ns += message_ns(terms, distance, bytes) - (overlaps ? message_ns(terms, distance, 0) : 0);
  }
  return ns;
}

double around_ns(const Terms& terms, double bytes) {
  const double between = terms.ranks_per_node < terms.ranks ? 1 / terms.ranks_per_node : 0;  // of all hops
  const bool waits = between > 0 && bytes >= terms.eager_bytes;  // for the slowest, in each step
  const double alpha_ns = waits ? terms.alpha_ns : between * terms.alpha_ns + (1 - between) * terms.near_alpha_ns;
  return (terms.ranks - 1) * (alpha_ns + bytes * std::max(terms.beta_ns, terms.near_beta_ns));
}

double way_ns(Formula::Way way, const Terms& terms, double bytes) {
  double ns = 0;
  switch (way) {
    case Formula::Way::beside:
      return message_ns(terms, 1, bytes);
    case Formula::Way::pairs:  // where messages wait, all ranks for those that are farthest
      return bytes < terms.eager_bytes ? any_ns(terms, bytes) : message_ns(terms, terms.ranks - 1, bytes);
    case Formula::Way::any:
      return any_ns(terms, bytes);
    case Formula::Way::doubling:
      for (int distance = 1; 2 * distance <= terms.ranks; distance *= 2) ns += message_ns(terms, distance, bytes);
      return ns;
    case Formula::Way::spreading:
      for (int distance = 1; distance < terms.ranks; distance *= 2) {
        const bool beside = distance < terms.ranks_per_node && terms.ranks_per_node < terms.ranks;
        ns += message_ns(terms, distance, bytes) / (beside ? 2 : 1);
        if (beside) ns += message_ns(terms, terms.ranks - 1, bytes) / 2;
      }
      return ns;
    case Formula::Way::halving:
      for (int distance = 1; 2 * distance <= terms.ranks; distance *= 2) {
        ns += message_ns(terms, distance, bytes / (2 * distance));
      }
      return ns;
    case Formula::Way::growing:
      for (int distance = 1; 2 * distance <= terms.ranks; distance *= 2) {
        ns += message_ns(terms, distance, bytes * distance / terms.ranks);
      }
      return ns;
    case Formula::Way::climbing:
      return climbing_ns(terms, bytes);
    case Formula::Way::from_last:
      if (bytes >= terms.eager_bytes) return climbing_ns(terms, bytes);
      for (int distance = 1; distance < terms.ranks; distance *= 2) {
        ns += message_ns(terms, distance, bytes) * (distance < terms.last ? 1 : 0.5);
      }
      return ns;
    case Formula::Way::past_last:  // half of all ranks have no child, a quarter have one, and the root is seldom last
      if (bytes >= terms.eager_bytes) ns = message_ns(terms, 1, bytes);  // which has not come before them
      for (int distance = 1; distance < terms.ranks; distance *= 2) {
        ns += message_ns(terms, distance, bytes) * std::min(terms.last / (2 * distance), 1.0);
      }
      return ns;
    case Formula::Way::deep:
      if (terms.depth + 1 >= terms.ranks) return around_ns(terms, bytes);  // a chain
      for (int distance = 1; distance < terms.ranks; distance *= 2) ns += message_ns(terms, distance, bytes);
      return ns * terms.depth / std::ceil(std::log2(terms.ranks));
    case Formula::Way::around:
      return around_ns(terms, bytes);
  }
  return ns;
}

double number_of(Formula::Symbol symbol, const Terms& terms) {
  const double numbers[] = {terms.ranks,
                            terms.ranks_per_node,
                            terms.bytes,
                            terms.all_bytes,
                            terms.alpha_ns,
                            terms.beta_ns,
                            terms.gamma_ns,
                            terms.copy_ns,
                            terms.line_ns,
                            terms.segments,
                            terms.depth,
                            terms.children,
                            messages_to_fold(terms),
                            terms.bytes < terms.eager_bytes ? 0.0 : 1.0};
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

// As if all links were the same.
Piece way_text(Formula::Way way, const Piece& bytes) {
  const Piece alpha{Piece::Kind::atom, "α"};
  std::string wire = product_of(bytes, {Piece::Kind::atom, "β"}).text;
  if (bytes.kind == Piece::Kind::quotient) wire = std::string(bytes.text).insert(bytes.text.find('/'), "β");
  Piece message = bytes.text == "0" ? alpha : Piece{Piece::Kind::sum, "α + " + wire};
  switch (way) {
    case Formula::Way::beside:
    case Formula::Way::any:
    case Formula::Way::pairs:
    case Formula::Way::past_last:
      return message;
    case Formula::Way::halving:
    case Formula::Way::growing:
      return {Piece::Kind::sum, "log P " + message.text};
    case Formula::Way::doubling:
    case Formula::Way::spreading:
    case Formula::Way::climbing:
      return product_of({Piece::Kind::product, "log P"}, message);
    case Formula::Way::from_last:
      return {Piece::Kind::quotient, product_of({Piece::Kind::product, "log P"}, message).text + "/2"};
    case Formula::Way::around:
      return product_of({Piece::Kind::sum, "P - 1"}, message);
    case Formula::Way::deep:
      return product_of({Piece::Kind::atom, "depth"}, message);
  }
  return message;
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
      stack.back() = std::ceil(std::log2(stack.back()));
    } else if (step.kind == Step::Kind::way) {
      stack.back() = way_ns(static_cast<Way>(step.operand), terms, stack.back());
    } else {
      const double b = pop(stack);
      double& a = stack.back();
      if (step.kind == Step::Kind::sum) a += b;
      if (step.kind == Step::Kind::difference) a -= b;
      if (step.kind == Step::Kind::product) a *= b;
      if (step.kind == Step::Kind::quotient) a /= b;
      if (step.kind == Step::Kind::maximum) a = std::max(a, b);
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
    } else if (step.kind == Step::Kind::way) {
      stack.back() = way_text(static_cast<Way>(step.operand), stack.back());
    } else {
      const Piece b = pop(stack);
      const Piece a = pop(stack);
      if (step.kind == Step::Kind::sum) stack.push_back({Piece::Kind::sum, a.text + " + " + b.text});
      if (step.kind == Step::Kind::difference) stack.push_back({Piece::Kind::sum, a.text + " - " + b.as_factor()});
      if (step.kind == Step::Kind::product) stack.push_back(product_of(a, b));
      if (step.kind == Step::Kind::maximum) {
        stack.push_back({Piece::Kind::atom, "max(" + a.text + ", " + b.text + ")"});
      }
      if (step.kind == Step::Kind::quotient) {
        stack.push_back({Piece::Kind::quotient, a.as_factor() + "/" + b.as_divisor()});
      }
    }
  }
  return stack.empty() ? "0" : stack.back().text;
}

}  // namespace stretto
