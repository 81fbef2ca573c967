#include "check.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

#include "input.hpp"

namespace stretto::fft {
namespace {

constexpr int kMostReports = 3;

double squared(Complex value) {
  const double real = value.real(), imaginary = value.imag();
  return real * real + imaginary * imaginary;
}

}  // namespace

Difference compare(std::span<const Complex> expected, std::span<const Complex> found) {
  Difference difference;
  double errors = 0, norm = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = squared(found[i] - expected[i]);
    errors += error;
    norm += squared(expected[i]);
    // Written so that a NaN counts as the largest.
    if (error <= largest || std::isnan(largest)) continue;
    largest = error;
    difference.worst = i;
  }
  difference.relative = errors == 0 ? 0 : std::sqrt(errors / norm);
  return difference;
}

// A transform by stages, with twiddles rounded to the nearest, has an error of at most log2(n) (u + 4 u (sqrt(2) + u))
// relative to its norm, where u = epsilon / 2 (Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2):
// 3.4 epsilon a stage. Two transforms are compared, so c = 7. Rounding as it really happens stays far below; one wrong
// number of 131072 makes some 3e-3, two hundred times the bound.
double rounding_bound(std::size_t size) { return 7.0 * std::numeric_limits<float>::epsilon() * log2_of(size); }

Checker::Checker(std::size_t size, std::int64_t seed, int threads)
    : seed_(seed), threads_(threads), expected_(size), plan_(expected_.span()) {}

bool Checker::is_right(int iteration, std::span<const Complex> result) {
  generate_input(seed_, iteration, threads_, expected_.span());
  plan_.run();
  const Difference difference = compare(expected_.span(), result);
  const double bound = rounding_bound(result.size());
  // A NaN is larger than all, and stays.
  if (!std::isnan(largest_error_) && !(difference.relative <= largest_error_)) largest_error_ = difference.relative;
  if (difference.relative <= bound) return true;
  if (++failures_ > kMostReports) return false;
  const Complex expected = expected_.span()[difference.worst], found = result[difference.worst];
  std::fprintf(stderr,
               "stretto-fft: wrong result in iteration %d: relative error %.3g, bound %.3g; worst at index %zu of %zu: "
               "expected %g%+gi, found %g%+gi\n",
               iteration, difference.relative, bound, difference.worst, result.size(),
               static_cast<double>(expected.real()), static_cast<double>(expected.imag()),
               static_cast<double>(found.real()), static_cast<double>(found.imag()));
  if (failures_ == kMostReports) std::fputs("stretto-fft: further wrong results are only counted\n", stderr);
  return false;
}

}  // namespace stretto::fft
