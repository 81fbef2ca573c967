#include "input.hpp"

#include "bench/driver/random.hpp"

namespace stretto::fft {
namespace {

enum class Use : std::uint64_t { input, jitter };

std::uint64_t as_bits(std::int64_t seed) { return static_cast<std::uint64_t>(seed); }

std::uint64_t stream_of(int iteration, Use use) {
  return 2 * static_cast<std::uint64_t>(iteration) + static_cast<std::uint64_t>(use);
}

float uniform(std::uint64_t bits) {
  // 24 bits fill a float's mantissa: more could round up to 1.
  return static_cast<float>(bits & 0xffffff) * 0x1.0p-23F - 1.0F;
}

}  // namespace

void generate_input(std::int64_t seed, int iteration, int threads, std::span<Complex> input) {
  const std::uint64_t stream = stream_of(iteration, Use::input);
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::uint64_t bits = bench::random_bits(as_bits(seed), stream, i);
    input[i] = {uniform(bits), uniform(bits >> 32)};
  }
}

double jitter_ms(std::int64_t seed, int iteration, int rank, double limit_ms) {
  return limit_ms *
         bench::random_unit(as_bits(seed), stream_of(iteration, Use::jitter), static_cast<std::uint64_t>(rank));
}

}  // namespace stretto::fft
