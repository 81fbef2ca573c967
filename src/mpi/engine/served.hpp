// Which algorithms have served the program's calls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "catalogue/catalogue.hpp"

namespace stretto::mpi {

/// Of one collective. What a call that is passed on touches lies in one line.
class alignas(64) Served {
 public:
  /// nullptr: native.
  void count(const Algorithm* algorithm);
  /// "" before the first call.
  const char* last() const {
    const char* name = last_;
    return name == nullptr ? "" : name;
  }
  void report(const std::string& collective) const;

 private:
  std::atomic<const char*> last_{nullptr};
  std::array<std::atomic<std::uint64_t>, kMostAlgorithms + 1> counts_{};  // by algorithm; 0: native
};

}  // namespace stretto::mpi
