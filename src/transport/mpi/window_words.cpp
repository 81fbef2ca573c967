#include "transport/mpi/window_words.hpp"

#include <algorithm>
#include <string_view>

namespace stretto::mpi {
namespace {

// Open MPI's one-sided component `rdma`, which its windows are named after, crashes in atomics between ranks of a node:
// issues 7027, 9146 and 11349 of open-mpi/ompi, seen with 4.1.4.
bool crashes_within_nodes(MPI_Win window) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Win_get_name(window, name, &length);
  return std::string_view(name).starts_with("rdma window");
}

}  // namespace

std::unique_ptr<WindowWords> WindowWords::create(MPI_Comm comm, bool shared) {
  // A library that has no window for these ranks shall say so to us alone.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::uint64_t* words = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int result = PMPI_Win_allocate(kWordsOfRank * sizeof *words, sizeof *words, MPI_INFO_NULL, comm,
                                       static_cast<void*>(&words), &window);
  PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);
  const bool made = result == MPI_SUCCESS && window != MPI_WIN_NULL;
  int all_made = made ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &all_made, 1, MPI_INT, MPI_MIN, comm);
  if (all_made == 0) return nullptr;  // where others failed there is nobody to free it with
  if (shared && crashes_within_nodes(window)) {
    PMPI_Win_free(&window);
    return nullptr;
  }
  std::fill_n(words, kWordsOfRank, std::uint64_t{0});
  PMPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  PMPI_Win_sync(window);
  PMPI_Barrier(comm);
  return std::unique_ptr<WindowWords>(new WindowWords(window));
}

WindowWords::~WindowWords() {
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
}

std::uint64_t WindowWords::compare_and_swap(int home, std::size_t index, std::uint64_t expected,
                                            std::uint64_t desired) {
  std::uint64_t seen = 0;
  PMPI_Compare_and_swap(&desired, &expected, &seen, MPI_UINT64_T, home, static_cast<MPI_Aint>(index), window_);
  PMPI_Win_flush(home, window_);
  return seen;
}

}  // namespace stretto::mpi
