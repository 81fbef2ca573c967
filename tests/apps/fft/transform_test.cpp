// The transform of apps/fft without MPI, against the definition of the discrete Fourier transform in double.

#include "transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "check.hpp"
#include "input.hpp"

namespace stretto::fft {
namespace {

constexpr std::int64_t kSeed = 5;

std::vector<Complex> make_input(std::size_t size, int iteration = 0, int threads = 1) {
  std::vector<Complex> input(size);
  generate_input(kSeed, iteration, threads, input);
  return input;
}

// By the definition: as slow as it is plain.
std::vector<Complex> defined_transform(std::span<const Complex> input) {
  const std::size_t n = input.size();
  std::vector<Complex> result;
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < n; ++j)
      sum += std::complex<double>(input[j]) *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
    result.emplace_back(sum);
  }
  return result;
}

void expect_equal(std::span<const Complex> expected, std::span<const Complex> found) {
  const Difference difference = compare(expected, found);
  // A transform of one number is that number; the bound is 0 there.
  EXPECT_LE(difference.relative, rounding_bound(expected.size())) << "at " << difference.worst;
}

TEST(Bits, AreReversed) {
  EXPECT_EQ(reverse_bits(0, 0), 0U);
  EXPECT_EQ(reverse_bits(1, 3), 4U);
  EXPECT_EQ(reverse_bits(6, 3), 3U);
  EXPECT_EQ(log2_of(1), 0);
  EXPECT_EQ(log2_of(131072), 17);
}

TEST(Decimation, PartsTransformedAloneMakeTheWhole) {
  for (std::size_t size = 1; size <= 256; size *= 2) {
    for (std::size_t parts = 1; parts <= size; parts *= 2) {
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(testing::Message() << size << " in " << parts << " parts, " << threads << " threads");
        const std::vector<Complex> input = make_input(size);
        const Decimation decimation(size, parts, threads);
        std::vector<Complex> split = input, transformed, result(size);
        decimation.split(split);
        for (std::size_t part = 0; part < parts; ++part)
          for (const Complex value : defined_transform(std::span(split).subspan(part * size / parts, size / parts)))
            transformed.push_back(value);
        decimation.join(transformed, result);
        expect_equal(defined_transform(input), result);
      }
    }
  }
}

TEST(LocalTransform, IsTheDefinedOne) {
  for (std::size_t size = 1; size <= 1024; size *= 2) {
    for (const int threads : {1, 2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << size << ", " << threads << " threads");
      LocalTransform local(size, threads);
      for (int iteration = 0; iteration < 2; ++iteration) {
        const std::vector<Complex> input = make_input(size, iteration);
        std::copy(input.begin(), input.end(), local.input().begin());
        int marks = 0;
        local.run([&] { ++marks; });
        EXPECT_EQ(marks, 1);
        expect_equal(defined_transform(input), local.output());
      }
    }
  }
}

TEST(Input, DependsOnSeedAndIterationOnly) {
  EXPECT_EQ(make_input(1000), make_input(1000, 0, 3));
  EXPECT_NE(make_input(1000), make_input(1000, 1));
  for (const Complex value : make_input(100000)) {
    EXPECT_GE(value.real(), -1);
    EXPECT_LT(value.real(), 1);
    EXPECT_GE(value.imag(), -1);
    EXPECT_LT(value.imag(), 1);
  }
}

TEST(Jitter, IsBelowItsLimitAndOfEachRankAlone) {
  EXPECT_EQ(jitter_ms(kSeed, 0, 0, 0), 0);
  EXPECT_NE(jitter_ms(kSeed, 0, 0, 5), jitter_ms(kSeed, 0, 1, 5));
  EXPECT_NE(jitter_ms(kSeed, 0, 0, 5), jitter_ms(kSeed, 1, 0, 5));
  double sum_ms = 0;
  for (int iteration = 0; iteration < 1000; ++iteration) {
    const double one_ms = jitter_ms(kSeed, iteration, 3, 5);
    EXPECT_GE(one_ms, 0);
    EXPECT_LT(one_ms, 5);
    sum_ms += one_ms;
  }
  EXPECT_NEAR(sum_ms / 1000, 2.5, 0.2);
}

TEST(Check, FindsOneWrongNumber) {
  constexpr std::size_t kSize = 131072;
  LocalTransform local(kSize, 2);
  generate_input(kSeed, 7, 1, local.input());
  local.run([] {});
  std::vector<Complex> result(local.output().begin(), local.output().end());
  Checker checker(kSize, kSeed, 1);
  EXPECT_TRUE(checker.is_right(7, result));
  EXPECT_FALSE(checker.is_right(6, result));
  const Complex right = result[4711];
  result[4711] *= 1.1F;
  EXPECT_FALSE(checker.is_right(7, result));
  EXPECT_EQ(compare(local.output(), result).worst, 4711U);
  result[4711] = right;
  result[99] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(checker.is_right(7, result));
  EXPECT_EQ(compare(local.output(), result).worst, 99U);
  EXPECT_EQ(checker.failures(), 3);
  std::swap(result[0], result[1]);
  result[99] = local.output()[99];
  EXPECT_FALSE(checker.is_right(7, result));
}

}  // namespace
}  // namespace stretto::fft
