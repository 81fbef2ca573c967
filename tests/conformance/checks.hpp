// One body for every algorithm: what a collective must leave in the buffers of a rank, checked element by element.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "prediction/order.hpp"

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

/// Whether every rank has a block for, or from, every other: data and messages grow with the square of their number.
inline bool is_among_all(Collective collective) { return collective >= Collective::allgather; }

/// What one rank brings to a call, and what must be in its buffers after it: every element is compared.
class Exchange {
 public:
  Exchange(int rank, int ranks, const Algorithm& algorithm, const Shape& shape, unsigned call_number);

  /// For the engine. Valid while this object lives; `count`, `element_bytes`, `root` and the blocks from the beginning,
  /// the buffers where the program is in the call.
  const Call& call() const { return call_; }
  /// Registers what is wrong with GoogleTest; `name` says which case it was.
  void check(const std::string& name) const;

 private:
  static constexpr std::uint64_t kUntouched = 0xA5A5A5A5A5A5A5A5U;

  using Buffer = std::vector<std::uint64_t>;

  bool is_root() const { return rank_ == shape_.root; }
  void reduce_or_bcast(Collective collective);
  void move_blocks(Collective collective);
  void scatter();
  void gather(bool everywhere);
  void reduce_scatter();
  void alltoall(bool with_gaps);
  // Where blocks are, with a length for each rank.
  template <class Length>
  std::vector<Block> lay_out(bool with_gaps, const Length& length) const;
  static Buffer room_for(const std::vector<Block>& blocks);
  std::uint64_t value(int rank, std::size_t index) const { return value_of(rank, index, number_); }
  // One rank's block among all, as scatter's input and gather's output hold them.
  void write_block(Buffer& all, int rank) const;
  // Of the blocks that one rank has for all, those for different ranks are different.
  static std::size_t index_in_block(int to, std::size_t index) {
    return static_cast<std::size_t>(to) * 1'000'003 + index;
  }
  std::uint64_t value_between(int from, int to, std::size_t index) const {
    return value(from, index_in_block(to, index));
  }
  std::byte* begin(Buffer& buffer, std::size_t element) {
    return reinterpret_cast<std::byte*>(buffer.data() + element);
  }

  int rank_;
  int ranks_;
  Shape shape_;
  unsigned number_;
  Reduction reduction_;
  Call call_;
  std::vector<Block> blocks_;         // by rank; of alltoall those of the input
  std::vector<Block> output_blocks_;  // of alltoall
  Buffer input_;                      // first and last element, and gaps, are nobody's
  Buffer output_;
  Buffer right_input_;
  Buffer right_output_;
};

inline Exchange::Exchange(int rank, int ranks, const Algorithm& algorithm, const Shape& shape, unsigned call_number)
    : rank_(rank), ranks_(ranks), shape_(shape), number_(call_number), reduction_(operation_of(shape)) {
  const Collective collective = algorithm.collective;
  if (collective == Collective::barrier) shape_.count = 0;
  call_.element_bytes = sizeof(std::uint64_t);
  call_.root = shape.root;
  switch (collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::bcast:
    case Collective::barrier:
      call_.count = shape_.count;
      reduce_or_bcast(collective);
      break;
    case Collective::alltoall:
    case Collective::alltoallv:
      alltoall(collective == Collective::alltoallv);
      break;
    default:
      move_blocks(collective);
  }
}

