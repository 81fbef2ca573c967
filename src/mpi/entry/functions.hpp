// The collectives of MPI by number, in the order of collectives.def.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/collective.hpp"

namespace stretto::mpi {

#define COUNT
#define COUNTS
#define DISPLACEMENTS
#define STRETTO_LARGE_FORM 0
enum class MpiFunction : std::uint16_t {
#define STRETTO_ACCELERATED(name, lower, parameters, arguments, description) name,
#define STRETTO_OBSERVED STRETTO_ACCELERATED
#include "mpi/entry/collectives.def"
#undef STRETTO_ACCELERATED
};

/// As in MPI_<name>.
inline constexpr std::string_view kFunctionNames[] = {
#define STRETTO_ACCELERATED(name, lower, parameters, arguments, description) #name,
#include "mpi/entry/collectives.def"
#undef STRETTO_ACCELERATED
#undef STRETTO_OBSERVED
};
#undef COUNT
#undef COUNTS
#undef DISPLACEMENTS
#undef STRETTO_LARGE_FORM

/// "allreduce" and the like, as a user types it; nullopt if there is none.
constexpr std::optional<MpiFunction> find_function(std::string_view lower) {
  const auto same = [](char typed, char letter) {
    return typed == letter || (letter >= 'A' && letter <= 'Z' && typed == letter - 'A' + 'a');
  };
  for (std::size_t i = 0; i < std::size(kFunctionNames); ++i) {
    if (std::ranges::equal(lower, kFunctionNames[i], same)) return static_cast<MpiFunction>(i);
  }
  return std::nullopt;
}

inline constexpr auto kFunctionsOfCollectives = [] {
  std::array<MpiFunction, std::size(kCollectives)> found{};
  for (const Collective each : kCollectives) found[static_cast<std::size_t>(each)] = *find_function(name_of(each));
  return found;
}();
/// MPI_<name> of a collective: the blocking form.
constexpr MpiFunction function_of(Collective collective) {
  return kFunctionsOfCollectives[static_cast<std::size_t>(collective)];
}

}  // namespace stretto::mpi
