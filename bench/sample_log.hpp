// What was measured, kept by each rank and written by rank 0: one JSON object a line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "world.hpp"

namespace stretto::bench {

// One call as all ranks know it.
struct Call {
  int iteration;  // negative: warm-up, not recorded
  std::size_t algorithm;
  int root;
  std::int64_t start_ns;                // the moment from which delays count
  std::vector<std::int64_t> delays_ns;  // one a rank
};

// One call as one rank saw it.
struct Passage {
  std::int64_t arrival_ns;
  std::int64_t exit_ns;
  std::uint64_t algorithm_hash;  // of the name of what ran
};

struct SizeFacts {
  std::size_t size_bytes;
  int iterations;
  int copies;  // private copies of the message that are its results
  std::int64_t latency_ns;
  std::int64_t copy_bound_ns;
  double half_interval;  // at which the repetition stopped; 0 if it did not look
};

class SampleLog {
 public:
  // Opens the file on rank 0; throws UsageError on all ranks when it cannot.
  SampleLog(const Options& options, World& world);
  ~SampleLog();
  SampleLog(const SampleLog&) = delete;
  SampleLog& operator=(const SampleLog&) = delete;

  void write_setup(double compute_steps_per_ns, double copy_bytes_per_ns, bool preloaded);
  void add(Call call, const std::string& ran, std::int64_t arrival_ns, std::int64_t exit_ns);
  // On rank 0 what the calls of this size took, by algorithm: where there are several, the ratios to the reference
  // within each iteration; elsewhere empty. By completion lag or by elapsed time. Collective.
  std::vector<std::vector<double>> values(bool by_lag) const;
  // Brings the calls of a size together on rank 0, checks that the ranks agree on what ran, and writes them.
  void write_size(const SizeFacts& facts);
  // The mark of a complete file.
  void write_end();

 private:
  // Of call number `call`, from what all ranks sent.
  std::vector<Passage> passages_of(std::size_t call, const std::vector<std::byte>& gathered) const;
  void write_call(std::size_t size_bytes, const Call& call, const std::string& ran,
                  const std::vector<Passage>& passages);

  const Options& options_;
  World& world_;
  std::FILE* file_ = nullptr;
  std::vector<Call> calls_;
  std::vector<std::string> ran_;
  std::vector<Passage> passages_;
};

}  // namespace stretto::bench
