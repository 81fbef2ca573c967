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

// Fills `target`, a sequence of equal blocks, each with the repeated period that belongs to it.
void fill_blocks(std::vector<std::byte>& target, const Periods& periods) {
  const std::size_t block = periods.empty() ? 0 : target.size() / periods.size();
  for (std::size_t number = 0; number < periods.size(); ++number)
    for (std::size_t done = 0; done < block; done += periods[number].size())
      std::memcpy(target.data() + number * block + done, periods[number].data(),
                  std::min(periods[number].size(), block - done));
}

// Offset of the first byte in which `data` departs from the repeated period, or bytes.
std::size_t first_difference(const std::byte* data, std::size_t bytes, const std::vector<std::byte>& period) {
  for (std::size_t done = 0; done < bytes; done += period.size()) {
    const std::size_t part = std::min(period.size(), bytes - done);
    if (std::memcmp(data + done, period.data(), part) != 0)
      return static_cast<std::size_t>(std::mismatch(data + done, data + bytes, period.begin()).first - data);
  }
  return bytes;
}

// The same of blocks, or data.size().
std::size_t first_difference(const std::vector<std::byte>& data, const Periods& periods) {
  const std::size_t block = periods.empty() ? 0 : data.size() / periods.size();
  for (std::size_t number = 0; number < periods.size(); ++number) {
    const std::size_t at = first_difference(data.data() + number * block, block, periods[number]);
    if (at < block) return number * block + at;
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
      size_bytes_(size_bytes),
      count_(size_bytes / bytes_of(options.datatype)),
      period_(std::min(count_, prime_period)),
      datatype_(mpi_datatype(options.datatype)),
      operation_(options.operation == Operation::sum ? MPI_SUM : MPI_MAX),
      magnitude_(period_) {
  if (count_ > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError("sizes=" + std::to_string(size_bytes) + ": more elements than an MPI count holds");
}

// One period of each rank's data, and of what they combine to.
template <typename Element>
void CollectiveCase::fill_tables(std::uint64_t call, Values values) {
  const auto ranks = static_cast<std::size_t>(world_.size());
  of_rank_.assign(ranks, std::vector<std::byte>(period_ * sizeof(Element)));
  combined_.resize(period_ * sizeof(Element));
  for (std::size_t i = 0; i < period_; ++i) {
    Element result{};
    double exact = 0, magnitude = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto element = element_of<Element>(random_bits(call, rank, i), world_.size(), values);
      result = rank == 0 ? element : combine(result, element, options_.operation);
      exact =
          rank == 0 ? static_cast<double>(element) : combine(exact, static_cast<double>(element), options_.operation);
      magnitude += std::abs(static_cast<double>(element));
      std::memcpy(of_rank_[rank].data() + i * sizeof(Element), &element, sizeof(Element));
    }
    if (values == Values::rough) result = static_cast<Element>(exact);
    std::memcpy(combined_.data() + i * sizeof(Element), &result, sizeof(Element));
    magnitude_[i] = magnitude;
  }
}

// What this rank sends and what it must receive, in blocks.
void CollectiveCase::choose_blocks() {
  const auto me = static_cast<std::size_t>(world_.rank()), root = static_cast<std::size_t>(root_);
  const bool is_root = me == root;
  const Periods none, mine{of_rank_[me]};
  switch (options_.collective) {
    case Collective::allreduce:
    case Collective::reduce:
      sent_ = mine;
      expected_ = is_root || options_.collective == Collective::allreduce ? Periods{combined_} : none;
      break;
    case Collective::bcast:
      sent_ = none;
      expected_ = {of_rank_[root]};
      break;
    case Collective::gather:
      sent_ = mine;
      expected_ = is_root ? of_rank_ : none;
      break;
    case Collective::scatter:
      sent_ = is_root ? of_rank_ : none;
      expected_ = mine;
      break;
    case Collective::barrier:
      break;
  }
}

void CollectiveCase::prepare(std::uint64_t call, int root, Values values) {
  root_ = root;
  const bool reduces = options_.collective == Collective::allreduce || options_.collective == Collective::reduce;
  values_ = reduces ? values : Values::exact;
  if (count_ == 0) return;
  with_element_type(options_.datatype, [&]<typename Element>(Element) { fill_tables<Element>(call, values_); });
  choose_blocks();
  send_.resize(sent_.size() * size_bytes_);
  // Ranks that must not receive have room, so that what is written there shows.
  receive_.resize(std::max<std::size_t>(expected_.size(), 1) * size_bytes_);
  fill_blocks(send_, sent_);
  const bool bcast_root = options_.collective == Collective::bcast && world_.rank() == root_;
  if (options_.in_place || bcast_root)
    fill_blocks(receive_, {of_rank_[static_cast<std::size_t>(world_.rank())]});
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
    case Collective::gather:
      calls.gather(send_.data(), count, datatype_, receive_.data(), count, datatype_, root_, communicator);
      break;
    case Collective::scatter:
      calls.scatter(send_.data(), count, datatype_, receive_.data(), count, datatype_, root_, communicator);
      break;
    case Collective::barrier:
      calls.barrier(communicator);
      break;
  }
}

template <typename Element>
std::optional<std::string> CollectiveCase::compare_result() const {
  if (values_ == Values::exact || std::is_integral_v<Element>) {
    const std::size_t offset = first_difference(receive_, expected_);
    if (offset == receive_.size()) return std::nullopt;
    const std::size_t index = offset / sizeof(Element);
    const std::vector<std::byte>& period = expected_[index / count_];
    return describe(index, static_cast<double>(element_at<Element>(period, index % count_ % period_)),
                    static_cast<double>(element_at<Element>(receive_, index)));
  }
  const double unit = static_cast<double>(std::numeric_limits<Element>::epsilon()) * world_.size();
  for (std::size_t index = 0; index < count_; ++index) {
    const auto expected = static_cast<double>(element_at<Element>(combined_, index % period_));
    const auto got = static_cast<double>(element_at<Element>(receive_, index));
    if (!(std::abs(got - expected) <= unit * magnitude_[index % period_])) return describe(index, expected, got);
  }
  return std::nullopt;
}

std::optional<std::string> CollectiveCase::find_error() const {
  if (count_ == 0) return std::nullopt;
  if (const std::size_t offset = first_difference(send_, sent_); offset != send_.size())
    return "the send buffer was changed at byte " + std::to_string(offset);
  if (expected_.empty()) return std::nullopt;
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
