// Linear, synchronised: the root asks one rank after the other for its block, which comes in two segments.
//
// Proficz 2020, section 4.2. `linear_synchronised` (LS) asks the ranks by number; `sorted_linear_synchronised` (SLS,
// Fig. 9) those first that are expected first; `background_sorted_linear_synchronised` (BSLS, Fig. 10) lets the root
// ask before it arrives. Being asked keeps ranks from sending at once what the network would have to sort out. Cost:
// (P-1)(3α + nβ), n bytes a block (eq. 5). With rank 1 alone late by D: D more (eq. 17); sorted max(D + 3α + nβ, cost)
// (eq. 18). With a late root: D more (eq. 19); in the background max(D, cost) (eq. 20). Blocks up to the first
// segment's size come in one: 2α.

#include <algorithm>

#include "algorithms/gather/early_blocks.hpp"
#include "algorithms/parts/peers_of_root.hpp"
#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto::gather {
namespace {

constexpr std::size_t kFirstSegmentBytes = std::size_t{32} * 1024;  // of Open MPI's gather for large blocks

Task answer(Group& g, Call call) {
  co_await g.recv(nullptr, 0, call.root);
  const std::size_t first = std::min(call.bytes(), kFirstSegmentBytes);
  co_await g.send(call.input, first, call.root);
  if (first < call.bytes()) co_await g.send(call.input + first, call.bytes() - first, call.root);
}

Task ask(Group& g, int rank, std::byte* block, std::size_t block_bytes) {
  co_await g.send(nullptr, 0, rank);
  const std::size_t first = std::min(block_bytes, kFirstSegmentBytes);
  co_await g.recv(block, first, rank);
  if (first < block_bytes) co_await g.recv(block + first, block_bytes - first, rank);
}

}  // namespace

Task linear_synchronised(Group& g, Call call) {
  if (g.rank() != call.root) {
    co_await g.caller(call);
    co_await answer(g, call);
    co_return;
  }
  const std::vector<int> ranks = peers_of_root(g, call);
  EarlyBlocks blocks(g, call);
  for (int rank : ranks) {
    std::byte* place = blocks.place(rank);
    co_await ask(g, rank, place, bytes(call, block_of(call, rank)));
  }
  co_await g.caller(call);
  put_own_block(g, call);
  for (int rank : ranks) blocks.move_in(rank);
}

using namespace letters;

extern constinit const Description linear_synchronised_described{
    .collective = Collective::gather,
    .with_lengths = Collective::gatherv,
    .name = "linear_synchronised",
    .run = &linear_synchronised,
    .summary = "the root asks one rank after the other",
    .source = "Proficz 2020",
    .cost = both(3 * P * alpha + N * beta),
    .variants =
        {
            {.name = "sorted_linear_synchronised",
             .order = OrderUse::root_only,
             .summary = "the root asks those first that are expected first",
             .after_last = 3 * alpha + n * beta},
            {.name = "background_sorted_linear_synchronised",
             .order = OrderUse::root_only,
             .ahead = true,
             .summary = "sorted, asked before the root arrives",
             .after_last = 3 * alpha + n * beta},
        },
};

}  // namespace stretto::gather
