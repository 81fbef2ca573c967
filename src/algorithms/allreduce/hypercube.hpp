// Blocks from node 0 of a hypercube to all others, a block a round: the schedule that takes the fewest rounds.
//
// Johnsson, Ho 1989 (doi:10.1109/12.29465), as rotated binomial trees: in round r every node exchanges with its
// neighbour in dimension r mod q. Node 0 starts block r; its other way is free. A block goes on through one dimension a
// round, doubling the nodes that have it, and q rounds after its first through its first dimension again, to those that
// still lack it. So in each round every node but 0 has one block to give and one to take.
#pragma once

namespace stretto {

/// The rounds it takes `blocks` blocks to reach all of 2^q nodes.
inline int hypercube_rounds(int blocks, int q) { return blocks + q; }

inline int neighbour_in_round(int round, int node, int q) { return node ^ 1 << round % q; }

/// The block that `node` gives to its neighbour in a round, where such a number is a block's. Node 0's neighbour has
/// none for it: there it is the block that comes from node 0.
inline int block_given_in_round(int round, int node, int q) {
  const int dimension = round % q;
  const bool across = (node >> dimension & 1) != 0;
  if (node == 0 || node == 1 << dimension) return round;
  if (across) return round - q;
  // What has come through the dimension of so many rounds ago, and since then perhaps through others.
  int ago = q - 1;
  while ((node >> (dimension - ago + q) % q & 1) == 0) --ago;
  return round - ago;
}

}  // namespace stretto
