#include "case_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "random.hpp"

namespace stretto::bench {
namespace {

// Every rank works out the contributions of all: with very many ranks only a shorter period is quick.
constexpr std::size_t prime_period = 1021;
constexpr std::size_t short_prime_period = 61;
constexpr int many_ranks = 256;
constexpr std::uint64_t exact_sum_limit = std::uint64_t{1} << 24;  // of the integers that a float holds exactly

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

template <typename Element>
std::vector<std::byte> bytes_of_elements(const std::vector<Element>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(Element));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
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

// Offset of the first byte in which `data` departs from the repeated period, or bytes.
std::size_t first_difference_in_block(const std::byte* data, std::size_t bytes, const std::vector<std::byte>& period) {
  for (std::size_t done = 0; done < bytes; done += period.size()) {
    const std::size_t part = std::min(period.size(), bytes - done);
    if (std::memcmp(data + done, period.data(), part) != 0)
      return static_cast<std::size_t>(std::mismatch(data + done, data + bytes, period.begin()).first - data);
  }
  return bytes;
}

}  // namespace

void fill_blocks(std::vector<std::byte>& target, const Periods& periods) {
  const std::size_t block = periods.empty() ? 0 : target.size() / periods.size();
  for (std::size_t number = 0; number < periods.size(); ++number)
    for (std::size_t done = 0; done < block; done += periods[number].size())
      std::memcpy(target.data() + number * block + done, periods[number].data(),
                  std::min(periods[number].size(), block - done));
}

std::size_t first_difference(const std::vector<std::byte>& data, const Periods& periods) {
  const std::size_t block = periods.empty() ? 0 : data.size() / periods.size();
  for (std::size_t number = 0; number < periods.size(); ++number) {
    const std::size_t at = first_difference_in_block(data.data() + number * block, block, periods[number]);
    if (at < block) return number * block + at;
  }
  return data.size();
}

CaseData::CaseData(const Options& options, int ranks, std::size_t size_bytes)
    : options_(options),
      collective_(without_lengths(options.collective)),
      ranks_(ranks),
      count_(size_bytes / bytes_of(options.datatype)),
      period_(std::min(count_, ranks > many_ranks ? short_prime_period : prime_period)) {}

template <typename Element>
std::vector<Element> CaseData::elements_of(int rank, int to) const {
  const auto source =
      static_cast<std::uint64_t>(to) * static_cast<std::uint64_t>(ranks_) + static_cast<std::uint64_t>(rank);
  std::vector<Element> elements(period_);
  for (std::size_t i = 0; i < period_; ++i)
    elements[i] = element_of<Element>(random_bits(call_, source, i), ranks_, values_);
  return elements;
}

template <typename Element>
void CaseData::combine_all(int to) {
  std::vector<Element> result = elements_of<Element>(0, to);
  std::vector<double> exact(result.begin(), result.end());
  magnitude_.assign(period_, 0);
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::vector<Element> elements = elements_of<Element>(rank, to);
    for (std::size_t i = 0; i < period_; ++i) {
      magnitude_[i] += std::abs(static_cast<double>(elements[i]));
      if (rank == 0) continue;
      result[i] = combine(result[i], elements[i], options_.operation);
      exact[i] = combine(exact[i], static_cast<double>(elements[i]), options_.operation);
    }
  }
  if (values_ == Values::rough) result.assign(exact.begin(), exact.end());
  combined_ = bytes_of_elements(result);
}

void CaseData::begin(std::uint64_t call, int root, Values values) {
  call_ = call;
  root_ = root;
  values_ = reduces() ? values : Values::exact;
  combined_for_ = -1;
}

void CaseData::combine_for(int rank) {
  const int to = has_some_for_each() ? rank : 0;
  if (!reduces() || to == combined_for_) return;
  with_element_type(options_.datatype, [&]<typename Element>(Element) { combine_all<Element>(to); });
  combined_for_ = to;
}

std::vector<std::byte> CaseData::contribution(int rank, int to) const {
  return with_element_type(
      options_.datatype, [&]<typename Element>(Element) { return bytes_of_elements(elements_of<Element>(rank, to)); });
}

Periods CaseData::of_every_rank(int to) const {
  Periods periods;
  for (int rank = 0; rank < ranks_; ++rank) periods.push_back(contribution(rank, to));
  return periods;
}

Periods CaseData::for_every_rank(int from) const {
  Periods periods;
  for (int rank = 0; rank < ranks_; ++rank) periods.push_back(contribution(from, rank));
  return periods;
}

Periods CaseData::sent_by(int rank) const {
  switch (collective_) {
    case Collective::bcast:
    case Collective::barrier:
      return {};
    case Collective::scatter:
      return rank == root_ ? of_every_rank() : Periods{};
    case Collective::reduce_scatter_block:
    case Collective::alltoall:
      return for_every_rank(rank);
    default:
      return {contribution(rank)};
  }
}

Periods CaseData::expected_by(int rank) {
  combine_for(rank);
  switch (collective_) {
    case Collective::allreduce:
    case Collective::reduce_scatter_block:
      return {combined_};
    case Collective::reduce:
      return rank == root_ ? Periods{combined_} : Periods{};
    case Collective::bcast:
      return {contribution(root_)};
    case Collective::gather:
      return rank == root_ ? of_every_rank() : Periods{};
    case Collective::scatter:
      return {contribution(rank)};
    case Collective::allgather:
      return of_every_rank();
    case Collective::alltoall:
      return of_every_rank(rank);
    default:
      return {};
  }
}

template <typename Element>
std::optional<std::string> CaseData::compare(const std::vector<std::byte>& result, const Periods& expected) const {
  if (values_ == Values::exact || std::is_integral_v<Element>) {
    const std::size_t offset = first_difference(result, expected);
    if (offset == result.size()) return std::nullopt;
    const std::size_t index = offset / sizeof(Element);
    return describe(index, static_cast<double>(element_at<Element>(expected[index / count_], index % count_ % period_)),
                    static_cast<double>(element_at<Element>(result, index)));
  }
  const double unit = static_cast<double>(std::numeric_limits<Element>::epsilon()) * ranks_;
  for (std::size_t index = 0; index < count_; ++index) {
    const auto right = static_cast<double>(element_at<Element>(combined_, index % period_));
    const auto got = static_cast<double>(element_at<Element>(result, index));
    if (!(std::abs(got - right) <= unit * magnitude_[index % period_])) return describe(index, right, got);
  }
  return std::nullopt;
}

std::optional<std::string> CaseData::find_error(const std::vector<std::byte>& result, const Periods& expected) const {
  if (count_ == 0 || expected.empty()) return std::nullopt;
  return with_element_type(options_.datatype,
                           [&]<typename Element>(Element) { return compare<Element>(result, expected); });
}

}  // namespace stretto::bench
