// MPI_Scatter, MPI_Gather and their kinds with a length for each rank.
//
// Ranks may describe their data by different counts and datatypes. The bytes of a block are common to all in scatter
// and gather; in scatterv and gatherv nothing is, so there nothing but the communicator decides what runs.

#include <optional>

#include "intercept/datatypes.hpp"
#include "intercept/interception.hpp"
#include "intercept/later_call.hpp"

namespace stretto::intercept {
namespace {

/// One side of the call as the program gave it.
struct Side {
  const void* buffer;
  MPI_Datatype datatype;
};

enum class Direction { scatter, gather };

/// One scatter or gather on this rank: its own block and, at the root, the blocks of all.
class DistributionCall final : public PreparedCall {
 public:
  DistributionCall(Direction direction, int ranks, int root, bool at_root, MPI_Comm comm)
      : direction_(direction), ranks_(ranks), at_root_(at_root), comm_(comm) {
    call_.root = root;
  }

  bool in_place(const void* buffer) const { return at_root_ && buffer == MPI_IN_PLACE; }

  /// False if the program's arguments are such that the MPI library has to deal with them.
  bool add_own(Side side, MPI_Count count) {
    if (in_place(side.buffer)) return true;
    own_layout_ = layout_of(side.datatype);
    if (!is_usable(side, own_layout_, count)) return false;
    own_bytes_ = static_cast<std::size_t>(count) * own_layout_->bytes;
    own_.emplace(const_cast<void*>(side.buffer), count, side.datatype, *own_layout_, comm_);
    return true;
  }

  /// Equal blocks.
  bool add_all(Side side, MPI_Count count) {
    if (!at_root_) return true;
    all_layout_ = layout_of(side.datatype);
    if (!is_usable(side, all_layout_, count) || is_same_buffer(side)) return false;
    const std::size_t block_bytes = static_cast<std::size_t>(count) * all_layout_->bytes;
    if (own_ && own_bytes_ != block_bytes) return false;
    own_bytes_ = block_bytes;
    own_at_ = static_cast<std::size_t>(call_.root) * block_bytes;
    const MPI_Aint step = static_cast<MPI_Aint>(count) * extent_of(side.datatype);
    std::vector<Part> all;
    for (int rank = 0; !all_layout_->ordered && rank < ranks_; ++rank) all.push_back({rank * step, count});
    all_.emplace(const_cast<void*>(side.buffer), side.datatype, *all_layout_, comm_, std::move(all));
    return true;
  }

  /// A block for each rank of `counts` elements, `displacements` elements from the buffer's beginning.
  bool add_all(Side side, IntegerArray counts, IntegerArray displacements) {
    if (!at_root_) return true;
    if (!counts || !displacements) return false;
    all_layout_ = layout_of(side.datatype);
    const MPI_Aint extent = all_layout_ ? extent_of(side.datatype) : 0;
    std::vector<Part> all;
    std::size_t packed = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (!is_usable(side, all_layout_, counts[rank])) return false;
      const Part part{static_cast<MPI_Aint>(displacements[rank]) * extent, counts[rank]};
      const std::size_t bytes = static_cast<std::size_t>(part.count) * all_layout_->bytes;
      blocks_.push_back({all_layout_->ordered ? static_cast<std::size_t>(part.at) : packed, bytes});
      packed += bytes;
      all.push_back(part);
    }
    const Block mine = blocks_[static_cast<std::size_t>(call_.root)];
    if (is_same_buffer(side) || (own_ && own_bytes_ != mine.count)) return false;
    own_bytes_ = mine.count;
    own_at_ = mine.first;
    all_.emplace(const_cast<void*>(side.buffer), side.datatype, *all_layout_, comm_, std::move(all));
    return true;
  }

  /// All blocks are of one length, which all ranks know.
  bool are_equal() {
    call_.count = own_bytes_;
    return own_bytes_ > 0;
  }

  const Call& begin() override {
    const bool scatter = direction_ == Direction::scatter;
    std::optional<PackedBuffer>& packed = own_ && !scatter ? own_ : all_;  // in place the root's own is among all
    if (packed) packed->pack();
    call_.count = own_bytes_;
    call_.blocks = blocks_.empty() ? nullptr : blocks_.data();
    std::byte* all = all_ ? all_->data() : nullptr;
    call_.input = scatter ? all : own_data();
    call_.output = scatter ? own_data() : all;
    return call_;
  }

