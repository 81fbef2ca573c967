#include "simulated_words.hpp"

namespace stretto::smpi {

SimulatedWords::SimulatedWords(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  words_.resize(static_cast<std::size_t>(size));
  Words* mine = &mine_;
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, words_.data(), sizeof mine, MPI_BYTE, comm);
  PMPI_Win_create(travelling_.data(), sizeof travelling_, sizeof travelling_[0], MPI_INFO_NULL, comm, &window_);
  PMPI_Win_lock_all(0, window_);
}

SimulatedWords::~SimulatedWords() {
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
}

std::uint64_t SimulatedWords::compare_and_swap(int home, std::size_t index, std::uint64_t expected,
                                               std::uint64_t desired) {
  // SimGrid's get takes the time of the way back only.
  const auto travel = [&] {
    std::uint64_t seen = 0;
    PMPI_Get(&seen, 1, MPI_UINT64_T, home, static_cast<MPI_Aint>(index), 1, MPI_UINT64_T, window_);
    PMPI_Win_flush(home, window_);
  };
  travel();
  std::uint64_t& word = (*words_[static_cast<std::size_t>(home)])[index];
  const std::uint64_t seen = word;
  if (seen == expected) word = desired;
  travel();
  return seen;
}

}  // namespace stretto::smpi
