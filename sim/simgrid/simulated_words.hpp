// Words that ranks simulated by SimGrid have in common.
//
// MPI_Compare_and_swap of SimGrid 3.32 lets the next one in while what it puts is still on its way, so two ranks can
// both find a word empty. Here the words are in the memory of SimGrid's one process, and time is that of a one-sided
// message there and one back.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "core/remote_words.hpp"

namespace stretto::smpi {

class SimulatedWords final : public RemoteWords {
 public:
  /// Collective over `comm`, as is the end.
  explicit SimulatedWords(MPI_Comm comm);
  ~SimulatedWords() override;

  std::uint64_t compare_and_swap(int home, std::size_t index, std::uint64_t expected, std::uint64_t desired) override;

 private:
  using Words = std::array<std::uint64_t, kWordsOfRank>;

  MPI_Win window_ = MPI_WIN_NULL;  // of words that only travel
  Words travelling_{};
  Words mine_{};
  std::vector<Words*> words_;  // of each rank
};

}  // namespace stretto::smpi
