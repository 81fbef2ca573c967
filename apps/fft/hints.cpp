#include "hints.hpp"

#include <dlfcn.h>

namespace stretto::fft {

Hints::Hints(bool wanted) {
  if (!wanted) return;
  compute_begin_ = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Stretto_compute_begin"));
  progress_mark_ = reinterpret_cast<int (*)(double)>(dlsym(RTLD_DEFAULT, "Stretto_progress_mark"));
}

void Hints::compute_begin() {
  if (available() && compute_begin_() != 0) refused_ = true;
}

void Hints::progress_mark(double fraction) {
  if (available() && progress_mark_(fraction) != 0) refused_ = true;
}

}  // namespace stretto::fft
