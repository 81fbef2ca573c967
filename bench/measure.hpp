// The measurement itself: for each size and iteration, every algorithm in turn under the same arrival pattern.
#pragma once

#include "arrival_pattern.hpp"
#include "collective_case.hpp"
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
    std::string name;
    CallTable calls;
    bool steered;
  };

  void measure_size(std::size_t size_index);
  void measure_call(CollectiveCase& work, Call call, std::uint64_t number);
  std::int64_t synchronise();
  void spend_delay(std::int64_t start_ns, std::int64_t delay_ns) const;
  void settle();
  void verify(const CollectiveCase& work, const Call& call, Values values) const;
  std::vector<std::size_t> order_of(std::uint64_t iteration) const;

  const Options& options_;
  World& world_;
  ArrivalPattern pattern_;
  Manner manner_;
  Steering steering_;
  std::vector<Contender> contenders_;
  ComputeLoad load_;
  SampleLog log_;
};

}  // namespace stretto::bench
