#include "report.hpp"

#include <algorithm>
#include <cinttypes>
#include <vector>

namespace stretto::asp {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double percentage(const Times& times) { return times.total_s > 0 ? 100 * times.communication_s / times.total_s : 0; }

std::size_t bytes_of_row(const Report& report) { return sizeof(Weight) * static_cast<std::size_t>(report.vertices); }

void write_times(std::FILE* file, const char* name, const std::vector<double>& times_s) {
  std::fprintf(file, ",\n  \"%s\": [", name);
  for (std::size_t i = 0; i < times_s.size(); ++i) std::fprintf(file, "%s%.9f", i == 0 ? "" : ", ", times_s[i]);
  std::fprintf(file, "]");
}

}  // namespace

void print_summary(const Report& report) {
  const Times& times = report.times;
  std::printf("%d of %d steps, %d ranks, %" PRId64 " edges, broadcasts of %zu bytes\n", report.steps, report.vertices,
              report.ranks, report.edges, bytes_of_row(report));
  std::printf("communication   %12.6f s\n", times.communication_s);
  std::printf("total           %12.6f s\n", times.total_s);
  std::printf("percentage      %12.2f %%\n", percentage(times));
  std::printf("a broadcast     %12.6f ms, median over the steps\n", 1e3 * median(times.mean_s));
}

void write_json(std::FILE* file, const Report& report) {
  const Options& options = report.options;
  const Times& times = report.times;
  std::fprintf(file, "{\n  \"ranks\": %d,\n  \"vertices\": %d,\n  \"edges\": %" PRId64 ",\n", report.ranks,
               report.vertices, report.edges);
  std::fprintf(file, "  \"generated\": %s,\n  \"degree\": %.9g,\n  \"seed\": %" PRId64 ",\n  \"steps\": %d,\n",
               options.graph.empty() ? "true" : "false", options.degree, options.seed, report.steps);
  std::fprintf(file, "  \"bytes_per_broadcast\": %zu,\n  \"jitter_ms\": %.9g,\n", bytes_of_row(report),
               options.jitter_ms);
  std::fprintf(file, "  \"communication_s\": %.9f,\n  \"total_s\": %.9f,\n  \"percentage\": %.6f",
               times.communication_s, times.total_s, percentage(times));
  write_times(file, "broadcast_mean_s", times.mean_s);
  write_times(file, "broadcast_least_s", times.least_s);
  write_times(file, "broadcast_most_s", times.most_s);
  std::fprintf(file, "\n}\n");
}

}  // namespace stretto::asp
