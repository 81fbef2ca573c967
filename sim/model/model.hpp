// Predicts how long collectives take: the algorithms themselves, run on virtual ranks in virtual time.
#pragma once

#include <optional>

#include "arrival_pattern.hpp"
#include "case_data.hpp"
#include "model_options.hpp"
#include "prediction/order.hpp"
#include "sample_writer.hpp"

namespace stretto::model {

class Model {
 public:
  explicit Model(const ModelOptions& options);

  // Every algorithm at every size under the same arrival patterns. Throws std::runtime_error for a wrong result.
  void run();

 private:
  void run_size(std::size_t size_index);
  // Writes what one call takes. The first of a size is also a proof that the result is right.
  void run_call(std::size_t size_bytes, const bench::Call& call);
  std::vector<std::int64_t> simulate(const Algorithm& algorithm, std::size_t size_bytes, const bench::Call& call,
                                     bool with_data) const;
  // When the ranks believe that they arrive, if anything. Random times lie between nothing and the latest arrival.
  std::optional<ArrivalOrder> predict(const std::vector<std::int64_t>& arrivals_ns, std::uint64_t seed) const;
  // Point-to-point time of one message, the unit of the pattern `mif`.
  std::int64_t latency_ns(std::size_t size_bytes) const;

  const ModelOptions& options_;
  bench::ArrivalPattern pattern_;
  bench::SampleWriter writer_;
  std::vector<int> nodes_;  // of each rank
};

}  // namespace stretto::model
