// What was chosen for the latest call of each collective, for the next one that is alike: most programs repeat
// themselves, and to choose takes as long as to broadcast.
#pragma once

#include <array>
#include <cstddef>

#include "mpi/engine/experience.hpp"
#include "select/configuration.hpp"

namespace stretto::mpi {

class LatestChoices {
 public:
  /// All that choosing goes by and that may change from call to call of a communicator.
  struct Question {
    Choice choice;
    std::size_t bytes;
    std::size_t element_bytes;
    bool commutative;
    bool uneven;

    bool operator==(const Question&) const = default;
  };

  struct Latest {
    Question question{};
    const Algorithm* algorithm = nullptr;
    Experience::Front* experience = nullptr;  // whose experience may have it otherwise; nullptr for none's
    Experience::Front::Verdict verdict{};     // of it, that it was chosen by
  };

  /// What was kept last, for the same question; nullptr if that was another.
  const Latest* find(Collective collective, const Question& question) {
    const Latest& latest = of(collective, question);
    return latest.algorithm != nullptr && latest.question == question ? &latest : nullptr;
  }
  void keep(Collective collective, const Latest& latest) { of(collective, latest.question) = latest; }
  /// Beside it, for one kind of the collective's calls.
  Experience::Front& front(Collective collective) { return latest_[static_cast<std::size_t>(collective)].front; }

 private:
  // By rule and forced: a benchmark that takes turns is to find what a program finds.
  struct alignas(128) OfCollective {  // two cache lines, which come together
    Latest by_rule;
    Experience::Front front;
    Latest forced;
  };
  Latest& of(Collective collective, const Question& question) {
    OfCollective& latest = latest_[static_cast<std::size_t>(collective)];
    return question.choice.kind == Choice::Kind::forced ? latest.forced : latest.by_rule;
  }
  std::array<OfCollective, std::size(kCollectives)> latest_{};
};

}  // namespace stretto::mpi
