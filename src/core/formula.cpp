#include "core/formula.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stretto {
namespace {

constexpr std::string_view kLetters[] = {"P", "q",     "n", "N", "α", "β", "γ", "κ", "λ",
                                         "m", "depth", "d", "c", "e", "w", "s", "g"};
// Those that stand beside their factor without a space: 2nβ, but 2 log P α.
constexpr std::string_view kClose[] = {"n", "N", "β", "γ", "κ"};

// The first message of a rank beyond a power of two overlaps others where there are few of these, if it need not wait.
double messages_to_fold(const Terms& terms) {
  const auto power = static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(terms.ranks)));
  if (terms.ranks == power) return 0;
  return terms.bytes < terms.eager_bytes && terms.ranks <= 1.5 * power ? 1 : 2;
}

// Where some ranks stand for two, how far apart in number those are that exchange.
double apart(const Terms& terms, double distance) {
  return std::has_single_bit(static_cast<std::uint64_t>(terms.ranks)) ? distance : 2 * distance;
}

double latencies(const Terms& terms, double bytes) { return bytes < terms.eager_bytes ? 1 : 1 + terms.handshakes; }
double near_ns(const Terms& terms, double bytes) {
  return latencies(terms, bytes) * terms.near_alpha_ns + bytes * terms.near_beta_ns;
}
double far_ns(const Terms& terms, double bytes) {
  return latencies(terms, bytes) * terms.alpha_ns + bytes * terms.beta_ns;
}

// Whether a rank that is so far away in number is on the same node.
bool is_near(const Terms& terms, double distance) {
  if (terms.in_turn == 0) return distance < terms.ranks_per_node;
  return static_cast<int>(distance) % terms.in_turn == 0;
}

// Of one message to the rank that is so far away in number.
double message_ns(const Terms& terms, double distance, double bytes) {
  return is_near(terms, distance) ? near_ns(terms, bytes) : far_ns(terms, bytes);
}

// The same, where all ranks send one at once.
double crowded_ns(const Terms& terms, double distance, double bytes) {
  const double slower_ns = is_near(terms, distance) ? terms.near_crowded_beta_ns - terms.near_beta_ns
                                                    : terms.crowded_beta_ns - terms.beta_ns;
  return message_ns(terms, distance, bytes) + bytes * std::max(slower_ns, 0.0);
}