inline void Exchange::move_blocks(Collective collective) {
  const bool with_lengths = collective == Collective::scatterv || collective == Collective::gatherv ||
                            collective == Collective::allgatherv || collective == Collective::reduce_scatter;
  const bool everywhere = is_among_all(collective);
  blocks_ = lay_out(with_lengths, [&](std::size_t rank) {
    return with_lengths ? (shape_.count + 3 * rank) % (2 * shape_.count + 1) : shape_.count;
  });
  if (with_lengths && (is_root() || everywhere)) call_.blocks = blocks_.data();
  call_.count = blocks_[static_cast<std::size_t>(rank_)].count;
  if (collective == Collective::scatter || collective == Collective::scatterv) {
    scatter();
  } else if (collective == Collective::reduce_scatter_block || collective == Collective::reduce_scatter) {
    reduce_scatter();
  } else {
    gather(everywhere);
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

// Blocks side by side; or backwards, with gaps between them. Lengths may be 0.
template <class Length>
std::vector<Block> Exchange::lay_out(bool with_gaps, const Length& length) const {
  std::vector<Block> blocks(static_cast<std::size_t>(ranks_));
  std::size_t at = 0;
  for (int i = 0; i < ranks_; ++i) {
    const auto rank = static_cast<std::size_t>(with_gaps ? ranks_ - 1 - i : i);
    blocks[rank] = {at, length(rank)};
    at += blocks[rank].count + (with_gaps ? 1 : 0);
  }
  return blocks;
}

inline Exchange::Buffer Exchange::room_for(const std::vector<Block>& blocks) {
  std::size_t end = 0;
  for (const Block& block : blocks) end = std::max(end, block.first + block.count);
  return Buffer(end + 2, kUntouched);
}

inline void Exchange::write_block(Buffer& all, int rank) const {
  const Block block = blocks_[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < block.count; ++i) all[1 + block.first + i] = value(rank, i);
}

inline void Exchange::scatter() {
  const Block mine = blocks_[static_cast<std::size_t>(rank_)];
  const bool in_place = is_root() && shape_.in_place;
  if (is_root()) input_ = room_for(blocks_);
  for (int rank = 0; is_root() && rank < ranks_; ++rank) write_block(input_, rank);
  right_input_ = input_;
  output_.assign(mine.count + 2, kUntouched);
  right_output_ = output_;
  for (std::size_t i = 0; i < mine.count && !in_place; ++i) right_output_[i + 1] = value(rank_, i);
  call_.input = is_root() ? begin(input_, 1) : nullptr;
  call_.output = in_place ? begin(input_, 1 + mine.first) : begin(output_, 1);
}

inline void Exchange::gather(bool everywhere) {
  const Block mine = blocks_[static_cast<std::size_t>(rank_)];
  const bool has_output = everywhere || is_root();
  const bool in_place = has_output && shape_.in_place;
  input_.assign(mine.count + 2, kUntouched);
  for (std::size_t i = 0; i < mine.count; ++i) input_[i + 1] = value(rank_, i);
  right_input_ = input_;
  if (has_output) output_ = room_for(blocks_);
  if (in_place) write_block(output_, rank_);
  right_output_ = output_;
  for (int rank = 0; has_output && rank < ranks_; ++rank) write_block(right_output_, rank);
  call_.output = has_output ? begin(output_, 1) : nullptr;
  call_.input = in_place ? begin(output_, 1 + mine.first) : begin(input_, 1);
}

// What is behind the result in place stays as it was.
inline void Exchange::reduce_scatter() {
  const Block mine = blocks_[static_cast<std::size_t>(rank_)];
  Buffer& from = shape_.in_place ? output_ : input_;
  from = room_for(blocks_);
  for (int rank = 0; rank < ranks_; ++rank) {
    const Block theirs = blocks_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < theirs.count; ++i) from[1 + theirs.first + i] = value_between(rank_, rank, i);
  }
  if (!shape_.in_place) output_.assign(mine.count + 2, kUntouched);
  right_input_ = input_;
  right_output_ = output_;
  for (std::size_t i = 0; i < mine.count; ++i)
    right_output_[1 + i] = reduced_value(ranks_, index_in_block(rank_, i), number_, shape_.ordered_operation);
  call_.reduction = &reduction_;
  call_.input = begin(from, 1);
  call_.output = begin(output_, 1);
}

// In place two ranks have as much for each other.
inline void Exchange::alltoall(bool with_gaps) {
  const auto length = [&](std::size_t from, std::size_t to) {
    const std::size_t uneven = from + to + (shape_.in_place ? 0 : from);
    return with_gaps ? (shape_.count + 3 * uneven) % (2 * shape_.count + 1) : shape_.count;
  };
  const auto me = static_cast<std::size_t>(rank_);
  blocks_ = lay_out(with_gaps, [&](std::size_t rank) { return length(me, rank); });
  output_blocks_ = lay_out(with_gaps, [&](std::size_t rank) { return length(rank, me); });
  Buffer& from = shape_.in_place ? output_ : input_;
  output_ = right_output_ = room_for(output_blocks_);
  if (!shape_.in_place) input_ = room_for(blocks_);
  for (int rank = 0; rank < ranks_; ++rank) {
    const Block out = blocks_[static_cast<std::size_t>(rank)];
    const Block in = output_blocks_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < out.count; ++i) from[1 + out.first + i] = value_between(rank_, rank, i);
    for (std::size_t i = 0; i < in.count; ++i) right_output_[1 + in.first + i] = value_between(rank, rank_, i);
  }
  right_input_ = input_;
  call_.count = with_gaps ? 0 : shape_.count;
  call_.blocks = with_gaps ? blocks_.data() : nullptr;
  call_.output_blocks = with_gaps ? output_blocks_.data() : nullptr;
  call_.input = begin(from, 1);
  call_.output = begin(output_, 1);
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

/// Of the environment variable, where it is set.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// STRETTO_SEEDS, which says how much time there is: 1 where sanitizers take most of it. Not set, there is enough.
inline std::uint64_t most_seeds() { return number_from("STRETTO_SEEDS", UINT64_MAX); }
inline bool is_brief() { return most_seeds() == 1; }

/// One of those that share a function: without a prediction they are the same.
inline std::vector<Algorithm> distinct_algorithms() {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms()) {
    const auto is_same = [&](const Algorithm& other) {
      return other.run == algorithm.run && other.shape == algorithm.shape;
    };
    if (std::none_of(found.begin(), found.end(), is_same)) found.push_back(algorithm);
  }
  return found;
}

/// All of the catalogue; where sanitizers take the time, each function once.
inline std::vector<Algorithm> algorithms_to_test() {
#ifdef STRETTO_SANITIZED
  return distinct_algorithms();
#else
  return {algorithms().begin(), algorithms().end()};
#endif
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

/// The same as a program's blocking call is run. Not after anything that this rank's task has had to wait for: the
/// executor would resume one task in the other.
inline void run_to_end_and_check(Group& g, const Algorithm& algorithm, Shape shape, unsigned call_number,
                                 const std::string& name) {
  Exchange exchange(g.rank(), g.size(), algorithm, shape, call_number);
  run_to_end(g, algorithm, exchange.call());
  exchange.check(name);
}

}  // namespace stretto::conformance
