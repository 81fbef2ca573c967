// Costs: what a message and a reduction are taken to cost by algorithms that plan ahead.
//
// A plan must come out the same on every rank, so all ranks of a communicator have the same costs, and they are
// integers: what one rank has measured for itself is no cost in this sense. Wrong costs lose time, never a result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stretto {

/// The defaults are those of a cluster's network and of a sum that runs at the memory's speed: 2 µs, 10 GB/s, 10 GB/s.
struct Costs {
  std::int64_t alpha_ns = 2000;          // latency of a message
  std::int64_t beta_ps_per_byte = 100;   // of a message
  std::int64_t gamma_ps_per_byte = 100;  // reduced
  /// The longest message that leaves before its receiver is ready. Longer ones wait for an answer that stands in line
  /// behind others: on 8 emulated nodes, 8 MB along a chain take 82 ms in segments of 60 KiB and 106 ms in segments of
  /// 96 KiB (bench/experiments/pipelining.py). By default what fits into 64 KiB with an MPI library's own header.
  std::size_t eager_bytes = std::size_t{56} << 10;

  std::int64_t wire_ns(std::size_t bytes) const { return static_cast<std::int64_t>(bytes) * beta_ps_per_byte / 1000; }
  std::int64_t message_ns(std::size_t bytes) const { return alpha_ns + wire_ns(bytes); }
  std::int64_t reduce_ns(std::size_t bytes) const {
    return static_cast<std::int64_t>(bytes) * gamma_ps_per_byte / 1000;
  }
};

}  // namespace stretto
