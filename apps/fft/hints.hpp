// What a program may tell Stretto of its progress, so that Stretto knows when the rank will come to its collective.
#pragma once

namespace stretto::fft {

// The functions are looked up when the program runs: it must run without Stretto, too, and with one that has no hints.
class Hints {
 public:
  explicit Hints(bool wanted);

  bool available() const { return compute_begin_ != nullptr && progress_mark_ != nullptr; }
  bool refused() const { return refused_; }  // whether Stretto returned an error

  void compute_begin();
  void progress_mark(double fraction);

 private:
  int (*compute_begin_)() = nullptr;
  int (*progress_mark_)(double) = nullptr;
  bool refused_ = false;
};

}  // namespace stretto::fft
