// One body for every algorithm: what a collective must leave in the buffers of a rank, checked element by element.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "arrival/order.hpp"

namespace stretto::conformance {

/// How the collectives of a test are called.
struct Shape {
  std::size_t count = 1;
  int root = 0;
  bool in_place = false;
  bool ordered_operation = false;  // an associative operation that does not commute
};

/// x -> a x + b modulo 2^32: composition is associative and does not commute.
struct Affine {
  std::uint32_t a;
  std::uint32_t b;
  friend bool operator==(const Affine&, const Affine&) = default;
};
inline Affine then(Affine f, Affine g) { return {f.a * g.a, f.a * g.b + f.b}; }

inline void compose(const void* in, void* inout, std::size_t count, const void*) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (std::size_t i = 0; i < count; ++i) right[i] = then(left[i], right[i]);
}

inline Reduction operation_of(const Shape& shape) {
  if (shape.ordered_operation) return {&compose, nullptr, sizeof(Affine), false};
  return predefined_reduction(Operation::sum, Element::uint64);
}

/// Every rank, index and call has its own value. 8 bytes, read as uint64 for sums and as Affine for compositions.
inline std::uint64_t value_of(int rank, std::size_t index, unsigned call) {
  const auto mixed = (static_cast<std::uint64_t>(rank) + 1) * 0x9E3779B97F4A7C15U + index * 0xBF58476D1CE4E5B9U;
  return (mixed ^ (static_cast<std::uint64_t>(call) * 0x94D049BB133111EBU)) | 1U;
}

inline std::uint64_t reduced_value(int ranks, std::size_t index, unsigned call, bool ordered) {
  if (!ordered) {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += value_of(rank, index, call);
    return sum;
  }
  Affine total{1, 0};
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t value = value_of(rank, index, call);
    Affine mine;
    std::memcpy(&mine, &value, sizeof mine);
    total = then(total, mine);
  }
  std::uint64_t result;
  std::memcpy(&result, &total, sizeof result);
  return result;
}

/// What one rank brings to a call, and what must be in its buffers after it: every element is compared.
class Exchange {
 public:
  Exchange(int rank, int ranks, const Algorithm& algorithm, const Shape& shape, unsigned call_number);

  /// For the engine. Valid while this object lives; `count`, `element_bytes`, `root`, `blocks` from the beginning, the
  /// buffers where the program is in the call.
  const Call& call() const { return call_; }
  /// Registers what is wrong with GoogleTest; `name` says which case it was.
  void check(const std::string& name) const;

 private:
  static constexpr std::uint64_t kUntouched = 0xA5A5A5A5A5A5A5A5U;

  bool is_root() const { return rank_ == shape_.root; }
  void reduce_or_bcast(Collective collective);
  void scatter();
  void gather();
  void lay_out(bool with_gaps);
  std::uint64_t value(int rank, std::size_t index) const { return value_of(rank, index, number_); }
  // One rank's block among all, as scatter's input and gather's output hold them.
  void write_block(std::vector<std::uint64_t>& all, int rank) const;
  std::byte* begin(std::vector<std::uint64_t>& buffer, std::size_t element) {
    return reinterpret_cast<std::byte*>(buffer.data() + element);
  }

  int rank_;
  int ranks_;
  Shape shape_;
  unsigned number_;
  Reduction reduction_;
  Call call_;
  std::vector<Block> blocks_;         // of scatter and gather, by rank
  std::vector<std::uint64_t> input_;  // first and last element, and gaps, are nobody's
  std::vector<std::uint64_t> output_;
  std::vector<std::uint64_t> right_input_;
  std::vector<std::uint64_t> right_output_;
};

inline Exchange::Exchange(int rank, int ranks, const Algorithm& algorithm, const Shape& shape, unsigned call_number)
    : rank_(rank), ranks_(ranks), shape_(shape), number_(call_number), reduction_(operation_of(shape)) {
  const Collective collective = algorithm.collective;
  if (collective == Collective::barrier) shape_.count = 0;
  call_.element_bytes = sizeof(std::uint64_t);
  call_.root = shape.root;
  const bool scatters = collective == Collective::scatter || collective == Collective::scatterv;
  const bool gathers = collective == Collective::gather || collective == Collective::gatherv;
  if (scatters || gathers) {
    lay_out(collective == Collective::scatterv || collective == Collective::gatherv);
    call_.count = blocks_[static_cast<std::size_t>(rank)].count;
    scatters ? scatter() : gather();
  } else {
    call_.count = shape_.count;
    reduce_or_bcast(collective);
  }
}

