// What the master tells of a run.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "timing.hpp"

namespace stretto::fft {

struct CheckResult {
  int failures;
  double largest_error;
  double bound;
};

struct Report {
  Options options;
  int ranks;
  bool clock_common;  // else times that compare ranks mean nothing, and are left out
  bool hints_available;
  std::optional<CheckResult> check;
  std::vector<IterationTimes> iterations;
};

void print_summary(const Report& report);

// Opened before the run, which would be lost otherwise.
class JsonFile {
 public:
  // Nothing is opened for an empty path. `error` tells why nothing can be written there.
  explicit JsonFile(const std::string& path);

  const std::string& error() const { return error_; }

  // Returns whether all has been written.
  bool write(const Report& report);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::unique_ptr<std::FILE, Close> file_;
  std::string error_;
};

}  // namespace stretto::fft
