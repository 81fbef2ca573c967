// Whether a result is right: FFTW transforms the same input serially.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "buffer.hpp"
#include "transform.hpp"

namespace stretto::fft {

struct Difference {
  double relative = 0;    // norm of the difference / norm of what is expected
  std::size_t worst = 0;  // the index where they differ most
};

Difference compare(std::span<const Complex> expected, std::span<const Complex> found);

// What rounding can explain in a transform of `size` numbers.
double rounding_bound(std::size_t size);

class Checker {
 public:
  Checker(std::size_t size, std::int64_t seed, int threads);

  // Whether `result` is the transform of the iteration's input. What differs is said on stderr, the first few times.
  bool is_right(int iteration, std::span<const Complex> result);

  int failures() const { return failures_; }
  double largest_error() const { return largest_error_; }

 private:
  std::int64_t seed_;
  int threads_;
  Buffer expected_;
  Plan plan_;
  int failures_ = 0;
  double largest_error_ = 0;
};

}  // namespace stretto::fft
