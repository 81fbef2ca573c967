#include "sample_log.hpp"

#include <sched.h>

#include <cstdio>
#include <cstring>
#include <functional>

namespace stretto::bench {
namespace {

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  return CPU_COUNT(&set);
}

}  // namespace

SampleLog::SampleLog(const Options& options, World& world) : options_(options), world_(world) {
  std::string error = "rank 0 cannot write its samples";
  try {
    if (world.rank() == 0) writer_.emplace(options);
  } catch (const UsageError& refusal) {
    error = refusal.what();
  }
  const bool failed = world.rank() == 0 && !writer_;
  if (world.share(failed ? 1 : 0) != 0) throw UsageError(error);
}

void SampleLog::write_setup(double compute_steps_per_ns, double copy_bytes_per_ns, bool preloaded) {
  if (!writer_) return;
  char numbers[192];
  std::snprintf(numbers, sizeof(numbers),
                "\"nodes\": %d, \"clock_error_ns\": %lld, \"cores_of_rank_0\": %d, \"compute_steps_per_ns\": %.6f, "
                "\"copy_bytes_per_ns\": %.3f, ",
                1 + *std::max_element(world_.nodes().begin(), world_.nodes().end()),
                static_cast<long long>(world_.clock_error_ns()), usable_cores(), compute_steps_per_ns,
                copy_bytes_per_ns);
  const std::string mpi = library_version();
  writer_->write_setup("\"ranks\": " + std::to_string(world_.size()) + ", \"mpi\": " + quoted(mpi) +
                       ", \"mpi_version\": " + quoted(mpi.substr(0, mpi.find_first_of("\n,"))) + ", \"compiler\": " +
                       quoted(STRETTO_BENCH_COMPILER) + ", \"compiler_flags\": " + quoted(STRETTO_BENCH_FLAGS) + ", " +
                       numbers + "\"stretto_preloaded\": " + (preloaded ? "true" : "false"));
}

void SampleLog::add(Call call, const std::string& ran, std::int64_t arrival_ns, std::int64_t exit_ns) {
  passages_.push_back({arrival_ns, exit_ns, std::hash<std::string>{}(ran)});
  if (!writer_) return;
  calls_.push_back(std::move(call));
  ran_.push_back(ran);
}

void SampleLog::write_size(const SizeFacts& facts) {
  const std::vector<std::byte> all = world_.gather(passages_.data(), passages_.size() * sizeof(Passage));
  if (writer_) {
    writer_->write_size(facts);
    for (std::size_t call = 0; call < calls_.size(); ++call)
      writer_->write_call(facts.size_bytes, calls_[call], ran_[call], passages_of(call, all),
                          world_.clock_tolerance_ns());
    writer_->flush();
  }
  calls_.clear();
  ran_.clear();
  passages_.clear();
}

std::vector<Passage> SampleLog::passages_of(std::size_t call, const std::vector<std::byte>& gathered) const {
  std::vector<Passage> passages(static_cast<std::size_t>(world_.size()));
  for (std::size_t rank = 0; rank < passages.size(); ++rank)
    std::memcpy(&passages[rank], gathered.data() + (rank * calls_.size() + call) * sizeof(Passage), sizeof(Passage));
  return passages;
}

std::vector<std::vector<double>> SampleLog::values(bool by_lag) const {
  const std::vector<std::byte> all = world_.gather(passages_.data(), passages_.size() * sizeof(Passage));
  if (world_.rank() != 0) return {};
  const auto& names = options_.algorithms;
  std::vector<std::vector<double>> values(names.size());
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    std::int64_t last_arrival = 0, last_exit = 0, inside = 0;
    for (const Passage& passage : passages_of(call, all)) {
      last_arrival = std::max(last_arrival, passage.arrival_ns);
      last_exit = std::max(last_exit, passage.exit_ns);
      inside += passage.exit_ns - passage.arrival_ns;
    }
    values[calls_[call].algorithm].push_back(static_cast<double>(by_lag ? last_exit - last_arrival : inside));
  }
  if (names.size() == 1) return values;
  // Each algorithm has one call an iteration, in the order of iterations.
  const auto native = std::find(names.begin(), names.end(), "native");
  const auto reference = static_cast<std::size_t>(native == names.end() ? 0 : native - names.begin());
  const std::vector<double> divisors = values[reference];
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(reference));
  for (std::vector<double>& own : values)
    for (std::size_t iteration = 0; iteration < own.size(); ++iteration) own[iteration] /= divisors[iteration];
  return values;
}

void SampleLog::write_end() {
  if (writer_) writer_->write_end();
}

}  // namespace stretto::bench
