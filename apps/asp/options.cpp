#include "options.hpp"

#include <CLI/CLI.hpp>
#include <iomanip>
#include <sstream>

#include "graph.hpp"

namespace stretto::asp {
namespace {

constexpr double kMostDegree = 10'000;
constexpr double kMostJitterMs = 60'000;

void add_options(CLI::App& app, Options& options) {
  CLI::Option* graph = app.add_option("--graph", options.graph,
                                      "a text file with a line `from to [weight]` for every edge, comments after #, "
                                      "read by rank 0; without it a random graph is generated");
  app.add_option("--vertices", options.vertices, "of the random graph")->excludes(graph)->capture_default_str();
  app.add_option("--degree", options.degree, "edges that leave a vertex of the random graph, on average")
      ->excludes(graph)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the random graph and of --jitter-ms")->capture_default_str();
  app.add_option("--steps", options.steps,
                 "only the first so many steps, each of which costs the same; default: one for every vertex, which all "
                 "distances need");
  app.add_option("--jitter-ms", options.jitter_ms,
                 "every rank sleeps a random time up to so many milliseconds before each step, to be like a noisy "
                 "machine")
      ->capture_default_str();
  app.add_option("--json", options.json, "write settings and times to this file");
  app.add_option("--out", options.out, "write the distances to this file, as a NumPy array (.npy) of floats");
}

void check_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  std::ostringstream text;
  text << std::setprecision(15) << name << " " << value << ": give a number from " << least << " to " << most;
  throw UsageError(text.str());
}

void check_ranges(const Options& options) {
  check_range("--vertices", options.vertices, 1, kMostVertices);
  check_range("--degree", options.degree, 0, kMostDegree);
  check_range("--steps", options.steps.value_or(0), 0, kMostVertices);
  check_range("--jitter-ms", options.jitter_ms, 0, kMostJitterMs);
  if (options.seed < 0)
    throw UsageError("--seed " + std::to_string(options.seed) + ": give a number that is not negative");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Shortest paths between all pairs of vertices of a weighted directed graph, by the algorithm of Floyd and "
      "Warshall on blocks of rows: the application of Luo 2018. Start it with mpirun.",
      "stretto-asp");
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; --help tells what each option takes");
  }
  check_ranges(options);
  return options;
}

}  // namespace stretto::asp
