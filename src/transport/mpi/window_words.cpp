#include "transport/mpi/window_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

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

std::unique_ptr<WindowOfWords> WindowOfWords::open(MPI_Comm comm, bool shared) {
  // A library that has no window for these ranks shall say so to us alone.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::uint64_t* words = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  constexpr std::size_t kWords = kPlaces * RemoteWords::kWordsOfRank;
  const int result = PMPI_Win_allocate(kWords * sizeof *words, sizeof *words, MPI_INFO_NULL, comm,
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
  PMPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  return std::unique_ptr<WindowOfWords>(new WindowOfWords(window, words));
}

WindowOfWords::~WindowOfWords() {
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
}

std::optional<int> WindowOfWords::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) return std::nullopt;
  const int place = free_.back();
  free_.pop_back();
  std::fill_n(words_ + static_cast<std::size_t>(place) * RemoteWords::kWordsOfRank, RemoteWords::kWordsOfRank,
              std::uint64_t{0});
  PMPI_Win_sync(window_);
  return place;
}

void WindowOfWords::give(int place) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(place);
}

std::unique_ptr<WindowWords> WindowWords::create(MPI_Comm comm, const Channel& members, WindowOfWords& window) {
  const std::optional<int> place = window.take();
  const int mine = place.value_or(-1);
  std::vector<int> places(static_cast<std::size_t>(members.size()));
  // Nobody is out of it before all have made their words 0.
  PMPI_Allgather(&mine, 1, MPI_INT, places.data(), 1, MPI_INT, comm);
  if (std::ranges::any_of(places, [](int each) { return each < 0; })) {
    if (place) window.give(*place);
    return nullptr;
  }
  return std::unique_ptr<WindowWords>(new WindowWords(members, window, mine, std::move(places)));
}

std::uint64_t WindowWords::compare_and_swap(int home, std::size_t index, std::uint64_t expected,
                                            std::uint64_t desired) {
  std::uint64_t seen = 0;
  const auto place = static_cast<std::size_t>(places_[static_cast<std::size_t>(home)]);
  const auto word = static_cast<MPI_Aint>(place * kWordsOfRank + index);
  const int real = members_.real(home);
  PMPI_Compare_and_swap(&desired, &expected, &seen, MPI_UINT64_T, real, word, window_.window_);
  PMPI_Win_flush(real, window_.window_);
  return seen;
}

}  // namespace stretto::mpi
