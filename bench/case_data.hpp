// The data of one collective at one size, and the proof that a result is right. Knows ranks by number only, so that one
// process can play them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"

namespace stretto::bench {

// What the data of a call look like.
enum class Values {
  exact,  // small integers, whose sums are exact in any order: every element is compared bit for bit
  rough,  // fractions of many magnitudes: the result may differ in the last bits, but not between ranks
};

class CaseData {
 public:
  CaseData(const Options& options, int ranks, std::size_t size_bytes);

  std::size_t count() const { return count_; }
  // Fresh data that belong to `call`. A broadcast's are always exact.
  void begin(std::uint64_t call, int root, Values values);
  // One period of what `rank` brings.
  std::vector<std::byte> contribution(int rank) const;
  // What is wrong with `result`, or empty.
  std::optional<std::string> find_error(const std::vector<std::byte>& result) const;

 private:
  template <typename Element>
  void expect();
  template <typename Element>
  std::vector<Element> elements_of(int rank) const;
  template <typename Element>
  std::optional<std::string> compare(const std::vector<std::byte>& result) const;

  const Options& options_;
  int ranks_;
  std::size_t count_;
  std::size_t period_;  // elements after which the data repeat; prime, so that no chunk size can hide a shift
  std::uint64_t call_ = 0;
  int root_ = 0;
  Values values_ = Values::exact;
  std::vector<std::byte> expected_;  // one period of the right result
  std::vector<double> magnitude_;    // one period of the sum of absolute values, for the tolerance of rough values
};

// Fills `target` with the period, again and again.
void repeat(std::vector<std::byte>& target, const std::vector<std::byte>& period);
// Offset of the first byte in which `data` departs from the repeated period, or data.size().
std::size_t first_difference(const std::vector<std::byte>& data, const std::vector<std::byte>& period);

}  // namespace stretto::bench