// In the mean over all other ranks.
double any_ns(const Terms& terms, double bytes) {
  const double others = std::max(terms.ranks - 1, 1.0);
  const double near = (std::min(terms.ranks_per_node, terms.ranks) - 1) / others;
  return near * near_ns(terms, bytes) + (1 - near) * far_ns(terms, bytes);
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

double hops_ns(const Terms& terms, const Hops& hops, double bytes) {
  return hops.near * near_ns(terms, bytes) + hops.far * far_ns(terms, bytes);
}

double wires_ns(const Terms& terms, const Hops& hops, double bytes, double slowest_ns = 0) {
  return hops.near * (bytes * std::max(terms.near_beta_ns, slowest_ns) + terms.near_gap_ns) +
         hops.far * (bytes * std::max(terms.beta_ns, slowest_ns) + terms.gap_ns);
}

double around_ns(const Terms& terms, double bytes) {
  const bool several = terms.ranks_per_node < terms.ranks;
  const double between = !several ? 0 : terms.in_turn > 0 ? 1 : 1 / terms.ranks_per_node;  // of all hops
  const bool waits = between > 0 && bytes >= terms.eager_bytes;  // for the slowest, in each step
  const double alpha_ns = waits ? terms.alpha_ns : between * terms.alpha_ns + (1 - between) * terms.near_alpha_ns;
  const double far_ns = std::max(terms.beta_ns, between == 1 ? terms.crowded_beta_ns : 0);  // all send there at once
  const double near_ns = std::max(terms.near_beta_ns, between < 1 ? terms.near_crowded_beta_ns : 0);
  return (terms.ranks - 1) * (latencies(terms, bytes) * alpha_ns + bytes * std::max(far_ns, near_ns));
}

// What each rank sends shares the wires with what all others do; latencies are under way together.
double to_all_ns(const Terms& terms, double bytes) {
  if (terms.ranks < 2) return 0;
  const double near = std::min(terms.ranks_per_node, terms.ranks) - 1;
  const double far = terms.ranks - 1 - near;
  const double alpha_ns = far > 0 ? terms.alpha_ns : terms.near_alpha_ns;
  const double gap_ns = far > 0 ? terms.gap_ns : terms.near_gap_ns;
  return latencies(terms, bytes) * alpha_ns + (terms.ranks - 2) * gap_ns +
         bytes * (far * std::max(terms.beta_ns, terms.crowded_beta_ns) +
                  near * std::max(terms.near_beta_ns, terms.near_crowded_beta_ns));
}

double way_ns(Formula::Way way, const Terms& terms, double bytes) {
  double ns = 0;
  switch (way) {
    case Formula::Way::beside:
      return message_ns(terms, 1, bytes);
    case Formula::Way::pairs:  // where messages wait, all ranks for those that are farthest
      return bytes < terms.eager_bytes ? any_ns(terms, bytes) : crowded_ns(terms, terms.ranks - 1, bytes);
    case Formula::Way::any:
      return any_ns(terms, bytes);
    case Formula::Way::doubling:
      for (int distance = 1; 2 * distance <= terms.ranks; distance *= 2) {
        ns += crowded_ns(terms, apart(terms, distance), bytes);
      }
      return ns;
    case Formula::Way::spreading:
      for (int distance = 1; distance < terms.ranks; distance *= 2) {
        const bool beside = terms.in_turn == 0 && is_near(terms, distance) && terms.ranks_per_node < terms.ranks;
        ns += crowded_ns(terms, distance, bytes) / (beside ? 2 : 1);
        if (beside) ns += crowded_ns(terms, terms.ranks - 1, bytes) / 2;
      }
      return ns;
    case Formula::Way::halving:
      for (int distance = 1; 2 * distance <= terms.ranks; distance *= 2) {
        ns += crowded_ns(terms, apart(terms, distance), bytes / (2 * distance));
      }
      return ns;
    case Formula::Way::growing:
      for (int distance = 1; 2 * distance <= terms.ranks; distance *= 2) {
        ns += crowded_ns(terms, apart(terms, distance), bytes * distance / terms.ranks);
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
      return hops_ns(terms, terms.deep, bytes);
    case Formula::Way::below:
      return hops_ns(terms, terms.below, bytes);
    case Formula::Way::above:
      return hops_ns(terms, terms.above, bytes);
    case Formula::Way::queue:
      return wires_ns(terms, terms.queued, bytes);
    case Formula::Way::fan:
      return wires_ns(terms, terms.children, bytes);
    case Formula::Way::fan_below:
      return wires_ns(terms, terms.wide_below, bytes);
    case Formula::Way::fan_above:
      return wires_ns(terms, terms.wide_above, bytes, terms.gamma_ns);
    case Formula::Way::midway:
      return hops_ns(terms, terms.midway, bytes) + wires_ns(terms, terms.midway_queued, bytes);
    case Formula::Way::under:
      return hops_ns(terms, terms.under, bytes);
    case Formula::Way::fan_under:
      return wires_ns(terms, terms.wide_under, bytes, terms.gamma_ns);
    case Formula::Way::rest_under:
      return wires_ns(terms, terms.rest_under, bytes, terms.gamma_ns);
    case Formula::Way::around:
      return around_ns(terms, bytes);
    case Formula::Way::to_all:
      return to_all_ns(terms, bytes);
  }
  return ns;
}

// To the base 2, without the mathematical library, whose last bit depends on the processor: ranks choose by formulas.
double ceil_log(double number) {
  return std::bit_width(static_cast<std::uint32_t>(std::max(std::ceil(number), 1.0)) - 1);
}

double number_of(Formula::Symbol symbol, const Terms& terms) {
  using Symbol = Formula::Symbol;
  switch (symbol) {
    case Symbol::P:
      return terms.ranks;
    case Symbol::q:
      return terms.ranks_per_node;
    case Symbol::n:
      return terms.bytes;
    case Symbol::N:
      return terms.all_bytes;
    case Symbol::alpha:
      return terms.alpha_ns;
    case Symbol::beta:
      return terms.beta_ns;
    case Symbol::gamma:
      return terms.gamma_ns;
    case Symbol::kappa:
      return terms.copy_ns;
    case Symbol::lambda:
      return terms.line_ns;
    case Symbol::m:
      return terms.segments;
    case Symbol::depth:
      return terms.deep.count();
    case Symbol::d:
      return terms.midway.count() * terms.ranks / std::max(terms.ranks - 1, 1.0);
    case Symbol::c:
      return terms.children.count();
    case Symbol::e:
      return messages_to_fold(terms);
    case Symbol::w:
      return terms.waits() ? 1 : 0;
    case Symbol::s:
      return terms.announced() ? 1 : 0;
    case Symbol::g:
      return terms.gap_ns;
  }
  return 0;
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
  return digit || text.ends_with('n') || text.ends_with('N');
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
    case Formula::Way::to_all:
      return {Piece::Kind::sum, bytes.text == "0"
                                    ? "α"
                                    : "α + " + product_of({Piece::Kind::sum, "P - 1"}, {Piece::Kind::atom, wire}).text};
    case Formula::Way::around:
      return product_of({Piece::Kind::sum, "P - 1"}, message);
    case Formula::Way::deep:
      return product_of({Piece::Kind::atom, "depth"}, message);
    case Formula::Way::below:
    case Formula::Way::above:
    case Formula::Way::midway:
    case Formula::Way::under:
      return {Piece::Kind::quotient, product_of({Piece::Kind::atom, "depth"}, message).text + "/2"};
    case Formula::Way::fan_below:
    case Formula::Way::fan_above:
    case Formula::Way::fan_under:
    case Formula::Way::rest_under:
      return {Piece::Kind::atom, wire};
    case Formula::Way::queue:
      return product_of({Piece::Kind::atom, "depth"}, {Piece::Kind::atom, wire});
    case Formula::Way::fan:
      return product_of({Piece::Kind::atom, "c"}, {Piece::Kind::atom, wire});
  }
  return message;
}

}  // namespace

