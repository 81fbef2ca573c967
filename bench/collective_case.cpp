#include "collective_case.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "random.hpp"

namespace stretto::bench {
namespace {

constexpr int poison = 0xa5;

MPI_Datatype mpi_datatype(Datatype datatype) {
  switch (datatype) {
    case Datatype::float64:
      return MPI_DOUBLE;
    case Datatype::int32:
      return MPI_INT32_T;
    default:
      return MPI_FLOAT;
  }
}

}  // namespace

CollectiveCase::CollectiveCase(const Options& options, const World& world, std::size_t size_bytes)
    : options_(options),
      world_(world),
      data_(options, world.size(), size_bytes),
      datatype_(mpi_datatype(options.datatype)),
      operation_(options.operation == Operation::sum ? MPI_SUM : MPI_MAX),
      send_(options.collective == Collective::bcast ? 0 : size_bytes),
      receive_(size_bytes) {
  if (data_.count() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError("sizes=" + std::to_string(size_bytes) + ": more elements than an MPI count holds");
}

void CollectiveCase::prepare(std::uint64_t call, int root, Values values) {
  root_ = root;
  data_.begin(call, root, values);
  mine_ = data_.contribution(world_.rank());
  const bool bcast_root = options_.collective == Collective::bcast && world_.rank() == root_;
  repeat(send_, mine_);
  if (options_.in_place || bcast_root)
    repeat(receive_, mine_);
  else if (!receive_.empty())
    std::memset(receive_.data(), poison, receive_.size());
}

void CollectiveCase::run(const CallTable& calls) {
  const int count = static_cast<int>(data_.count());
  const bool is_root = world_.rank() == root_;
  switch (options_.collective) {
    case Collective::allreduce:
      calls.allreduce(options_.in_place ? MPI_IN_PLACE : send_.data(), receive_.data(), count, datatype_, operation_,
                      MPI_COMM_WORLD);
      break;
    case Collective::reduce:
      calls.reduce(options_.in_place && is_root ? MPI_IN_PLACE : send_.data(), receive_.data(), count, datatype_,
                   operation_, root_, MPI_COMM_WORLD);
      break;
    case Collective::bcast:
      calls.bcast(receive_.data(), count, datatype_, root_, MPI_COMM_WORLD);
      break;
    case Collective::barrier:
      calls.barrier(MPI_COMM_WORLD);
      break;
  }
}

bool CollectiveCase::has_result() const { return options_.collective != Collective::reduce || world_.rank() == root_; }

std::optional<std::string> CollectiveCase::find_error() const {
  if (const std::size_t offset = first_difference(send_, mine_); offset != send_.size())
    return "the send buffer was changed at byte " + std::to_string(offset);
  return has_result() ? data_.find_error(receive_) : std::nullopt;
}

std::uint64_t CollectiveCase::result_hash() const {
  std::uint64_t hash = 0;
  for (std::size_t offset = 0; offset < receive_.size(); offset += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, receive_.data() + offset, std::min(sizeof(word), receive_.size() - offset));
    hash = scatter_bits(hash ^ word);
  }
  return hash;
}

}  // namespace stretto::bench
