// Logarithm and exponential by IEEE's basic operations alone: what ranks choose by must be the same on all processors,
// and the last bit of a mathematical library's depends on which one it finds.
#pragma once

#include <cmath>

namespace stretto {

/// Of a positive number. Within 1e-12 of the natural logarithm, as far as that is not close to 0.
inline double steady_log(double value) {
  constexpr double kLn2 = 0.693147180559945309;
  constexpr double kHalfSquareRoot = 0.707106781186547524;
  int exponent = 0;
  double part = std::frexp(value, &exponent);  // exact: in [0.5, 1)
  if (part < kHalfSquareRoot) {
    part *= 2;
    --exponent;
  }
  // ln x = 2 artanh((x - 1) / (x + 1)), of at most 0.172
  const double z = (part - 1) / (part + 1);
  const double square = z * z;
  double sum = 0;
  for (int odd = 15; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
  return exponent * kLn2 + 2 * z * sum;
}

/// Within 1e-12 of e^x in terms of it, for |x| up to 700.
inline double steady_exp(double x) {
  constexpr double kLn2 = 0.693147180559945309;
  const double doublings = std::floor(x / kLn2 + 0.5);
  const double rest = x - doublings * kLn2;  // at most ln 2 / 2
  double sum = 1;
  for (int term = 13; term >= 1; --term) sum = 1 + sum * rest / term;
  return std::ldexp(sum, static_cast<int>(doublings));
}

}  // namespace stretto
