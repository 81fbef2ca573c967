// Words in an MPI window, changed by one-sided atomics (MPI 3.1, section 11.3.4).
#pragma once

#include <mpi.h>

#include <memory>

#include "core/remote_words.hpp"

namespace stretto::mpi {

class WindowWords final : public RemoteWords {
 public:
  /// Collective over `comm`, which outlives the window; nullptr on all ranks alike where some rank gets none that
  /// works. `shared`: some ranks share a node.
  static std::unique_ptr<WindowWords> create(MPI_Comm comm, bool shared);
  /// Collective.
  ~WindowWords() override;
  WindowWords(const WindowWords&) = delete;
  WindowWords& operator=(const WindowWords&) = delete;

  std::uint64_t compare_and_swap(int home, std::size_t index, std::uint64_t expected, std::uint64_t desired) override;

 private:
  explicit WindowWords(MPI_Win window) : window_(window) {}

  MPI_Win window_;
};

}  // namespace stretto::mpi
