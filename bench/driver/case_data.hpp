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

// Data repeat after a period; of each of several blocks one.
using Periods = std::vector<std::vector<std::byte>>;

class CaseData {
 public:
  CaseData(const Options& options, int ranks, std::size_t size_bytes);

  std::size_t count() const { return count_; }
  // Fresh data that belong to `call`. Only those of reductions can be rough.
  void begin(std::uint64_t call, int root, Values values);
  // One period of what `rank` brings; where it has something for each rank, of what it has for `to`.
  std::vector<std::byte> contribution(int rank, int to = 0) const;
  // By block of the send buffer of `rank`; empty: it sends nothing.
  Periods sent_by(int rank) const;
  // By block of what `rank` must receive; empty: it has no result.
  Periods expected_by(int rank);
  // What is wrong with a result of which `expected`, the latest that was asked for, is right; or empty.
  std::optional<std::string> find_error(const std::vector<std::byte>& result, const Periods& expected) const;

 private:
  bool reduces() const { return sums(collective_); }
  bool has_some_for_each() const {
    return collective_ == Collective::reduce_scatter_block || collective_ == Collective::alltoall;
  }
  Periods of_every_rank(int to = 0) const;
  Periods for_every_rank(int from) const;
  void combine_for(int rank);
  template <typename Element>
  void combine_all(int to);
  template <typename Element>
  std::vector<Element> elements_of(int rank, int to) const;
  template <typename Element>
  std::optional<std::string> compare(const std::vector<std::byte>& result, const Periods& expected) const;

  const Options& options_;
  Collective collective_;  // with one length, of which the other forms have the data
  int ranks_;
  std::size_t count_;
  std::size_t period_;  // elements after which the data repeat; prime, so that no chunk size can hide a shift
  std::uint64_t call_ = 0;
  int root_ = 0;
  Values values_ = Values::exact;
  int combined_for_ = -1;            // a rank; 0 where all get the same
  std::vector<std::byte> combined_;  // one period of what all ranks' data are reduced to
  std::vector<double> magnitude_;    // one period of the sum of absolute values, for the tolerance of rough values
};

// Fills `target`, a sequence of equal blocks, each with the period that belongs to it, again and again.
void fill_blocks(std::vector<std::byte>& target, const Periods& periods);
// Offset of the first byte in which `data` departs from what fill_blocks makes, or data.size().
std::size_t first_difference(const std::vector<std::byte>& data, const Periods& periods);

}  // namespace stretto::bench
