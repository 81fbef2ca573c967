#include "options.hpp"

#include <CLI/CLI.hpp>
#include <bit>
#include <iomanip>
#include <sstream>

namespace stretto::fft {
namespace {

constexpr std::int64_t kMostFloats = std::int64_t{1} << 30;  // FFTW and MPI count in int
constexpr int kMostIterations = 10'000'000;
constexpr int kMostThreads = 1024;
constexpr double kMostJitterMs = 60'000;

void add_options(CLI::App& app, Options& options) {
  app.add_option("--size", options.size_floats,
                 "floats a transform, a power of two. A complex number is two floats, so 262144 floats (the paper's "
                 "256 K, 1 MiB) are a transform of 131072 complex numbers")
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "transforms, each of a fresh input")->capture_default_str();
  app.add_option("--threads", options.threads, "OpenMP threads a rank")->capture_default_str();
  app.add_option("--seed", options.seed, "of the input and of --jitter-ms")->capture_default_str();
  app.add_option("--distribute", options.distribute,
                 "how the master hands out the parts: p2p (MPI_Send, as in the paper) or scatter (MPI_Scatter)")
      ->check(CLI::IsMember({"p2p", "scatter"}))
      ->capture_default_str();
  app.add_option("--jitter-ms", options.jitter_ms,
                 "every rank sleeps a random time up to so many milliseconds in its part of each transform, to be like "
                 "an uneven machine; the paper has none")
      ->capture_default_str();
  app.add_flag("--hints", options.hints, "tell Stretto when the computation begins and when half of it is done");
  app.add_flag("--check", options.check, "compare every result with a serial transform; exit code 1 if one is wrong");
  app.add_option("--json", options.json, "write settings and times to this file");
}

void check_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  std::ostringstream text;
  text << std::setprecision(15) << name << " " << value << ": give a number from " << least << " to " << most;
  throw UsageError(text.str());
}

void check_seed(std::int64_t seed) {
  if (seed < 0) throw UsageError("--seed " + std::to_string(seed) + ": give a number that is not negative");
}

void check_size(std::int64_t floats, int ranks) {
  const std::string given = "--size " + std::to_string(floats);
  if (floats < 2 || floats > kMostFloats)
    throw UsageError(given + ": give a power of two from 2 to " + std::to_string(kMostFloats));
  const auto size = static_cast<std::uint64_t>(floats);
  if (!std::has_single_bit(size))
    throw UsageError(given + ": not a power of two; the nearest are " + std::to_string(std::bit_floor(size)) + " and " +
                     std::to_string(std::bit_ceil(size)));
  const auto p = static_cast<std::uint64_t>(ranks);
  if (!std::has_single_bit(p))
    throw UsageError(std::to_string(p) + " ranks: every stage halves the work, so start a power of two, " +
                     std::to_string(std::bit_floor(p)) + " or " + std::to_string(std::bit_ceil(p)) + " (mpirun -n)");
  if (size / 2 < p)
    throw UsageError(given + " is " + std::to_string(size / 2) + " complex numbers for " + std::to_string(p) +
                     " ranks: give --size " + std::to_string(2 * p) + " or more, or start fewer ranks");
}

}  // namespace

Options parse_options(int argc, char** argv, int ranks) {
  Options options;
  CLI::App app(
      "Fourier transforms of random input by a master and its workers: the use case of Proficz 2020, section 6. Start "
      "it with mpirun on a power of two of ranks.",
      "stretto-fft");
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; --help tells what each option takes");
  }
  check_range("--iterations", options.iterations, 1, kMostIterations);
  check_range("--threads", options.threads, 1, kMostThreads);
  check_range("--jitter-ms", options.jitter_ms, 0, kMostJitterMs);
  check_seed(options.seed);
  check_size(options.size_floats, ranks);
  return options;
}

}  // namespace stretto::fft