inline void Exchange::reduce_or_bcast(Collective collective) {
  const std::size_t n = shape_.count;
  const bool reduces = collective == Collective::allreduce || collective == Collective::reduce;
  const bool has_output = collective != Collective::reduce || is_root();
  const bool in_place = reduces ? has_output && shape_.in_place : collective == Collective::bcast && is_root();
  if (reduces) call_.reduction = &reduction_;
  input_.assign(n + 2, kUntouched);
  output_ = right_output_ = input_;
  for (std::size_t i = 0; i < n; ++i) {
    input_[i + 1] = value(rank_, i);
    if (in_place) output_[i + 1] = input_[i + 1];
    if (!has_output) continue;
    right_output_[i + 1] =
        reduces ? reduced_value(ranks_, i, number_, shape_.ordered_operation) : value(shape_.root, i);
  }
  right_input_ = input_;
  call_.output = has_output ? begin(output_, 1) : nullptr;
  call_.input = in_place ? call_.output : begin(input_, 1);
}

// Equal blocks side by side; or blocks of different lengths, some of none, backwards, with gaps between them.
inline void Exchange::lay_out(bool with_gaps) {
  blocks_.resize(static_cast<std::size_t>(ranks_));
  std::size_t at = 0;
  for (int i = 0; i < ranks_; ++i) {
    const auto rank = static_cast<std::size_t>(with_gaps ? ranks_ - 1 - i : i);
    const std::size_t count = with_gaps ? (shape_.count + 3 * rank) % (2 * shape_.count + 1) : shape_.count;
    blocks_[rank] = {at, count};
    at += count + (with_gaps ? 1 : 0);
  }
  if (with_gaps && is_root()) call_.blocks = blocks_.data();
}

inline void Exchange::write_block(std::vector<std::uint64_t>& all, int rank) const {
  const Block block = blocks_[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < block.count; ++i) all[1 + block.first + i] = value(rank, i);
}

inline void Exchange::scatter() {
  const Block mine = blocks_[static_cast<std::size_t>(rank_)];
  const Block& last = *std::max_element(blocks_.begin(), blocks_.end(),
                                        [](const Block& left, const Block& right) { return left.first < right.first; });
  const bool in_place = is_root() && shape_.in_place;
  input_.assign(is_root() ? last.first + last.count + 2 : 0, kUntouched);
  for (int rank = 0; is_root() && rank < ranks_; ++rank) write_block(input_, rank);
  right_input_ = input_;
  output_.assign(mine.count + 2, kUntouched);
  right_output_ = output_;
  for (std::size_t i = 0; i < mine.count && !in_place; ++i) right_output_[i + 1] = value(rank_, i);
  call_.input = is_root() ? begin(input_, 1) : nullptr;
  call_.output = in_place ? begin(input_, 1 + mine.first) : begin(output_, 1);
}

inline void Exchange::gather() {
  const Block mine = blocks_[static_cast<std::size_t>(rank_)];
  const Block& last = *std::max_element(blocks_.begin(), blocks_.end(),
                                        [](const Block& left, const Block& right) { return left.first < right.first; });
  const bool in_place = is_root() && shape_.in_place;
  input_.assign(mine.count + 2, kUntouched);
  for (std::size_t i = 0; i < mine.count; ++i) input_[i + 1] = value(rank_, i);
  right_input_ = input_;
  output_.assign(is_root() ? last.first + last.count + 2 : 0, kUntouched);
  if (in_place) write_block(output_, rank_);
  right_output_ = output_;
  for (int rank = 0; is_root() && rank < ranks_; ++rank) write_block(right_output_, rank);
  call_.output = is_root() ? begin(output_, 1) : nullptr;
  call_.input = in_place ? begin(output_, 1 + mine.first) : begin(input_, 1);
}

inline void Exchange::check(const std::string& name) const {
  const auto wrong = [](const std::vector<std::uint64_t>& is, const std::vector<std::uint64_t>& right) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < right.size(); ++i) count += is[i] != right[i] ? 1 : 0;
    return count;
  };
  const auto where = [&] {
    return name + " rank " + std::to_string(rank_) + " of " + std::to_string(ranks_) + " count " +
           std::to_string(shape_.count) + " root " + std::to_string(shape_.root) + (shape_.in_place ? " in place" : "");
  };
  EXPECT_EQ(wrong(output_, right_output_), 0U) << "elements of the output of " << where();
  EXPECT_EQ(wrong(input_, right_input_), 0U) << "elements of the input of " << where() << " were changed";
}

/// Runs `algorithm` once on this rank with call number `call_number`, and checks.
inline Task run_and_check(Group& g, const Algorithm& algorithm, Shape shape, unsigned call_number, std::string name,
                          const ArrivalOrder* order = nullptr) {
  Exchange exchange(g.rank(), g.size(), algorithm, shape, call_number);
  Call call = exchange.call();
  call.order = order;
  Task collective_call = run_algorithm(g, algorithm, call);
  co_await collective_call;
  exchange.check(name);
}

}  // namespace stretto::conformance
