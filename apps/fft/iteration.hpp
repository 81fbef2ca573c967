// One transform after the other: the master makes an input and splits it, all ranks transform a part each, the master
// gathers and joins.
#pragma once

#include <span>

#include "buffer.hpp"
#include "exchange.hpp"
#include "hints.hpp"
#include "timing.hpp"
#include "transform.hpp"

namespace stretto::fft {

class Iterations {
 public:
  Iterations(const Options& options, const Exchange& exchange, Hints& hints);

  Passage run(int iteration);

  // Of the latest iteration; on the master.
  std::span<const Complex> result() const { return result_.span(); }

 private:
  void compute(int iteration);

  const Options& options_;
  const Exchange& exchange_;
  Hints& hints_;
  Decimation decimation_;
  LocalTransform local_;
  Buffer whole_, gathered_, result_;  // empty on workers
};

}  // namespace stretto::fft
