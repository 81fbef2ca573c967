// The measurement itself: for each size and iteration, every algorithm in turn under the same arrival pattern.
#pragma once

#include "arrival_pattern.hpp"
#include "collective_case.hpp"
#include "native_variants.hpp"
#include "probes.hpp"
#include "sample_log.hpp"

namespace stretto::bench {

class Measurement {
 public:
  // Throws UsageError for what cannot be measured here.
  Measurement(const Options& options, World& world);
  void run();

 private:
  struct Contender {
    std::string name;  // of what Stretto is forced to, or of the variant of the MPI library's own; "" its default
    CallTable calls;
    bool steered;
    MPI_Comm communicator = MPI_COMM_WORLD;
  };
  void add_contender(const std::string& algorithm);

  void measure_size(std::size_t size_index);
  void measure_call(CollectiveCase& work, Call call, std::uint64_t number);
  void tell_progress(std::size_t size_index, int iteration);
  std::int64_t synchronise();
  void spend_delay(std::int64_t start_ns, std::int64_t delay_ns) const;
  void spend(std::int64_t start_ns, std::int64_t delay_ns) const;
  void settle();
  void verify(const CollectiveCase& work, const Call& call, Values values) const;
  std::vector<std::size_t> order_of(std::uint64_t iteration) const;

  Options options_;
  World& world_;
  NativeVariants variants_;
  ArrivalPattern pattern_;
  Manner manner_;
  Steering steering_;
  std::vector<Contender> contenders_;
  ComputeLoad load_;
  std::int64_t next_progress_ns_ = 0;
  SampleLog log_;
};

}  // namespace stretto::bench
