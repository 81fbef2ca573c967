// Pipelining: any algorithm on segments of a message that run side by side, so that one's reduction overlaps another's
// transfer.
//
// Castello, Quintana-Orti, Duato 2021, section 5, where K MPI_Iallreduce and a Waitall take the place of one call. Here
// the segments are coroutines of one call. Users name them as they type them: `ring+4` runs ring on 4 segments, the
// paper's fixed concurrency; `rabenseifner+32M` on segments of 32 MiB, its fixed size. K, M and G are powers of 1024.
// Where each rank has a block, a segment is the same elements of every block, and its size is that of one block's part.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/algorithm.hpp"
#include "core/group.hpp"

namespace stretto {

/// A name without its pipelining, and that.
struct PipelinedName {
  std::string_view base;
  Pipelining pipelining;
};
/// nullopt where `name` does not end in + and a number of segments from 2 to 1024, or a length from 1K to 9999G.
std::optional<PipelinedName> parse_pipelined(std::string_view name);

/// Whether segments of a message can run side by side: not in the shared memory, where calls come one after the other,
/// and not where a rank is expected to know of the call ahead.
bool can_be_pipelined(const Algorithm& algorithm);

Task run_pipelined(Group& g, const Algorithm& algorithm, const Call& call);

/// Into how many segments a message of `bytes` bytes and `count` elements is cut.
std::size_t segments_of(const Pipelining& pipelining, std::size_t bytes, std::size_t count);

}  // namespace stretto
