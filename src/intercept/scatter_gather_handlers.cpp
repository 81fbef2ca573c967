// MPI_Scatter, MPI_Gather and their kinds with a length for each rank.
//
// Ranks may describe their data by different counts and datatypes. The bytes of a block are common to all in scatter
// and gather; in scatterv and gatherv nothing is, so there nothing but the communicator decides what runs.

#include <optional>

#include "intercept/datatypes.hpp"
#include "intercept/interception.hpp"

namespace stretto::intercept {
namespace {

/// One side of the call as the program gave it.
struct Side {
  const void* buffer;
  MPI_Datatype datatype;
};

/// The data of one scatter or gather on this rank: its own block and, at the root, the blocks of all.
class Distribution {
 public:
  Distribution(const Interception& call, int root, MPI_Comm comm)
      : ranks_(call.size()), root_(root), at_root_(call.is_rank(root)), comm_(comm) {}

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
    own_at_ = static_cast<std::size_t>(root_) * block_bytes;
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
    const Block mine = blocks_[static_cast<std::size_t>(root_)];
    if (is_same_buffer(side) || (own_ && own_bytes_ != mine.count)) return false;
    own_bytes_ = mine.count;
    own_at_ = mine.first;
    all_.emplace(const_cast<void*>(side.buffer), side.datatype, *all_layout_, comm_, std::move(all));
    return true;
  }

  /// The call without its buffers: what there is to select an algorithm by.
  Call call() const {
    Call call;
    call.count = own_bytes_;
    call.root = root_;
    call.blocks = blocks_.empty() ? nullptr : blocks_.data();
    return call;
  }

  int scatter(Interception& interception) {
    Call arguments = call();
    if (all_) all_->pack();
    arguments.input = all_ ? all_->data() : nullptr;
    arguments.output = own_data();
    const int result = interception.run(arguments);
    if (own_) own_->unpack();
    return result;
  }

  int gather(Interception& interception) {
    Call arguments = call();
    if (own_) {
      own_->pack();
    } else {
      all_->pack();  // for the root's own block
    }
    arguments.input = own_data();
    arguments.output = all_ ? all_->data() : nullptr;
    const int result = interception.run(arguments);
    if (all_) all_->unpack();
    return result;
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

  int ranks_;
  int root_;
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
  Distribution data(call, root, comm);
  if (!data.add_own({recvbuf, recvtype}, recvcount) || !data.add_all({sendbuf, sendtype}, sendcount)) return native_();
  if (data.call().bytes() == 0 || !call.select(data.call(), true)) return native_();
  return data.scatter(call);
}

int Handler::Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::gather, Operation::Gather, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  Distribution data(call, root, comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcount)) return native_();
  if (data.call().bytes() == 0 || !call.select(data.call(), true)) return native_();
  return data.gather(call);
}

int Handler::Scatterv(const void* sendbuf, IntegerArray sendcounts, IntegerArray displacements, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) noexcept {
  Interception call(Collective::scatterv, Operation::Scatterv, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  Distribution data(call, root, comm);
  if (!data.add_own({recvbuf, recvtype}, recvcount) || !data.add_all({sendbuf, sendtype}, sendcounts, displacements))
    return native_();
  return call.select(Call{}, true) ? data.scatter(call) : native_();
}

int Handler::Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     IntegerArray recvcounts, IntegerArray displacements, MPI_Datatype recvtype, int root,
                     MPI_Comm comm) noexcept {
  Interception call(Collective::gatherv, Operation::Gatherv, comm, site_);
  if (!call.root_is_valid(root)) return native_();
  Distribution data(call, root, comm);
  if (!data.add_own({sendbuf, sendtype}, sendcount) || !data.add_all({recvbuf, recvtype}, recvcounts, displacements))
    return native_();
  return call.select(Call{}, true) ? data.gather(call) : native_();
}

}  // namespace stretto::intercept
