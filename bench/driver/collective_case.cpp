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

void flush_from_caches(const std::byte* data, std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_ia32_clflush(data + offset);
  __builtin_ia32_mfence();
#else
  // There is no such instruction, but what is written here takes the buffer's place.
  static std::vector<std::byte> other(std::size_t{64} << 20);
  if (bytes > 0) std::fill(other.begin(), other.end(), data[bytes - 1]);
#endif
}

}  // namespace

CollectiveCase::CollectiveCase(const Options& options, const World& world, std::size_t size_bytes)
    : options_(options),
      world_(world),
      size_bytes_(size_bytes),
      data_(options, world.size(), size_bytes),
      datatype_(mpi_datatype(options.datatype)),
      operation_(options.operation == Operation::sum ? MPI_SUM : MPI_MAX) {
  if (data_.count() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError("sizes=" + std::to_string(size_bytes) + ": more elements than an MPI count holds");
  const auto ranks = static_cast<std::size_t>(world.size());
  if (without_lengths(options.collective) == options.collective) return;
  if (data_.count() * ranks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError("sizes=" + std::to_string(size_bytes) + ": more elements in all than an MPI displacement holds");
  counts_.assign(ranks, static_cast<int>(data_.count()));
  for (std::size_t rank = 0; rank < ranks; ++rank) displacements_.push_back(static_cast<int>(rank * data_.count()));
}

void CollectiveCase::prepare(std::uint64_t call, int root, Values values) {
  root_ = root;
  if (data_.count() == 0) return;
  data_.begin(call, root, values);
  sent_ = data_.sent_by(world_.rank());
  expected_ = data_.expected_by(world_.rank());
  send_.resize(sent_.size() * size_bytes_);
  // Ranks that must not receive have room, so that nothing else is overwritten.
  receive_.resize(std::max<std::size_t>(expected_.size(), 1) * size_bytes_);
  fill_blocks(send_, sent_);
  const bool bcast_root = options_.collective == Collective::bcast && world_.rank() == root_;
  if (options_.in_place || bcast_root)
    fill_blocks(receive_, {data_.contribution(world_.rank())});
  else
    std::memset(receive_.data(), poison, receive_.size());
}

void CollectiveCase::cool() const {
  for (const std::vector<std::byte>* buffer : {&send_, &receive_}) flush_from_caches(buffer->data(), buffer->size());
}

void CollectiveCase::run(const CallTable& calls, MPI_Comm communicator) {
  const int count = static_cast<int>(data_.count());
  const bool is_root = world_.rank() == root_;
  switch (options_.collective) {
    case Collective::allreduce:
      calls.allreduce(options_.in_place ? MPI_IN_PLACE : send_.data(), receive_.data(), count, datatype_, operation_,
                      communicator);
      break;
    case Collective::reduce:
      calls.reduce(options_.in_place && is_root ? MPI_IN_PLACE : send_.data(), receive_.data(), count, datatype_,
                   operation_, root_, communicator);
      break;
    case Collective::bcast:
      calls.bcast(receive_.data(), count, datatype_, root_, communicator);
      break;
    case Collective::gather:
      calls.gather(send_.data(), count, datatype_, receive_.data(), count, datatype_, root_, communicator);
      break;
    case Collective::scatter:
      calls.scatter(send_.data(), count, datatype_, receive_.data(), count, datatype_, root_, communicator);
      break;
    case Collective::allgather:
      calls.allgather(send_.data(), count, datatype_, receive_.data(), count, datatype_, communicator);
      break;
    case Collective::reduce_scatter_block:
      calls.reduce_scatter_block(send_.data(), receive_.data(), count, datatype_, operation_, communicator);
      break;
    case Collective::alltoall:
      calls.alltoall(send_.data(), count, datatype_, receive_.data(), count, datatype_, communicator);
      break;
    case Collective::barrier:
      calls.barrier(communicator);
      break;
    default:
      run_with_lengths(calls, communicator);
  }
}

void CollectiveCase::run_with_lengths(const CallTable& calls, MPI_Comm communicator) {
  const int count = static_cast<int>(data_.count());
  const int* counts = counts_.data();
  const int* displacements = displacements_.data();
  switch (options_.collective) {
    case Collective::gatherv:
      calls.gatherv(send_.data(), count, datatype_, receive_.data(), counts, displacements, datatype_, root_,
                    communicator);
      break;
    case Collective::scatterv:
      calls.scatterv(send_.data(), counts, displacements, datatype_, receive_.data(), count, datatype_, root_,
                     communicator);
      break;
    case Collective::allgatherv:
      calls.allgatherv(send_.data(), count, datatype_, receive_.data(), counts, displacements, datatype_, communicator);
      break;
    case Collective::reduce_scatter:
      calls.reduce_scatter(send_.data(), receive_.data(), counts, datatype_, operation_, communicator);
      break;
    case Collective::alltoallv:
      calls.alltoallv(send_.data(), counts, displacements, datatype_, receive_.data(), counts, displacements, datatype_,
                      communicator);
      break;
    default:
      break;
  }
}

std::optional<std::string> CollectiveCase::find_error() const {
  if (data_.count() == 0) return std::nullopt;
  if (const std::size_t offset = first_difference(send_, sent_); offset != send_.size())
    return "the send buffer was changed at byte " + std::to_string(offset);
  return data_.find_error(receive_, expected_);
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
