#include "iteration.hpp"

#include <chrono>
#include <thread>

#include "input.hpp"

namespace stretto::fft {
namespace {

void sleep_ms(double duration_ms) {
  if (duration_ms > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(duration_ms));
}

}  // namespace

Iterations::Iterations(const Options& options, const Exchange& exchange, Hints& hints)
    : options_(options),
      exchange_(exchange),
      hints_(hints),
      decimation_(options.numbers(), exchange.is_master() ? static_cast<std::size_t>(exchange.ranks()) : 1,
                  options.threads),
      local_(exchange.part_size(), options.threads),
      whole_(exchange.is_master() ? options.numbers() : 0),
      gathered_(exchange.is_master() ? options.numbers() : 0),
      result_(exchange.is_master() ? options.numbers() : 0) {}

Passage Iterations::run(int iteration) {
  const std::int64_t start_ns = now_ns();
  if (exchange_.is_master()) {
    generate_input(options_.seed, iteration, options_.threads, whole_.span());
    decimation_.split(whole_.span());
  }
  const std::int64_t split_ns = now_ns();
  exchange_.distribute(whole_.span(), local_.input());
  const std::int64_t begin_ns = now_ns();
  compute(iteration);
  const std::int64_t arrival_ns = now_ns();
  exchange_.gather(local_.output(), gathered_.span());
  const std::int64_t exit_ns = now_ns();
  if (exchange_.is_master()) decimation_.join(gathered_.span(), result_.span());
  const std::int64_t end_ns = now_ns();
  return {.arrival_ns = arrival_ns,
          .exit_ns = exit_ns,
          .compute_ns = (split_ns - start_ns) + (arrival_ns - begin_ns) + (end_ns - exit_ns),
          .whole_ns = end_ns - start_ns};
}

// The computation that ends in the gather. The jitter is spread over it, so that half of the time has passed at the
// mark.
void Iterations::compute(int iteration) {
  const double half_ms = jitter_ms(options_.seed, iteration, exchange_.rank(), options_.jitter_ms) / 2;
  hints_.compute_begin();
  sleep_ms(half_ms);
  local_.run([this] { hints_.progress_mark(0.5); });
  sleep_ms(half_ms);
}

}  // namespace stretto::fft
