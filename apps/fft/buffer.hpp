// Memory as FFTW wants it: aligned for the vector instructions that its plans use.
#pragma once

#include <fftw3.h>

#include <complex>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace stretto::fft {

using Complex = std::complex<float>;

class Buffer {
 public:
  explicit Buffer(std::size_t count) : data_(allocate(count)), count_(count) {}

  std::span<Complex> span() { return {data_.get(), count_}; }
  std::span<const Complex> span() const { return {data_.get(), count_}; }
  Complex* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(Complex* data) const { fftwf_free(data); }
  };

  static Complex* allocate(std::size_t count) {
    if (count == 0) return nullptr;
    auto* data = reinterpret_cast<Complex*>(fftwf_alloc_complex(count));
    if (data == nullptr) throw std::bad_alloc();
    return data;
  }

  std::unique_ptr<Complex, Free> data_;
  std::size_t count_;
};

}  // namespace stretto::fft
