#include "catalogue/catalogue.hpp"

#include <deque>
#include <string>
#include <vector>

#include "catalogue/descriptions.hpp"

namespace stretto {
namespace {

constexpr Formula kAllOfIt = 1;

// Whether each rank knows the length of its own block only. Then nothing of a call can be done before the program
// comes.
bool has_lengths(const Description& description, Collective collective) {
  return collective == description.with_lengths;
}

class Catalogue {
 public:
  Catalogue() {
    for (const Collective collective : kCollectives) {
      for (const Description* description : descriptions()) {
        if (collective == description->collective || has_lengths(*description, collective))
          add(*description, collective);
      }
    }
    for (std::size_t number = 0; number < entries_.size(); ++number) entries_[number].number = number;
  }
  const std::vector<Algorithm>& entries() const { return entries_; }

 private:
  void add(const Description& description, Collective collective) {
    Algorithm plain{.collective = collective, .name = description.name, .run = description.run};
    plain.shortly = description.shortly;
    plain.needs = description.needs;
    plain.order_use = description.order;
    plain.deterministic = description.sums == Sums::the_same;
    plain.in_nodes = description.in_nodes;
    plain.serves_announced = description.serves_announced;
    plain.suiting_map = description.map;
    plain.summary = description.summary;
    plain.source = description.source;
    plain.balanced = &description.cost.balanced;
    plain.after_last = &description.cost.after_last;
    plain.mean = description.cost.mean ? &*description.cost.mean : plain.balanced;
    plain.waiting = description.cost.waiting ? &*description.cost.waiting : &kAllOfIt;
    if (!plain.name.empty()) entries_.push_back(plain);
    for (const Variant& variant : description.variants) {
      if (variant.name.empty() || (variant.ahead && has_lengths(description, collective))) continue;
      entries_.push_back(varied(plain, variant));
    }
  }

  Algorithm varied(Algorithm one, const Variant& variant) {
    one.name = variant.name;
    one.shortly = {};
    if (variant.run != nullptr) one.run = variant.run;
    if (variant.needs) one.needs = *variant.needs;
    if (variant.order != OrderUse::none) one.order_use = variant.order;
    one.begins_ahead = variant.ahead;
    one.deterministic = one.deterministic && variant.sums == Sums::the_same;
    if (variant.serves_announced != ServesAnnounced::no) one.serves_announced = variant.serves_announced;
    if (!variant.summary.empty()) one.summary = variant.summary;
    if (variant.balanced) one.balanced = &*variant.balanced;
    if (variant.after_last) one.after_last = &*variant.after_last;
    if (variant.mean) one.mean = &*variant.mean;
    if (variant.shape != nullptr) give_shape(one, *variant.shape);
    return one;
  }

  void give_shape(Algorithm& one, const TreeShape& shape) {
    one.shape = &shape;
    one.suiting_map = shape.map;
    std::string& summary = texts_.emplace_back(one.summary);
    summary.replace(summary.find("{}"), 2, shape.words);
    one.summary = summary;
  }

  std::deque<std::string> texts_;  // which entries refer to
  std::vector<Algorithm> entries_;
};

}  // namespace

std::span<const Algorithm> algorithms() {
  static const auto* all = new Catalogue;  // never destroyed: MPI may still run when the process ends
  return all->entries();
}

}  // namespace stretto
