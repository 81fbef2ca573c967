// Linear, everything at once: the root is ready for the messages of all ranks, whoever is there sends its own.
//
// What MPI_Irecv from everybody gives, and so the yardstick of whatever sorts or predicts.
// `background_linear_nonblocking` is ready before the root arrives: what MPI_Irecv gives a program that posts it early.
// Cost: α + (P-1) nβ, n bytes a block, as latencies overlap. After the last arrival, if that is not the root and the
// others' blocks are in: α + nβ. If that is the root: (P-1) nβ, in the background the copies out of the memory in which
// early blocks are kept.

#include "algorithms/algorithms.hpp"
#include "algorithms/patterns/blocks.hpp"
#include "algorithms/patterns/others.hpp"

namespace stretto::gather {

Task linear_nonblocking(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await g.caller(call);
    co_await g.send(call.input, call.bytes(), call.root);
    co_return;
  }
  const bool keep = !call.is_here();
  const std::vector<int> ranks = others(g, call);
  Scratch memory = g.scratch(keep ? static_cast<std::size_t>(g.size()) * call.bytes() : 0);
  std::byte* blocks = keep ? memory.data() : call.output;
  std::vector<Transfer> receives;
  receives.reserve(static_cast<std::size_t>(g.size()));  // transfers stay where they are while under way
  for (int rank : ranks) {
    const Block theirs = block_of(call, rank);
    receives.push_back(g.recv(blocks + offset(call, theirs), bytes(call, theirs), rank));
    receives.back().start();
  }
  co_await g.caller(call);
  const Block mine = block_of(call, call.root);
  g.copy(call.output + offset(call, mine), call.input, bytes(call, mine));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Transfer& receive = receives[i];
    co_await receive;
    const Block theirs = block_of(call, ranks[i]);
    if (keep) g.copy(call.output + offset(call, theirs), blocks + offset(call, theirs), bytes(call, theirs));
  }
}

}  // namespace stretto::gather
