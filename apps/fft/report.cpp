#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <numeric>

namespace stretto::fft {
namespace {

using Times = std::vector<IterationTimes>;
using Member = double IterationTimes::*;

double sum(const Times& times, Member member) {
  return std::accumulate(times.begin(), times.end(), 0.0,
                         [member](double total, const IterationTimes& one) { return total + one.*member; });
}

double median(const Times& times, Member member) {
  std::vector<double> values;
  for (const IterationTimes& one : times) values.push_back(one.*member);
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double median_ms(const Times& times, Member member) { return 1e3 * median(times, member); }

void write_times(std::FILE* file, const char* name, const Times& times, Member member) {
  std::fprintf(file, ",\n  \"%s\": [", name);
  for (std::size_t i = 0; i < times.size(); ++i) std::fprintf(file, "%s%.9f", i == 0 ? "" : ", ", times[i].*member);
  std::fprintf(file, "]");
}

const char* name_of(bool value) { return value ? "true" : "false"; }

void write_check(std::FILE* file, const std::optional<CheckResult>& check) {
  if (!check) {
    std::fprintf(file, ",\n  \"check\": null");
    return;
  }
  std::fprintf(file, ",\n  \"check\": {\"wrong_iterations\": %d, \"bound\": %.6g, \"largest_error\": ", check->failures,
               check->bound);
  // JSON has no word for NaN and infinity.
  if (std::isfinite(check->largest_error))
    std::fprintf(file, "%.6g}", check->largest_error);
  else
    std::fprintf(file, "null}");
}

void write_settings(std::FILE* file, const Report& report) {
  const Options& options = report.options;
  std::fprintf(file, "{\n  \"ranks\": %d,\n  \"threads\": %d,\n  \"size_floats\": %" PRId64 ",\n", report.ranks,
               options.threads, options.size_floats);
  std::fprintf(file, "  \"size_complex\": %zu,\n  \"gather_bytes_per_rank\": %zu,\n", options.numbers(),
               8 * options.numbers() / static_cast<std::size_t>(report.ranks));
  std::fprintf(file, "  \"iterations\": %d,\n  \"seed\": %" PRId64 ",\n  \"distribute\": \"%s\",\n", options.iterations,
               options.seed, options.distribute.c_str());
  std::fprintf(file, "  \"jitter_ms\": %.9g,\n  \"hints\": \"%s\",\n", options.jitter_ms,
               !options.hints ? "off" : (report.hints_available ? "on" : "not available"));
  std::fprintf(file, "  \"clock_common\": %s", name_of(report.clock_common));
}

}  // namespace

void print_summary(const Report& report) {
  const Options& options = report.options;
  const Times& times = report.iterations;
  const double total_s = sum(times, &IterationTimes::whole_s);
  std::printf("%d ranks of %d threads, %" PRId64 " floats (%zu complex numbers), %d iterations, seed %" PRId64 ", %s\n",
              report.ranks, options.threads, options.size_floats, options.numbers(), options.iterations, options.seed,
              options.distribute.c_str());
  std::printf("total time             %9.3f s\n", total_s);
  std::printf("gather, medians\n");
  if (report.clock_common) {
    std::printf("  run time             %9.3f ms\n", median_ms(times, &IterationTimes::run_time_s));
    std::printf("  mean elapsed time    %9.3f ms\n", median_ms(times, &IterationTimes::elapsed_time_s));
    std::printf("  first to last arrival%9.3f ms\n", median_ms(times, &IterationTimes::imbalance_s));
  } else {
    std::printf("  run time                  unknown: the ranks do not share one clock\n");
    std::printf("  mean elapsed time    %9.3f ms\n", median_ms(times, &IterationTimes::elapsed_time_s));
  }
  std::printf("master's computation   %9.3f s, %.1f %% of the total\n", sum(times, &IterationTimes::master_compute_s),
              100 * sum(times, &IterationTimes::master_compute_s) / total_s);
  if (report.check)
    std::printf("check                  %d of %d iterations wrong, largest error %.3g, bound %.3g\n",
                report.check->failures, options.iterations, report.check->largest_error, report.check->bound);
}

JsonFile::JsonFile(const std::string& path) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "w"));
  if (file_ == nullptr) error_ = std::strerror(errno);
}

bool JsonFile::write(const Report& report) {
  if (file_ == nullptr) return true;
  std::FILE* file = file_.get();
  const Times& times = report.iterations;
  write_settings(file, report);
  write_check(file, report.check);
  std::fprintf(file, ",\n  \"total_s\": %.9f", sum(times, &IterationTimes::whole_s));
  write_times(file, "iteration_s", times, &IterationTimes::whole_s);
  if (report.clock_common) {
    write_times(file, "run_time_s", times, &IterationTimes::run_time_s);
    write_times(file, "imbalance_s", times, &IterationTimes::imbalance_s);
  } else {
    std::fprintf(file, ",\n  \"run_time_s\": null,\n  \"imbalance_s\": null");
  }
  write_times(file, "elapsed_time_s", times, &IterationTimes::elapsed_time_s);
  write_times(file, "master_compute_s", times, &IterationTimes::master_compute_s);
  write_times(file, "mean_compute_s", times, &IterationTimes::mean_compute_s);
  std::fprintf(file, "\n}\n");
  return std::fflush(file) == 0 && std::ferror(file) == 0;
}

}  // namespace stretto::fft
