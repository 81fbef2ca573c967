// Random numbers by position: any rank can draw any other rank's number, so nothing needs to be exchanged or kept.
#pragma once

#include <cstdint>

namespace stretto::bench {

// SplitMix64's finaliser: a bijection on 64 bits that scatters neighbours.
constexpr std::uint64_t scatter_bits(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// A random 64-bit number belonging to (seed, stream, index).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return scatter_bits(scatter_bits(scatter_bits(seed) ^ stream) ^ index);
}

// The same, in [0, 1).
constexpr double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1.0p-53;
}

}  // namespace stretto::bench
