// The MPI library's own non-blocking collective on segments of a blocking call, and a Waitall: `native+4`.
//
// Castello, Quintana-Orti, Duato 2021, section 5 (MPI_Siallreduce_fconc and _fsize): what our pipelining is compared
// with.
#pragma once

#include <mpi.h>

#include <climits>
#include <vector>

#include "algorithms/parts/blocks.hpp"
#include "compose/pipelining.hpp"
#include "mpi/calls/prepared_call.hpp"

namespace stretto::mpi {

/// Whether MPI can be told the length of the segments.
inline bool segments_fit(const Pipelining& pipelining, const CallOutline& call) {
  return even_block(call.count, segments_of(pipelining, call.bytes(), call.count), 0).count <= INT_MAX;
}

/// `start(segment, count, &request)` starts one, whose operands are those of `segment`. Returns the first error.
template <class Start>
int run_native_segments(const Pipelining& pipelining, const Call& call, const Start& start) {
  const std::size_t segments = segments_of(pipelining, call.bytes(), call.count);
  std::vector<MPI_Request> requests(segments, MPI_REQUEST_NULL);
  int result = MPI_SUCCESS;
  for (std::size_t i = 0; i < segments && result == MPI_SUCCESS; ++i) {
    const Call segment = part_of(call, even_block(call.count, segments, i));
    result = start(segment, static_cast<int>(segment.count), &requests[i]);
  }
  const int waited = PMPI_Waitall(static_cast<int>(segments), requests.data(), MPI_STATUSES_IGNORE);
  return result != MPI_SUCCESS ? result : waited;
}

}  // namespace stretto::mpi
