// Ranks as nodes of a binomial tree, and the largest power of two within a group.
#pragma once

namespace stretto {

/// A rank relative to the root, which becomes 0.
inline int relative_rank(int rank, int root, int size) { return (rank - root + size) % size; }
inline int absolute_rank(int relative, int root, int size) { return (relative + root) % size; }

/// The distance from a node of the binomial tree over 0..size-1 to its parent: the lowest bit of its number. For the
/// root, the smallest power of two that is not below `size`. Its children are at the smaller powers of two.
inline int parent_distance(int relative, int size) {
  int distance = 1;
  while (distance < size && (relative & distance) == 0) distance <<= 1;
  return distance;
}

/// The largest power of two that is at most `size`.
inline int floor_power_of_two(int size) {
  int power = 1;
  while (power * 2 <= size) power *= 2;
  return power;
}

}  // namespace stretto