  bool outlast_its_mpi_call() override {
    if (own_) own_->hold_datatype();
    if (all_) all_->hold_datatype();
    return true;
  }

  void end() override {
    std::optional<PackedBuffer>& packed = direction_ == Direction::scatter ? own_ : all_;
    if (packed) packed->unpack();
  }

 private:
  static bool is_usable(Side side, const std::optional<Layout>& layout, MPI_Count count) {
    if (!layout || count < 0 || side.buffer == MPI_IN_PLACE) return false;
    if (layout->ordered && side.buffer == nullptr && count > 0) return false;
    return layout->predefined || Runtime::get().is_committed(side.datatype);
  }
  // MPICH calls it an error. Open MPI goes on, and so may we: the root's own block is in place, or apart from the
  // first.
  bool is_same_buffer(Side side) const {
    if (kTakesSameBuffer) return false;
    return own_ && own_bytes_ > 0 && side.buffer != MPI_BOTTOM && own_->is_at(side.buffer);
  }
  static MPI_Aint extent_of(MPI_Datatype datatype) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(datatype, &lower, &extent);
    return extent;
  }
  std::byte* own_data() { return own_ ? own_->data() : all_->data() + own_at_; }

  Direction direction_;
  int ranks_;
  bool at_root_;
  MPI_Comm comm_;
  std::optional<Layout> own_layout_;
  std::optional<Layout> all_layout_;
  std::size_t own_bytes_ = 0;
  std::size_t own_at_ = 0;  // of the root's block among all
  std::optional<PackedBuffer> own_;
  std::optional<PackedBuffer> all_;
  std::vector<Block> blocks_;  // scatterv and gatherv, at the root
};

}  // namespace

int Handler::Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::scatter, Operation::Scatter, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::scatter, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({recvbuf, recvtype}, recvcount) || !data.add_all({sendbuf, sendtype}, sendcount)) return native_();
  return data.are_equal() && call.select(data) ? call.run(data) : native_();
}

int Handler::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::gather, Operation::Gather, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::gather, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcount)) return native_();
  return data.are_equal() && call.select(data) ? call.run(data) : native_();
}

int Handler::Scatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::scatterv, Operation::Scatterv, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::scatter, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({recvbuf, recvtype}, recvcount) || !data.add_all({sendbuf, sendtype}, sendcounts, displacements))
    return native_();
  return call.select(data) ? call.run(data) : native_();
}

int Handler::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, int root,
                     MPI_Comm comm) noexcept {
  Interception call(Collective::gatherv, Operation::Gatherv, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  DistributionCall data(Direction::gather, call.size(), root, call.is_rank(root), comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcounts, displacements))
    return native_();
  return call.select(data) ? call.run(data) : native_();
}

int Handler::Iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::scatter, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({recvbuf, recvtype}, recvcount) &&
           data.add_all({sendbuf, sendtype}, sendcount) && data.are_equal();
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::scatter, call.size(), root, call.is_rank(root),
                                      comm);
}

int Handler::Igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::gather, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({sendbuf, sendtype}, sendcount) &&
           data.add_all({recvbuf, recvtype}, recvcount) && data.are_equal();
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::gather, call.size(), root, call.is_rank(root), comm);
}

int Handler::Iscatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       Later later) noexcept {
  LaterCall call(Collective::scatterv, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({recvbuf, recvtype}, recvcount) &&
           data.add_all({sendbuf, sendtype}, sendcounts, displacements);
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::scatter, call.size(), root, call.is_rank(root),
                                      comm);
}

int Handler::Igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, int root,
                      MPI_Comm comm, Later later) noexcept {
  LaterCall call(Collective::gatherv, comm, later);
  const auto prepare = [&](DistributionCall& data) {
    return call.root_is_valid(root) && data.add_own({sendbuf, sendtype}, sendcount) &&
           data.add_all({recvbuf, recvtype}, recvcounts, displacements);
  };
  return call.serve<DistributionCall>(native_, prepare, Direction::gather, call.size(), root, call.is_rank(root), comm);
}

}  // namespace stretto::intercept
