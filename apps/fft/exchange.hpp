// The messages between the master, rank 0, and the workers. The master computes, too.
#pragma once

#include <mpi.h>

#include <span>

#include "buffer.hpp"
#include "options.hpp"

namespace stretto::fft {

class Exchange {
 public:
  Exchange(const Options& options, int ranks, int rank);

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  bool is_master() const { return rank_ == 0; }
  std::size_t part_size() const { return part_size_; }

  // Part i of `whole`, which only the master has, comes to `part` of rank i.
  void distribute(std::span<const Complex> whole, std::span<Complex> part) const;

  // The reverse, by MPI_Gather: the collective that this program is about.
  void gather(std::span<const Complex> part, std::span<Complex> whole) const;

  // The master's value, on every rank.
  static bool tell_all(bool value);

 private:
  void send_parts(std::span<const Complex> whole, std::span<Complex> part) const;

  int ranks_, rank_;
  bool scatter_;
  std::size_t part_size_;
  int part_floats_;  // what MPI counts, as the paper does
};

}  // namespace stretto::fft
