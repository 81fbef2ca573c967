// What was chosen for the latest call of each collective, for the next one that is alike: most programs repeat
// themselves, and to choose takes as long as to broadcast.
#pragma once

#include <array>
#include <cstddef>

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

  /// What was kept last, for the same question; nullptr if that was another.
  const Algorithm* find(Collective collective, const Question& question) const {
    const Latest& latest = latest_[static_cast<std::size_t>(collective)];
    return latest.question == question ? latest.algorithm : nullptr;
  }
  void keep(Collective collective, const Question& question, const Algorithm* algorithm) {
    latest_[static_cast<std::size_t>(collective)] = {question, algorithm};
  }

 private:
  struct Latest {
    Question question{};
    const Algorithm* algorithm = nullptr;
  };
  std::array<Latest, std::size(kCollectives)> latest_{};
};

}  // namespace stretto::mpi
