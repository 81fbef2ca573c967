// What was measured, kept by each rank and written by rank 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sample_writer.hpp"
#include "world.hpp"

namespace stretto::bench {

class SampleLog {
 public:
  // Opens the file on rank 0; throws UsageError on all ranks when it cannot.
  SampleLog(const Options& options, World& world);

  void write_setup(double compute_steps_per_ns, double copy_bytes_per_ns, bool preloaded);
  void add(Call call, const std::string& ran, std::int64_t arrival_ns, std::int64_t exit_ns);
  // On rank 0 what the calls of this size took, by algorithm: where there are several, the ratios to the reference
  // within each iteration; elsewhere empty. By completion lag or by elapsed time. Collective.
  std::vector<std::vector<double>> values(bool by_lag) const;
  // Brings the calls of a size together on rank 0, checks that the ranks agree on what ran, and writes them.
  void write_size(const SizeFacts& facts);
  void write_end();

 private:
  // Of call number `call`, from what all ranks sent.
  std::vector<Passage> passages_of(std::size_t call, const std::vector<std::byte>& gathered) const;

  const Options& options_;
  World& world_;
  std::optional<SampleWriter> writer_;  // on rank 0
  std::vector<Call> calls_;
  std::vector<std::string> ran_;
  std::vector<Passage> passages_;
};

}  // namespace stretto::bench
