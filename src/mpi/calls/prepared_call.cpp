#include "mpi/calls/prepared_call.hpp"

#include <algorithm>
#include <climits>

#include "mpi/engine/runtime.hpp"

namespace stretto::mpi {
namespace {

// Buffers that Stretto can work with; everything else is left to the MPI library, which knows what is an error.
bool usable(const void* buffer) { return buffer != nullptr && buffer != MPI_IN_PLACE; }

}  // namespace

void ReductionCall::set(const void* input, std::size_t inputs, void* output, std::size_t outputs) {
  const std::size_t element = bound_.reduction().element_bytes;
  in_place_ = input == MPI_IN_PLACE;
  const std::size_t there = in_place_ ? std::max(inputs, outputs) : outputs;
  output_.show(output, 0, static_cast<MPI_Aint>(there * element));
  if (!in_place_) input_.show(input, 0, static_cast<MPI_Aint>(inputs * element));
  call_.count = outputs;
  call_.element_bytes = element;
  call_.reduction = &bound_.reduction();
}

bool ReductionCall::allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  return reduce_scatter_block(sendbuf, recvbuf, count, datatype, op, 1);
}

bool ReductionCall::reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                         MPI_Op op, int ranks) {
  const bool valid =
      count > 0 && usable(recvbuf) && sendbuf != nullptr && sendbuf != recvbuf && bound_.bind(datatype, op);
  const auto own = static_cast<std::size_t>(count);
  if (valid) set(sendbuf, own * static_cast<std::size_t>(ranks), recvbuf, own);
  return valid;
}

bool ReductionCall::reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           int root, bool at_root) {
  const bool buffers = at_root ? usable(recvbuf) && sendbuf != nullptr && sendbuf != recvbuf : usable(sendbuf);
  if (count <= 0 || !buffers || !bound_.bind(datatype, op)) return false;
  const auto all = static_cast<std::size_t>(count);
  set(sendbuf, all, at_root ? recvbuf : nullptr, all);
  call_.root = root;
  return true;
}

bool ReductionCall::reduce_scatter(const void* sendbuf, void* recvbuf, IntegerArray counts, MPI_Datatype datatype,
                                   MPI_Op op, int rank, int ranks) {
  if (!counts) return false;
  std::size_t total = 0;
  std::size_t longest = 0;
  blocks_.reserve(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) {
    if (counts[i] < 0) return false;
    blocks_.push_back({total, static_cast<std::size_t>(counts[i])});
    total += blocks_.back().count;
    longest = std::max(longest, blocks_.back().count);
  }
  own_count_ = blocks_[static_cast<std::size_t>(rank)].count;
  const bool gets_any = own_count_ > 0;
  if (total == 0 || sendbuf == nullptr || (gets_any && (!usable(recvbuf) || sendbuf == recvbuf))) return false;
  if (!bound_.bind(datatype, op)) return false;
  set(sendbuf, total, recvbuf, own_count_);
  call_.count = 0;  // ranks do not have the same
  longest_block_ = longest * call_.element_bytes;
  all_blocks_ = total * call_.element_bytes;
  return true;
}

const Call& ReductionCall::begin() {
  const HostView& input = in_place_ ? output_ : input_;
  input.fetch();
  call_.input = input.address();
  call_.output = output_.address();
  if (blocks_.empty()) return call_;
  call_.blocks = blocks_.data();
  call_.count = own_count_;
  return call_;
}

bool BcastCall::bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, bool at_root, MPI_Comm comm) {
  // Ranks may give different counts and datatypes: only the number of bytes is common to all, so only it may decide.
  const std::optional<Layout> layout = layout_of(datatype);
  const std::size_t bytes = layout && count > 0 ? layout->bytes * static_cast<std::size_t>(count) : 0;
  if (bytes == 0 || bytes > INT_MAX) return false;
  if (!layout->predefined && !Runtime::get().is_committed(datatype)) return false;
  buffer_ = buffer;
  count_ = count;
  datatype_ = datatype;
  layout_ = *layout;
  at_root_ = at_root;
  comm_ = comm;
  call_.count = bytes;
  call_.root = root;
  return true;
}

bool BcastCall::outlast_its_mpi_call() {
  packed_.emplace(buffer_, count_, datatype_, layout_, comm_);
  packed_->outlast_its_mpi_call(Runtime::get().self());
  return true;
}

const Call& BcastCall::begin() {
  if (!packed_) packed_.emplace(buffer_, count_, datatype_, layout_, comm_);
  call_.output = packed_->data();
  call_.input = call_.output;
  if (at_root_) packed_->pack();
  return call_;
}

void BcastCall::end() {
  if (!at_root_) packed_->unpack();
}

}  // namespace stretto::mpi
