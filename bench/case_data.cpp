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

}  // namespace

void repeat(std::vector<std::byte>& target, const std::vector<std::byte>& period) {
  for (std::size_t done = 0; done < target.size(); done += period.size())
    std::memcpy(target.data() + done, period.data(), std::min(period.size(), target.size() - done));
}

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

CaseData::CaseData(const Options& options, int ranks, std::size_t size_bytes)
    : options_(options),
      ranks_(ranks),
      count_(size_bytes / bytes_of(options.datatype)),
      period_(std::min(count_, ranks > many_ranks ? short_prime_period : prime_period)) {}

template <typename Element>
std::vector<Element> CaseData::elements_of(int rank) const {
  std::vector<Element> elements(period_);
  for (std::size_t i = 0; i < period_; ++i)
    elements[i] = element_of<Element>(random_bits(call_, static_cast<std::uint64_t>(rank), i), ranks_, values_);
  return elements;
}

template <typename Element>
void CaseData::expect() {
  if (options_.collective == Collective::bcast) {
    expected_ = contribution(root_);
    return;
  }
  std::vector<Element> result = elements_of<Element>(0);
  std::vector<double> exact(result.begin(), result.end());
  magnitude_.assign(period_, 0);
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::vector<Element> elements = elements_of<Element>(rank);
    for (std::size_t i = 0; i < period_; ++i) {
      magnitude_[i] += std::abs(static_cast<double>(elements[i]));
      if (rank == 0) continue;
      result[i] = combine(result[i], elements[i], options_.operation);
      exact[i] = combine(exact[i], static_cast<double>(elements[i]), options_.operation);
    }
  }
  if (values_ == Values::rough) result.assign(exact.begin(), exact.end());
  expected_ = bytes_of_elements(result);
}

void CaseData::begin(std::uint64_t call, int root, Values values) {
  call_ = call;
  root_ = root;
  values_ = options_.collective == Collective::bcast ? Values::exact : values;
  with_element_type(options_.datatype, [&]<typename Element>(Element) { expect<Element>(); });
}

std::vector<std::byte> CaseData::contribution(int rank) const {
  return with_element_type(options_.datatype,
                           [&]<typename Element>(Element) { return bytes_of_elements(elements_of<Element>(rank)); });
}

template <typename Element>
std::optional<std::string> CaseData::compare(const std::vector<std::byte>& result) const {
  if (values_ == Values::exact || std::is_integral_v<Element>) {
    const std::size_t offset = first_difference(result, expected_);
    if (offset == result.size()) return std::nullopt;
    const std::size_t index = offset / sizeof(Element);
    return describe(index, static_cast<double>(element_at<Element>(expected_, index % period_)),
                    static_cast<double>(element_at<Element>(result, index)));
  }
  const double unit = static_cast<double>(std::numeric_limits<Element>::epsilon()) * ranks_;
  for (std::size_t index = 0; index < count_; ++index) {
    const auto expected = static_cast<double>(element_at<Element>(expected_, index % period_));
    const auto got = static_cast<double>(element_at<Element>(result, index));
    if (!(std::abs(got - expected) <= unit * magnitude_[index % period_])) return describe(index, expected, got);
  }
  return std::nullopt;
}

std::optional<std::string> CaseData::find_error(const std::vector<std::byte>& result) const {
  return with_element_type(options_.datatype, [&]<typename Element>(Element) { return compare<Element>(result); });
}

}  // namespace stretto::bench
