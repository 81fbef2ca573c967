#include "mpi/engine/sight_exchange.hpp"

#include <algorithm>
#include <thread>

#include "core/clock.hpp"

namespace stretto::mpi {
namespace {

void add_views(void* in, void* in_out, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<SightView*>(in_out)[i].add(static_cast<const SightView*>(in)[i]);
}

}  // namespace

void NodeSightExchange::tell(std::span<const Sight> mine) {
  calls_ = mine.size();
  sights_.tell(kind_, ++number_, mine, cost_ns_);
}

Heard NodeSightExchange::hear() {
  std::vector<SightView> all;
  const std::int64_t begin_ns = monotonic_ns();
  Heard heard;
  for (std::size_t rank = 0; rank < sights_.ranks(); ++rank) {
    while (!sights_.has_told(kind_, number_, rank)) std::this_thread::yield();
    const Sights::Told told = sights_.told(kind_, number_, rank, calls_);
    heard.cost_ns = std::max(heard.cost_ns, told.cost_ns);
    for (std::size_t call = 0; call < calls_; ++call) {
      const SightView theirs = SightView::of(told.calls[call]);
      if (rank == 0) {
        all.push_back(theirs);
      } else {
        all[call].add(theirs);
      }
    }
  }
  for (const SightView& call : all) heard.calls.push_back(call.seen(true, may_leave_));
  cost_ns_ = monotonic_ns() - begin_ns;
  return heard;
}

void SightReduction::open() {
  PMPI_Type_contiguous(sizeof(SightView) / sizeof(std::int64_t), MPI_INT64_T, &type_);
  PMPI_Type_commit(&type_);
  PMPI_Op_create(&add_views, 1, &operation_);
}

void SightReduction::close() {
  if (operation_ == MPI_OP_NULL) return;
  PMPI_Op_free(&operation_);
  PMPI_Type_free(&type_);
}

void MessageSightExchange::tell(std::span<const Sight> mine) {
  told_.clear();
  for (const Sight& call : mine) told_.push_back(SightView::of(call));
  told_.push_back({.last_exit_ns = cost_ns_});
  const std::int64_t begin_ns = monotonic_ns();
  all_.resize(told_.size());
  PMPI_Iallreduce(told_.data(), all_.data(), static_cast<int>(told_.size()), reduction_.type(), reduction_.operation(),
                  comm_, &request_);
  cost_ns_ = monotonic_ns() - begin_ns;
}

void MessageSightExchange::finish() { PMPI_Wait(&request_, MPI_STATUS_IGNORE); }

Heard MessageSightExchange::hear() {
  const std::int64_t begin_ns = monotonic_ns();
  int there = 0;
  PMPI_Test(&request_, &there, MPI_STATUS_IGNORE);
  if (there != 0) cost_ns_ += monotonic_ns() - begin_ns;
  finish();
  Heard heard;
  heard.cost_ns = all_.back().last_exit_ns;
  all_.pop_back();
  for (const SightView& call : all_) heard.calls.push_back(call.seen(one_clock_, may_leave_));
  return heard;
}

}  // namespace stretto::mpi
