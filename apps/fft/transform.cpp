#include "transform.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

namespace stretto::fft {
namespace {

// std::complex's own operator looks for infinities, at several times the cost.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// In double, so that each is the nearest float: their errors add up over the stages.
std::vector<Complex> make_twiddles(std::size_t size, int threads) {
  std::vector<Complex> twiddles(size / 2);
  const double step = -2 * std::numbers::pi / static_cast<double>(size);
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (std::size_t k = 0; k < twiddles.size(); ++k) {
    const double angle = step * static_cast<double>(k);
    twiddles[k] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  return twiddles;
}

// At least two, since half of them is where half of the work is done.
std::size_t parts_for(std::size_t size, int threads) {
  return std::min(size, 2 * std::bit_ceil(static_cast<std::size_t>(threads)));
}

}  // namespace

int log2_of(std::size_t power_of_two) { return std::countr_zero(power_of_two); }

std::size_t reverse_bits(std::size_t value, int bits) {
  std::size_t reversed = 0;
  for (int bit = 0; bit < bits; ++bit) reversed |= (value >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

Decimation::Decimation(std::size_t size, std::size_t parts, int threads)
    : size_(size), parts_(parts), threads_(threads) {
  if (parts > 1) twiddles_ = make_twiddles(size, threads);
}

void Decimation::split(std::span<Complex> data) const {
  for (std::size_t blocks = 1; blocks < parts_; blocks *= 2) {
    const std::size_t length = size_ / blocks;
    for (std::size_t block = 0; block < blocks; ++block) butterflies(data.subspan(block * length, length));
  }
}

void Decimation::butterflies(std::span<Complex> block) const {
  const std::size_t half = block.size() / 2, stride = size_ / block.size();
  Complex* low = block.data();
  Complex* high = low + half;
  const Complex* twiddles = twiddles_.data();
#pragma omp parallel for num_threads(threads_) if (threads_ > 1)
  for (std::size_t k = 0; k < half; ++k) {
    const Complex a = low[k], b = high[k];
    low[k] = a + b;
    high[k] = product(a - b, twiddles[k * stride]);
  }
}

void Decimation::join(std::span<const Complex> transformed_parts, std::span<Complex> result) const {
  const std::size_t length = size_ / parts_;
  const int bits = log2_of(parts_);
  std::vector<const Complex*> part_of(parts_);  // by remainder of the result's index
  for (std::size_t part = 0; part < parts_; ++part)
    part_of[reverse_bits(part, bits)] = transformed_parts.data() + part * length;
#pragma omp parallel for num_threads(threads_) if (threads_ > 1)
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t remainder = 0; remainder < parts_; ++remainder)
      result[i * parts_ + remainder] = part_of[remainder][i];
}

// Estimated, not measured: the same plan in every run and on every rank, so that runs can be compared.
Plan::Plan(std::span<Complex> data)
    : plan_(fftwf_plan_dft_1d(static_cast<int>(data.size()), reinterpret_cast<fftwf_complex*>(data.data()),
                              reinterpret_cast<fftwf_complex*>(data.data()), FFTW_FORWARD, FFTW_ESTIMATE)) {
  if (plan_ == nullptr) throw std::runtime_error("FFTW has no plan for " + std::to_string(data.size()) + " numbers");
}

Plan::~Plan() {
  if (plan_ != nullptr) fftwf_destroy_plan(plan_);
}

Plan::Plan(Plan&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}

void Plan::run() const { fftwf_execute(plan_); }

LocalTransform::LocalTransform(std::size_t size, int threads)
    : parts_(parts_for(size, threads)),
      threads_(threads),
      input_(size),
      output_(size),
      decimation_(size, parts_, threads) {
  const std::size_t length = size / parts_;
  for (std::size_t part = 0; part < parts_; ++part) plans_.emplace_back(input_.span().subspan(part * length, length));
}

void LocalTransform::run(const std::function<void()>& at_half) {
  decimation_.split(input_.span());
  transform_parts(0, parts_ / 2);
  at_half();
  transform_parts(parts_ / 2, parts_);
  decimation_.join(input_.span(), output_.span());
}

void LocalTransform::transform_parts(std::size_t first, std::size_t end) const {
#pragma omp parallel for num_threads(threads_) if (threads_ > 1)
  for (std::size_t part = first; part < end; ++part) plans_[part].run();
}

}  // namespace stretto::fft
