// Samples as a file: one JSON object a line, which python/stretto/bench/launch.py reads.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "options.hpp"

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
  std::int64_t copy_bound_ns;  // 0: not known
  double half_interval = 0;    // at which the repetition stopped; 0 if it did not look
};

class SampleWriter {
 public:
  // Opens options.output; throws UsageError when it cannot.
  explicit SampleWriter(const Options& options);
  ~SampleWriter();
  SampleWriter(const SampleWriter&) = delete;
  SampleWriter& operator=(const SampleWriter&) = delete;

  // With the names of the algorithms; `facts`: further members of a JSON object.
  void write_setup(const std::string& facts);
  void write_size(const SizeFacts& facts);
  // `passages`: one a rank, whose times may contradict each other by `tolerance_ns`. Throws std::runtime_error where
  // they cannot be of one correct call.
  void write_call(std::size_t size_bytes, const Call& call, const std::string& ran,
                  const std::vector<Passage>& passages, std::int64_t tolerance_ns = 0);
  // The mark of a complete file.
  void write_end();
  void flush() { std::fflush(file_); }

 private:
  const Options& options_;
  std::FILE* file_;
};

// As a JSON string.
std::string quoted(const std::string& text);

}  // namespace stretto::bench
