// The transform without its distribution: radix-2 decimation in frequency down to parts, which FFTW transforms.
//
// One stage turns a transform of n numbers into two of n / 2 that have nothing to do with each other: the first gives
// the results with even index, the second those with odd index. So after s stages part b of 2^s gives the results whose
// index modulo 2^s is b with its s bits reversed.
#pragma once

#include <fftw3.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "buffer.hpp"

namespace stretto::fft {

// Both for powers of two.
int log2_of(std::size_t power_of_two);
std::size_t reverse_bits(std::size_t value, int bits);

class Decimation {
 public:
  // Of `size` numbers into `parts`, both powers of two, parts <= size.
  Decimation(std::size_t size, std::size_t parts, int threads);

  // In place, part after part.
  void split(std::span<Complex> data) const;

  // From the transforms of the parts, one after the other, that of the whole in natural order.
  void join(std::span<const Complex> transformed_parts, std::span<Complex> result) const;

 private:
  void butterflies(std::span<Complex> block) const;

  std::size_t size_, parts_;
  int threads_;
  std::vector<Complex> twiddles_;  // exp(-2 pi i k / size) for k < size / 2; none where nothing is split
};

// A serial transform by FFTW, in place.
class Plan {
 public:
  // Not by several threads at a time: FFTW's planner is not made for that.
  explicit Plan(std::span<Complex> data);
  ~Plan();
  Plan(Plan&& other) noexcept;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  Plan& operator=(Plan&&) = delete;

  void run() const;

 private:
  fftwf_plan plan_;
};

// What one rank does: decimation goes on until every thread has parts of its own.
class LocalTransform {
 public:
  LocalTransform(std::size_t size, int threads);

  std::span<Complex> input() { return input_.span(); }  // run() uses it up
  std::span<const Complex> output() const { return output_.span(); }

  // Calls `at_half` when half of the work is done.
  void run(const std::function<void()>& at_half);

 private:
  void transform_parts(std::size_t first, std::size_t end) const;

  std::size_t parts_;
  int threads_;
  Buffer input_, output_;
  Decimation decimation_;
  std::vector<Plan> plans_;
};

}  // namespace stretto::fft
