// A call of a collective as the program made it, in the engine's terms, with whatever it needs as long as it lasts.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "board/ledger.hpp"
#include "core/group.hpp"
#include "mpi/calls/datatypes.hpp"
#include "mpi/devices/gpu_drivers.hpp"
#include "mpi/entry/integer_array.hpp"

namespace stretto::mpi {

/// What all ranks know alike of a call, to select an algorithm by.
struct CallOutline {
  std::size_t count = 0;  // as in Call
  std::size_t element_bytes = 0;
  bool commutative = true;
  int root = 0;
  std::uint32_t reduction = 0;    // Reduction::code
  std::size_t longest_block = 0;  // bytes, where each rank has a length of its own and all ranks know them
  std::size_t all_blocks = 0;     // the same, of all of them
  /// Of the message, or of a block: of the longest.
  std::size_t bytes() const { return longest_block > 0 ? longest_block : count * element_bytes; }
  /// For the ledger.
  CallEntry entry(Collective collective, bool native) const {
    // A native call is known again by the longest.
    const std::size_t length = native || all_blocks == 0 ? bytes() : all_blocks;
    return {collective, native, static_cast<std::uint8_t>(reduction), root, length};
  }
};

class PreparedCall {
 public:
  PreparedCall() { gpu_drivers.look(); }
  virtual ~PreparedCall() = default;
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;

  CallOutline outline() const {
    const Reduction* const reduction = call_.reduction;
    return {call_.count,
            call_.element_bytes,
            reduction == nullptr || reduction->commutative,
            call_.root,
            reduction == nullptr ? 0 : reduction->code,
            longest_block_,
            all_blocks_};
  }
  /// The collective will go on when the MPI call has returned, and the program may have freed its handles. False, on
  /// all ranks alike, if it cannot.
  virtual bool outlast_its_mpi_call() { return true; }

  /// Before the collective runs, each time that it does: the call with its buffers. And after.
  virtual const Call& begin() { return call_; }
  virtual void end() {}

 protected:
  Call call_;                      // nobody else's before begin() has completed it
  std::size_t longest_block_ = 0;  // as in CallOutline
  std::size_t all_blocks_ = 0;     // the same
};

/// MPI_Allreduce, MPI_Reduce and the two MPI_Reduce_scatter. The members that fill it return false for what has to be
/// left to the MPI library.
class ReductionCall final : public PreparedCall {
 public:
  ReductionCall();
  bool allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op);
  bool reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
              bool at_root);
  bool reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                            int ranks);
  bool reduce_scatter(const void* sendbuf, void* recvbuf, IntegerArray counts, MPI_Datatype datatype, MPI_Op op,
                      int rank, int ranks);

  const Call& begin() override;
  void end() override { output_.store(); }
  /// A user's operation may be freed, and there is no way to hold it.
  bool outlast_its_mpi_call() override { return bound_.is_predefined(); }

 private:
  /// In elements; of `output` what the collective writes there.
  void set(const void* input, std::size_t inputs, void* output, std::size_t outputs);
  BoundReduction bound_;
  HostView input_;
  HostView output_;
  bool in_place_ = false;      // the output is the input
  std::vector<Block> blocks_;  // of reduce_scatter, by rank
  std::size_t own_count_ = 0;
};
// Not in the class: there it would be trivial in so far as the object were zeroed before, which takes longer than the
// rest.
inline ReductionCall::ReductionCall() = default;

/// MPI_Bcast.
class BcastCall final : public PreparedCall {
 public:
  BcastCall();
  bool bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, bool at_root, MPI_Comm comm);
  const Call& begin() override;
  void end() override;
  bool outlast_its_mpi_call() override;

 private:
  void* buffer_ = nullptr;
  MPI_Count count_ = 0;
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
  Layout layout_{};
  bool at_root_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::optional<PackedBuffer> packed_;
};
inline BcastCall::BcastCall() = default;  // as above

}  // namespace stretto::mpi
