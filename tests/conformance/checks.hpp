// One body for every algorithm: what a collective must leave in the buffers of a rank, checked element by element.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "algorithms/registry.hpp"

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

/// Runs `algorithm` once on this rank with call number `call` and checks every element, the bytes around the output,
/// and that the input is untouched. Registers failures with GoogleTest; `name` says which case it was.
inline Task run_and_check(Group& g, const Algorithm& algorithm, Shape shape, unsigned call_number, std::string name) {
  constexpr std::uint64_t kGuard = 0xA5A5A5A5A5A5A5A5U;
  const Collective collective = algorithm.collective;
  const bool reduces = collective == Collective::allreduce || collective == Collective::reduce;
  const bool has_output = collective != Collective::reduce || g.rank() == shape.root;
  const std::size_t n = collective == Collective::barrier ? 0 : shape.count;

  std::vector<std::uint64_t> input(n);
  for (std::size_t i = 0; i < n; ++i) input[i] = value_of(g.rank(), i, call_number);
  std::vector<std::uint64_t> output(n + 2, kGuard);
  const bool in_place =
      (reduces && has_output && shape.in_place) || (collective == Collective::bcast && g.rank() == shape.root);
  if (in_place) std::copy(input.begin(), input.end(), output.begin() + 1);

  const Reduction reduction = operation_of(shape);
  Call call;
  call.output = has_output ? reinterpret_cast<std::byte*>(output.data() + 1) : nullptr;
  call.input = in_place ? call.output : reinterpret_cast<const std::byte*>(input.data());
  call.count = n;
  call.element_bytes = 8;
  call.reduction = reduces ? &reduction : nullptr;
  call.root = shape.root;
  Task collective_call = run_algorithm(g, algorithm, call);
  co_await collective_call;

  EXPECT_EQ(output.front(), kGuard) << name << " rank " << g.rank();
  EXPECT_EQ(output.back(), kGuard) << name << " rank " << g.rank();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!in_place && input[i] != value_of(g.rank(), i, call_number)) ++wrong;
    if (!has_output) continue;
    const std::uint64_t expected = reduces ? reduced_value(g.size(), i, call_number, shape.ordered_operation)
                                           : value_of(shape.root, i, call_number);
    if (output[i + 1] != expected) ++wrong;
  }
  EXPECT_EQ(wrong, 0U) << name << " rank " << g.rank() << " of " << g.size() << " count " << n << " root " << shape.root
                       << (shape.in_place ? " in place" : "");
}

}  // namespace stretto::conformance
