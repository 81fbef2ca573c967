// stretto-fft: see docs/fft.md. Exit codes: 0 done, 1 a wrong result or a file that could not be written, 2 a request
// that cannot be carried out; the same on all ranks.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "check.hpp"
#include "exchange.hpp"
#include "hints.hpp"
#include "iteration.hpp"
#include "options.hpp"
#include "report.hpp"
#include "timing.hpp"

namespace stretto::fft {
namespace {

void say(const char* text) { std::fprintf(stderr, "stretto-fft: %s\n", text); }

// Throws UsageError on all ranks where the master cannot write what is asked for.
JsonFile open_json(const Options& options, const Exchange& exchange) {
  JsonFile file(exchange.is_master() ? options.json : "");
  if (Exchange::tell_all(!file.error().empty()))
    throw UsageError("--json " + options.json + ": " + file.error() + ": name a file that rank 0 can write");
  return file;
}

// On the master; returns whether all is well.
bool tell(const Report& report, JsonFile& file) {
  print_summary(report);
  const bool written = file.write(report);
  if (!written) say("the file of --json could not be written: is its disk full?");
  return written && (!report.check || report.check->failures == 0);
}

int run(const Options& options, const Exchange& exchange) {
  JsonFile file = open_json(options, exchange);
  Hints hints(options.hints);
  if (options.hints && !hints.available() && exchange.is_master())
    say("--hints: no Stretto with hints is preloaded; the run goes on without");
  Iterations iterations(options, exchange, hints);
  std::optional<Checker> checker;
  if (options.check && exchange.is_master()) checker.emplace(options.numbers(), options.seed, options.threads);
  const bool clock_common = is_clock_common();

  std::vector<Passage> passages(static_cast<std::size_t>(options.iterations));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    passages[static_cast<std::size_t>(iteration)] = iterations.run(iteration);
    if (checker) checker->is_right(iteration, iterations.result());
  }

  const std::vector<Passage> all = collect(passages, exchange.ranks(), exchange.rank());
  bool well = true;
  if (exchange.is_master()) {
    Report report{.options = options,
                  .ranks = exchange.ranks(),
                  .clock_common = clock_common,
                  .hints_available = hints.available(),
                  .check = {},
                  .iterations = summarise(all, exchange.ranks())};
    if (checker)
      report.check = CheckResult{checker->failures(), checker->largest_error(), rounding_bound(options.numbers())};
    well = tell(report, file);
    if (hints.refused()) say("--hints: Stretto refused some of them");
  }
  return Exchange::tell_all(well) ? 0 : 1;
}

int start(int argc, char** argv) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Options options = parse_options(argc, argv, ranks);
    if (options.help.empty()) return run(options, Exchange(options, ranks, rank));
    if (rank == 0) std::fputs(options.help.c_str(), stdout);
    return 0;
  } catch (const UsageError& error) {
    if (rank == 0) say(error.what());
    return 2;
  } catch (const std::exception& error) {
    // The others may be waiting for this rank.
    say(error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}

}  // namespace
}  // namespace stretto::fft

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int exit_code = stretto::fft::start(argc, argv);
  MPI_Finalize();
  return exit_code;
}
