#include "mpi/calls/block_calls.hpp"

#include <algorithm>

#include "mpi/engine/runtime.hpp"
#include "mpi/entry/native.hpp"

namespace stretto::mpi {
namespace {

bool is_usable(Side side, const std::optional<Layout>& layout, MPI_Count count) {
  if (!layout || count < 0 || side.buffer == MPI_IN_PLACE) return false;
  if (layout->ordered && side.buffer == nullptr && count > 0) return false;
  return layout->predefined || Runtime::get().is_committed(side.datatype);
}

MPI_Aint extent_of(MPI_Datatype datatype) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(datatype, &lower, &extent);
  return extent;
}

}  // namespace

bool BlocksOfRanks::add(Side side, MPI_Count count) {
  const std::optional<Layout> layout = layout_of(side.datatype);
  if (!is_usable(side, layout, count)) return false;
  block_bytes_ = static_cast<std::size_t>(count) * layout->bytes;
  step_ = layout->dense ? static_cast<MPI_Aint>(block_bytes_) : static_cast<MPI_Aint>(count) * extent_of(side.datatype);
  buffer_.emplace(const_cast<void*>(side.buffer), ranks_ * count, side.datatype, *layout, comm_);
  return true;
}

bool BlocksOfRanks::add(Side side, IntegerArray counts, IntegerArray displacements) {
  if (!counts || !displacements) return false;
  const std::optional<Layout> layout = layout_of(side.datatype);
  const MPI_Aint extent = layout ? extent_of(side.datatype) : 0;
  std::vector<Stretch> parts;
  std::size_t packed = 0;
  const auto ranks = static_cast<std::size_t>(ranks_);
  blocks_.reserve(ranks);
  displacements_.reserve(ranks);
  parts.reserve(ranks);
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!is_usable(side, layout, counts[rank])) return false;
    const Stretch part{static_cast<MPI_Aint>(displacements[rank]) * extent, counts[rank]};
    const std::size_t length = static_cast<std::size_t>(part.count) * layout->bytes;
    blocks_.push_back({layout->ordered ? static_cast<std::size_t>(part.at) : packed, length});
    packed += length;
    displacements_.push_back(part.at);
    parts.push_back(part);
  }
  buffer_.emplace(const_cast<void*>(side.buffer), side.datatype, *layout, comm_, std::move(parts));
  return true;
}

Block BlocksOfRanks::of(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return blocks_.empty() ? Block{index * block_bytes_, block_bytes_} : blocks_[index];
}

std::size_t BlocksOfRanks::bytes() const {
  std::size_t all = 0;
  for (int rank = 0; rank < ranks_; ++rank) all += of(rank).count;
  return all;
}

std::size_t BlocksOfRanks::longest() const {
  std::size_t longest = 0;
  for (int rank = 0; rank < ranks_; ++rank) longest = std::max(longest, of(rank).count);
  return longest;
}

DistributionCall::DistributionCall(Direction direction, int ranks, int root, bool at_root, MPI_Comm comm)
    : direction_(direction), root_(root), at_root_(at_root), comm_(comm), all_(ranks, comm) {
  if (direction != Direction::allgather) call_.root = root;
}

bool DistributionCall::add_own(Side side, MPI_Count count) {
  if (in_place(side.buffer)) return true;
  const std::optional<Layout> layout = layout_of(side.datatype);
  if (!is_usable(side, layout, count)) return false;
  own_bytes_ = static_cast<std::size_t>(count) * layout->bytes;
  own_.emplace(const_cast<void*>(side.buffer), count, side.datatype, *layout, comm_);
  return true;
}

bool DistributionCall::add_all(Side side, MPI_Count count) {
  return !at_root_ || (all_.add(side, count) && find_own(side));
}

bool DistributionCall::add_all(Side side, IntegerArray counts, IntegerArray displacements) {
  if (!at_root_) return true;
  if (!all_.add(side, counts, displacements)) return false;
  if (direction_ == Direction::allgather) {
    longest_block_ = all_.longest();
    all_blocks_ = all_.bytes();
  }
  return find_own(side);
}

bool DistributionCall::find_own(Side all) {
  const Block mine = all_.of(root_);
  if (own_ && own_bytes_ != mine.count) return false;
  own_bytes_ = mine.count;
  own_at_ = mine.first;
  // MPICH calls it an error if the own block is in place. Open MPI goes on, and so may we: the own block is the first
  // thing to be copied.
  const bool same_buffer = own_ && own_bytes_ > 0 && all.buffer != MPI_BOTTOM &&
                           own_->is_at(static_cast<const std::byte*>(all.buffer) + all_.displacement_of(root_));
  return !same_buffer || kTakesSameBuffer;
}

bool DistributionCall::are_equal() {
  call_.count = own_bytes_;
  return own_bytes_ > 0;
}

const Call& DistributionCall::begin() {
  const bool scatter = direction_ == Direction::scatter;
  if (own_ && !scatter) {
    own_->pack();
  } else if (all_.is_there()) {  // in place the root's own is among all
    all_.pack();
  }
  call_.count = own_bytes_;
  call_.blocks = all_.blocks();
  std::byte* all = all_.is_there() ? all_.data() : nullptr;
  std::byte* own = own_ ? own_->data() : nullptr;
  if (!own_ && all != nullptr) own = all + own_at_;
  call_.input = scatter ? all : own;
  call_.output = scatter ? own : all;
  return call_;
}

bool DistributionCall::outlast_its_mpi_call() {
  const MPI_Comm own = Runtime::get().self();
  if (own_) own_->outlast_its_mpi_call(own);
  if (all_.is_there()) all_.outlast_its_mpi_call(own);
  return true;
}

void DistributionCall::end() {
  if (direction_ != Direction::scatter) {
    if (all_.is_there()) all_.unpack();
  } else if (own_) {
    own_->unpack();
  }
}

bool AlltoallCall::is_consistent(Side output) const {
  if (in_place()) return true;
  if (input_.of(rank_).count != output_.of(rank_).count) return false;
  // As above. With lengths MPICH goes on, too: one of the two may have none but empty blocks.
  const bool same_buffer = output.buffer != MPI_BOTTOM && input_.is_at(output.buffer);
  return !same_buffer || output_.blocks() != nullptr || kTakesSameBuffer;
}

bool AlltoallCall::are_equal() {
  call_.count = output_.of(rank_).count;
  return call_.count > 0;
}

const Call& AlltoallCall::begin() {
  source().pack();
  call_.blocks = source().blocks();
  call_.output_blocks = output_.blocks();
  call_.output = output_.data();
  call_.input = in_place() ? call_.output : input_.data();
  return call_;
}

bool AlltoallCall::outlast_its_mpi_call() {
  const MPI_Comm own = Runtime::get().self();
  if (!in_place()) input_.outlast_its_mpi_call(own);
  output_.outlast_its_mpi_call(own);
  return true;
}

}  // namespace stretto::mpi
