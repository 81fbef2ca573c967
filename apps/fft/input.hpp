// What is random in a run, by position: the seed gives the same numbers whatever the number of ranks and threads.
#pragma once

#include <cstdint>
#include <span>

#include "buffer.hpp"

namespace stretto::fft {

// The input of an iteration, real and imaginary parts uniform in [-1, 1).
void generate_input(std::int64_t seed, int iteration, int threads, std::span<Complex> input);

// How long a rank sleeps in an iteration: uniform in [0, limit_ms).
double jitter_ms(std::int64_t seed, int iteration, int rank, double limit_ms);

}  // namespace stretto::fft
