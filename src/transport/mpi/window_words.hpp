// Words in an MPI window, changed by one-sided atomics (MPI 3.1, section 11.3.4).
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/remote_words.hpp"
#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

/// Room for the words of several communicators at every rank of the private one. A window is made like a communicator,
/// so there is one, made in MPI_Init.
class WindowOfWords {
 public:
  /// Collective over `comm`, which outlives the window; nullptr on all ranks alike where some rank gets none that
  /// works. `shared`: some ranks share a node.
  static std::unique_ptr<WindowOfWords> open(MPI_Comm comm, bool shared);
  /// Collective.
  ~WindowOfWords();
  WindowOfWords(const WindowOfWords&) = delete;
  WindowOfWords& operator=(const WindowOfWords&) = delete;

 private:
  friend class WindowWords;
  static constexpr int kPlaces = 64;  // communicators at once

  WindowOfWords(MPI_Win window, std::uint64_t* words) : window_(window), words_(words) {
    for (int place = 0; place < kPlaces; ++place) free_.push_back(place);
  }
  /// For kWordsOfRank words, all 0; nullopt if there is none left.
  std::optional<int> take();
  void give(int place);

  MPI_Win window_;
  std::uint64_t* words_;  // this rank's
  std::mutex mutex_;
  std::vector<int> free_;
};

class WindowWords final : public RemoteWords {
 public:
  /// Collective over `comm`, whose ranks `members` are, as a collective operation of which it counts; nullptr on all
  /// ranks alike where some rank has no room left.
  static std::unique_ptr<WindowWords> create(MPI_Comm comm, const Channel& members, WindowOfWords& window);
  ~WindowWords() override { window_.give(place_); }
  WindowWords(const WindowWords&) = delete;
  WindowWords& operator=(const WindowWords&) = delete;

  std::uint64_t compare_and_swap(int home, std::size_t index, std::uint64_t expected, std::uint64_t desired) override;

 private:
  WindowWords(const Channel& members, WindowOfWords& window, int place, std::vector<int> places)
      : members_(members), window_(window), place_(place), places_(std::move(places)) {}

  const Channel& members_;
  WindowOfWords& window_;
  int place_;
  std::vector<int> places_;  // by rank
};

}  // namespace stretto::mpi
