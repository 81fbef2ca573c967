// Linear, everything at once: the root is ready for the messages of all ranks, whoever is there sends its own.
//
// What MPI_Irecv from everybody gives, and so the yardstick of whatever sorts or predicts.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap. After the last arrival, if that is not the root and the
// others' blocks are in: α + nβ.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/others.hpp"

namespace stretto::gather {

Task linear_nonblocking(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await g.send(call.input, call.bytes(), call.root);
    co_return;
  }
  std::vector<Transfer> receives;
  receives.reserve(static_cast<std::size_t>(g.size()));  // transfers stay where they are while under way
  for (int rank : others(g, call)) {
    const Block theirs = block_of(call, rank);
    receives.push_back(g.recv(call.output + offset(call, theirs), bytes(call, theirs), rank));
    receives.back().start();
  }
  const Block mine = block_of(call, call.root);
  g.copy(call.output + offset(call, mine), call.input, bytes(call, mine));
  for (Transfer& receive : receives) co_await receive;
}

}  // namespace stretto::gather
