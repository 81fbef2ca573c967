// Calls in which ranks have a block of data for each rank, or from each.
//
// Ranks may describe their data by different counts and datatypes. The bytes of a block are common to all where blocks
// are equal; where each has a length of its own nothing is, so there nothing but the communicator decides what runs.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "mpi/calls/datatypes.hpp"
#include "mpi/calls/prepared_call.hpp"
#include "mpi/entry/integer_array.hpp"

namespace stretto::mpi {

/// One side of the call as the program gave it.
struct Side {
  const void* buffer;
  MPI_Datatype datatype;
};

/// A block for each rank. The members that fill it return false if the program's arguments are such that the MPI
/// library has to deal with them.
class BlocksOfRanks {
 public:
  BlocksOfRanks(int ranks, MPI_Comm comm) : ranks_(ranks), comm_(comm) {}

  bool add(Side side, MPI_Count count);
  /// `counts` elements, `displacements` elements from the buffer's beginning.
  bool add(Side side, IntegerArray counts, IntegerArray displacements);

  bool is_there() const { return buffer_.has_value(); }
  bool is_at(const void* buffer) const { return buffer_->is_at(buffer); }
  /// Where the program has the block, in bytes from its buffer's address.
  MPI_Aint displacement_of(int rank) const {
    return displacements_.empty() ? rank * step_ : displacements_[static_cast<std::size_t>(rank)];
  }
  /// In bytes, from the beginning of data().
  Block of(int rank) const;
  /// Of all, and of the longest.
  std::size_t bytes() const;
  std::size_t longest() const;
  /// For Call::blocks.
  const Block* blocks() const { return blocks_.empty() ? nullptr : blocks_.data(); }
  std::byte* data() { return buffer_->data(); }
  void pack() { buffer_->pack(); }
  void unpack() { buffer_->unpack(); }
  void outlast_its_mpi_call(MPI_Comm own) { buffer_->outlast_its_mpi_call(own); }

 private:
  int ranks_;
  MPI_Comm comm_;
  std::size_t block_bytes_ = 0;  // of equal blocks
  MPI_Aint step_ = 0;            // of these, from one to the next in the program's buffer
  std::vector<Block> blocks_;    // of others
  std::vector<MPI_Aint> displacements_;
  std::optional<PackedBuffer> buffer_;
};

enum class Direction { scatter, gather, allgather };

/// One scatter or gather on this rank: its own block and, at the root, the blocks of all. Of an allgather every rank is
/// the root.
class DistributionCall final : public PreparedCall {
 public:
  DistributionCall(Direction direction, int ranks, int root, bool at_root, MPI_Comm comm);

  /// False if the program's arguments are such that the MPI library has to deal with them.
  bool add_own(Side side, MPI_Count count);
  bool add_all(Side side, MPI_Count count);
  bool add_all(Side side, IntegerArray counts, IntegerArray displacements);

  /// All blocks are of one length, which all ranks know.
  bool are_equal();

  const Call& begin() override;
  bool outlast_its_mpi_call() override;
  void end() override;

 private:
  bool in_place(const void* buffer) const { return at_root_ && buffer == MPI_IN_PLACE; }
  bool find_own(Side all);

  Direction direction_;
  int root_;  // of an allgather this rank, which the engine need not know
  bool at_root_;
  MPI_Comm comm_;
  std::size_t own_bytes_ = 0;
  std::size_t own_at_ = 0;  // of the root's block among all
  std::optional<PackedBuffer> own_;
  BlocksOfRanks all_;
};

/// An alltoall on this rank.
class AlltoallCall final : public PreparedCall {
 public:
  AlltoallCall(int rank, int ranks, MPI_Comm comm) : rank_(rank), input_(ranks, comm), output_(ranks, comm) {}

  /// `lengths` are those of the sides' blocks: a count, or counts and displacements.
  template <class... Lengths>
  bool add_input(Side side, Lengths... lengths) {
    return side.buffer == MPI_IN_PLACE || input_.add(side, lengths...);
  }
  /// After the input.
  template <class... Lengths>
  bool add_output(Side side, Lengths... lengths) {
    return output_.add(side, lengths...) && is_consistent(side);
  }

  /// As DistributionCall's.
  bool are_equal();

  const Call& begin() override;
  bool outlast_its_mpi_call() override;
  void end() override { output_.unpack(); }

 private:
  bool is_consistent(Side output) const;
  bool in_place() const { return !input_.is_there(); }
  BlocksOfRanks& source() { return in_place() ? output_ : input_; }

  int rank_;
  BlocksOfRanks input_;  // not there in place
  BlocksOfRanks output_;
};

}  // namespace stretto::mpi