double Formula::joined(Step::Kind kind, double a, double b) {
  switch (kind) {
    case Step::Kind::sum:
      return a + b;
    case Step::Kind::difference:
      return a - b;
    case Step::Kind::product:
      return a * b;
    case Step::Kind::quotient:
      return a / b;
    case Step::Kind::minimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

double Formula::value(const Terms& terms) const {
  std::array<double, kMostSteps> stack;  // NOLINT(cppcoreguidelines-pro-type-member-init): all of it takes longer
  std::size_t height = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const Step step = steps_[i];
    switch (step.kind) {
      case Step::Kind::number:
        stack[height++] = step.operand;
        continue;
      case Step::Kind::symbol:
        stack[height++] = number_of(static_cast<Symbol>(step.operand), terms);
        continue;
      case Step::Kind::logarithm:
        stack[height - 1] = ceil_log(stack[height - 1]);
        continue;
      case Step::Kind::way:
        stack[height - 1] = way_ns(static_cast<Way>(step.operand), terms, stack[height - 1]);
        continue;
      default:
        --height;
        stack[height - 1] = joined(step.kind, stack[height - 1], stack[height]);
    }
  }
  return height == 0 ? 0 : stack[0];
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
      const bool is_least = step.kind == Step::Kind::minimum;
      if (is_least || step.kind == Step::Kind::maximum) {
        stack.push_back({Piece::Kind::atom, (is_least ? "min(" : "max(") + a.text + ", " + b.text + ")"});
      }
      if (step.kind == Step::Kind::quotient) {
        stack.push_back({Piece::Kind::quotient, a.as_factor() + "/" + b.as_divisor()});
      }
    }
  }
  return stack.empty() ? "0" : stack.back().text;
}

}  // namespace stretto
