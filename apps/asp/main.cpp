// stretto-asp: see docs/asp.md. Exit codes: 0 done, 1 a file that could not be written, 2 a request that cannot be
// carried out; the same on all ranks.
#include <mpi.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "blocks.hpp"
#include "distances.hpp"
#include "exchange.hpp"
#include "generator.hpp"
#include "npy.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "reader.hpp"
#include "report.hpp"
#include "steps.hpp"

namespace stretto::asp {
namespace {

void say(const char* text) { std::fprintf(stderr, "stretto-asp: %s\n", text); }

Graph read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("--graph " + path + ": " + std::strerror(errno) + ": name a file that rank 0 can read");
  return read_graph(file, path);
}

// As many vertices on every rank, and the edges of its rows.
Graph load(const Options& options, const Exchange& exchange) {
  if (options.graph.empty()) {
    const Blocks blocks(options.vertices, exchange.ranks());
    const RandomGraph random{.seed = options.seed, .vertices = options.vertices, .degree = options.degree};
    return {.vertices = options.vertices,
            .edges = generate_edges(random, blocks.first(exchange.rank()), blocks.end(exchange.rank()))};
  }
  Graph whole;
  exchange.on_master([&] { whole = read_file(options.graph); });
  const int vertices = Exchange::tell_all(whole.vertices);
  return {.vertices = vertices, .edges = exchange.hand_out(whole.edges, Blocks(vertices, exchange.ranks()))};
}

int count_steps(const Options& options, int vertices) {
  const int steps = options.steps.value_or(vertices);
  if (steps > vertices)
    throw UsageError("--steps " + std::to_string(steps) + ": the graph has " + std::to_string(vertices) +
                     " vertices, and a step for each");
  return steps;
}

// Throws UsageError on all ranks where one of them has no memory for its rows.
Distances allocate(const Graph& graph, const Exchange& exchange, const Blocks& blocks) {
  std::optional<Distances> distances;
  try {
    distances.emplace(graph.vertices, blocks.first(exchange.rank()), blocks.end(exchange.rank()), graph.edges);
  } catch (const std::bad_alloc&) {
    // Told below, to all.
  }
  if (Exchange::do_all(distances.has_value())) return *std::move(distances);
  const double gib = sizeof(Weight) * std::pow(graph.vertices, 2) * 0x1p-30;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "%d vertices: a rank has no memory for its part of their distances, which take %.1f GiB in all: take "
                "fewer vertices, or more nodes",
                graph.vertices, gib);
  throw UsageError(text.data());
}

// The array, on the master.
void write_distances(std::FILE* file, Distances& distances, const Exchange& exchange, const Blocks& blocks,
                     int vertices) {
  if (exchange.is_master()) {
    const std::string header = npy_header(vertices);
    std::fwrite(header.data(), 1, header.size(), file);
  }
  exchange.collect(distances, blocks, vertices,
                   [file](std::span<const Weight> row) { std::fwrite(row.data(), sizeof(Weight), row.size(), file); });
}

// Returns whether all has been written.
bool finish(OutputFile& file, const char* option) {
  const bool written = file.finish();
  if (!written) say((std::string("the file of ") + option + " could not be written: is its disk full?").c_str());
  return written;
}

int run(const Options& options, const Exchange& exchange) {
  OutputFile json, out;
  exchange.on_master([&] {
    json.open("--json", options.json);
    out.open("--out", options.out);
  });
  const Graph graph = load(options, exchange);
  const int steps = count_steps(options, graph.vertices);
  const Blocks blocks(graph.vertices, exchange.ranks());
  Distances distances = allocate(graph, exchange, blocks);

  const Report report{.options = options,
                      .ranks = exchange.ranks(),
                      .vertices = graph.vertices,
                      .edges = Exchange::sum(static_cast<std::int64_t>(graph.edges.size())),
                      .steps = steps,
                      .times = run_steps(options, exchange, blocks, graph.vertices, steps, distances)};
  if (!options.out.empty()) write_distances(out.get(), distances, exchange, blocks, graph.vertices);
  bool well = true;
  if (exchange.is_master()) {
    print_summary(report);
    if (json.get() != nullptr) write_json(json.get(), report);
    const bool json_well = finish(json, "--json");
    well = finish(out, "--out") && json_well;
  }
  return Exchange::tell_all(well ? 0 : 1);
}

int start(int argc, char** argv) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Options options = parse_options(argc, argv);
    if (options.help.empty()) return run(options, Exchange(ranks, rank));
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
}  // namespace stretto::asp

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int exit_code = stretto::asp::start(argc, argv);
  MPI_Finalize();
  return exit_code;
}
