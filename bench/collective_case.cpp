#include "collective_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "random.hpp"

namespace stretto::bench {
namespace {

constexpr std::size_t prime_period = 1021;
constexpr std::uint64_t exact_sum_limit = std::uint64_t{1} << 24;  // of the integers that a float holds exactly
constexpr int poison = 0xa5;

void repeat(std::vector<std::byte>& target, const std::vector<std::byte>& period) {
  for (std::size_t done = 0; done < target.size(); done += period.size())
    std::memcpy(target.data() + done, period.data(), std::min(period.size(), target.size() - done));
}

// Offset of the first byte in which `data` departs from the repeated period, or data.size().
std::size_t first_difference(const std::vector<std::byte>& data, const std::vector<std::byte>& period) {
  for (std::size_t done = 0; done < data.size(); done += period.size()) {
    const std::size_t bytes = std::min(period.size(), data.size() - done);
    if (std::memcmp(data.data() + done, period.data(), bytes) != 0)
      return static_cast<std::size_t>(
          std::mismatch(data.begin() + static_cast<std::ptrdiff_t>(done), data.end(), period.begin()).first -
          data.begin());
  }
  return data.size();
}

template <typename Element>
Element element_of(std::uint64_t random, int ranks, Values values) {
  if (values == Values::exact || std::is_integral_v<Element>)
    return static_cast<Element>(random % (exact_sum_limit / static_cast<std::uint64_t>(ranks)));
  const double fraction = static_cast<double>(random >> 11) * 0x1.0p-52 - 1.0;
  return static_cast<Element>(std::ldexp(fraction, static_cast<int>(random % 16)));
}

template <typename Element>
Element combine(Element left, Element right, Operation operation) {
  return operation == Operation::sum ? static_cast<Element>(left + right) : std::max(left, right);
}

template <typename Element>
Element element_at(const std::vector<std::byte>& bytes, std::size_t index) {
  Element element;
  std::memcpy(&element, bytes.data() + index * sizeof(Element), sizeof(Element));
  return element;
}

std::string describe(std::size_t index, double expected, double got) {
  return "element " + std::to_string(index) + ": expected " + std::to_string(expected) + ", got " + std::to_string(got);
}

// Calls `action` with an element of the C++ type that stands behind the datatype.
template <typename Action>
auto with_element_type(Datatype datatype, Action action) {
  switch (datatype) {
    case Datatype::float64:
      return action(double{});
    case Datatype::int32:
      return action(std::int32_t{});
    default:
      return action(float{});
  }
}

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
      count_(size_bytes / bytes_of(options.datatype)),
      period_(std::min(count_, prime_period)),
      datatype_(mpi_datatype(options.datatype)),
      operation_(options.operation == Operation::sum ? MPI_SUM : MPI_MAX),
      send_(options.collective == Collective::bcast ? 0 : size_bytes),
      receive_(size_bytes),
      mine_(period_ * bytes_of(options.datatype)),
      expected_(mine_.size()),
      magnitude_(period_) {
  if (count_ > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError("sizes=" + std::to_string(size_bytes) + ": more elements than an MPI count holds");
}

template <typename Element>
void CollectiveCase::fill_tables(std::uint64_t call, Values values) {
  const bool is_bcast = options_.collective == Collective::bcast;
  for (std::size_t i = 0; i < period_; ++i) {
    Element result{};
    double exact = 0, magnitude = 0;
    for (int rank = 0; rank < world_.size(); ++rank) {
      const std::uint64_t random = random_bits(call, static_cast<std::uint64_t>(rank), i);
      const auto element = element_of<Element>(random, world_.size(), values);
      result = rank == 0 ? element : combine(result, element, options_.operation);
      exact =
          rank == 0 ? static_cast<double>(element) : combine(exact, static_cast<double>(element), options_.operation);
      magnitude += std::abs(static_cast<double>(element));
      if (rank == world_.rank()) std::memcpy(mine_.data() + i * sizeof(Element), &element, sizeof(Element));
      if (is_bcast && rank == root_) std::memcpy(expected_.data() + i * sizeof(Element), &element, sizeof(Element));
    }
    if (values == Values::rough) result = static_cast<Element>(exact);
    if (!is_bcast) std::memcpy(expected_.data() + i * sizeof(Element), &result, sizeof(Element));
    magnitude_[i] = magnitude;
  }
}

void CollectiveCase::prepare(std::uint64_t call, int root, Values values) {
  root_ = root;
  values_ = options_.collective == Collective::bcast ? Values::exact : values;
  if (count_ == 0) return;
  with_element_type(options_.datatype, [&]<typename Element>(Element) { fill_tables<Element>(call, values_); });
  const bool bcast_root = options_.collective == Collective::bcast && world_.rank() == root_;
  repeat(send_, mine_);
  if (options_.in_place || bcast_root)
    repeat(receive_, mine_);
  else
    std::memset(receive_.data(), poison, receive_.size());
}

void CollectiveCase::cool() const {
  for (const std::vector<std::byte>* buffer : {&send_, &receive_}) flush_from_caches(buffer->data(), buffer->size());
}

void CollectiveCase::run(const CallTable& calls, MPI_Comm communicator) {
  const int count = static_cast<int>(count_);
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
    case Collective::barrier:
      calls.barrier(communicator);
      break;
  }
}

bool CollectiveCase::has_result() const { return options_.collective != Collective::reduce || world_.rank() == root_; }

template <typename Element>
std::optional<std::string> CollectiveCase::compare_result() const {
  if (values_ == Values::exact || std::is_integral_v<Element>) {
    const std::size_t offset = first_difference(receive_, expected_);
    if (offset == receive_.size()) return std::nullopt;
    const std::size_t index = offset / sizeof(Element);
    return describe(index, static_cast<double>(element_at<Element>(expected_, index % period_)),
                    static_cast<double>(element_at<Element>(receive_, index)));
  }
  const double unit = static_cast<double>(std::numeric_limits<Element>::epsilon()) * world_.size();
  for (std::size_t index = 0; index < count_; ++index) {
    const auto expected = static_cast<double>(element_at<Element>(expected_, index % period_));
    const auto got = static_cast<double>(element_at<Element>(receive_, index));
    if (!(std::abs(got - expected) <= unit * magnitude_[index % period_])) return describe(index, expected, got);
  }
  return std::nullopt;
}

std::optional<std::string> CollectiveCase::find_error() const {
  if (count_ == 0) return std::nullopt;
  if (const std::size_t offset = first_difference(send_, mine_); offset != send_.size())
    return "the send buffer was changed at byte " + std::to_string(offset);
  if (!has_result()) return std::nullopt;
  return with_element_type(options_.datatype, [&]<typename Element>(Element) { return compare_result<Element>(); });
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
