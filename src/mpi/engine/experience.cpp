#include "mpi/engine/experience.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace stretto::mpi {
namespace {

using Sight = SightReduction::Sight;

void combine(void* in, void* in_out, int* length, MPI_Datatype*) {
  const auto* theirs = static_cast<const Sight*>(in);
  auto* both = static_cast<Sight*>(in_out);
  for (int i = 0; i < *length; ++i) {
    // Of two that came at once the longer call, so that the order of reduction is none of the result's.
    if (std::pair(theirs[i].last_arrival_ns, theirs[i].last_took_ns) >
        std::pair(both[i].last_arrival_ns, both[i].last_took_ns)) {
      both[i].last_arrival_ns = theirs[i].last_arrival_ns;
      both[i].last_took_ns = theirs[i].last_took_ns;
    }
    both[i].first_arrival_ns = std::min(both[i].first_arrival_ns, theirs[i].first_arrival_ns);
    both[i].last_exit_ns = std::max(both[i].last_exit_ns, theirs[i].last_exit_ns);
  }
}

}  // namespace

void SightReduction::open() {
  PMPI_Type_contiguous(sizeof(Sight) / sizeof(std::int64_t), MPI_INT64_T, &type_);
  PMPI_Type_commit(&type_);
  PMPI_Op_create(&combine, 1, &operation_);
}

void SightReduction::close() {
  if (operation_ == MPI_OP_NULL) return;
  PMPI_Op_free(&operation_);
  PMPI_Type_free(&type_);
}

Experience::~Experience() = default;

Experience::Kind& Experience::make(std::unique_ptr<Kind>& kind, bool meets_all) {
  kind = std::make_unique<Kind>(*this, meets_all);
  return *kind;
}

void Experience::close() {
  for (auto& sizes : kinds_) {
    for (auto& kind : sizes) {
      if (kind) kind->finish();
    }
  }
}

bool Experience::Kind::begin() {
  if (adaptation_.is_measured()) arrival_ns_ = monotonic_ns();
  return adaptation_.arm() == Adaptation::Arm::native;
}

void Experience::Kind::end() {
  if (adaptation_.is_measured()) {
    const std::int64_t exit_ns = monotonic_ns();
    const std::int64_t ahead_ns = owner_.clock_offset_ns_;
    mine_.push_back({arrival_ns_ - ahead_ns, arrival_ns_ - ahead_ns, exit_ns - ahead_ns, exit_ns - arrival_ns_});
  }
  owner_.tally_.calls.fetch_add(1, std::memory_order_relaxed);
  if (adaptation_.arm() == Adaptation::Arm::ours) owner_.tally_.ours.fetch_add(1, std::memory_order_relaxed);
  switch (adaptation_.pass()) {
    case Adaptation::Due::nothing:
      break;
    case Adaptation::Due::exchange:
      exchange();
      break;
    case Adaptation::Due::lesson:
      learn();
      break;
  }
}

void Experience::Kind::exchange() {
  told_.swap(mine_);
  mine_.clear();
  told_.push_back({0, 0, exchange_ns_, 0});
  const std::int64_t begin_ns = monotonic_ns();
  all_.resize(told_.size());
  PMPI_Iallreduce(told_.data(), all_.data(), static_cast<int>(told_.size()), owner_.reduction_.type(),
                  owner_.reduction_.operation(), owner_.comm_, &request_);
  exchange_ns_ = monotonic_ns() - begin_ns;
  owner_.tally_.exchanges.fetch_add(1, std::memory_order_relaxed);
}

void Experience::Kind::finish() { PMPI_Wait(&request_, MPI_STATUS_IGNORE); }

void Experience::Kind::learn() {
  const std::int64_t begin_ns = monotonic_ns();
  int there = 0;
  PMPI_Test(&request_, &there, MPI_STATUS_IGNORE);
  if (there != 0) exchange_ns_ += monotonic_ns() - begin_ns;
  finish();
  std::vector<SeenCall> seen;
  seen.reserve(all_.size());
  const std::int64_t exchange_ns = all_.back().last_exit_ns;
  all_.pop_back();
  for (const Sight& call : all_) {
    const std::int64_t lag_ns = call.last_exit_ns - call.last_arrival_ns;
    // Between clocks that differ the order of arrival is all that is sure enough.
    seen.push_back({call.last_arrival_ns - call.first_arrival_ns, owner_.one_clock_ ? lag_ns : call.last_took_ns});
  }
  const double before_ns = adaptation_.saved_ns();
  adaptation_.learn(seen, exchange_ns);
  owner_.tally_.saved_ns.fetch_add(static_cast<std::int64_t>(adaptation_.saved_ns() - before_ns),
                                   std::memory_order_relaxed);
}

}  // namespace stretto::mpi
