#include "sample_log.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

namespace stretto::bench {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

std::string usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  return std::to_string(CPU_COUNT(&set));
}

// An MPI guarantee that no message may break: nobody leaves before everybody has come.
bool synchronises(Collective collective) {
  return collective == Collective::barrier || collective == Collective::allreduce;
}

}  // namespace

SampleLog::SampleLog(const Options& options, World& world) : options_(options), world_(world) {
  if (world.rank() == 0) file_ = std::fopen(options.output.c_str(), "w");
  const int error = world.rank() == 0 && file_ == nullptr ? errno : 0;
  if (const int shared = static_cast<int>(world.share(error)); shared != 0)
    throw UsageError("cannot write " + options.output + ": " + std::strerror(shared));
}

SampleLog::~SampleLog() {
  if (file_ != nullptr) std::fclose(file_);
}

void SampleLog::write_setup(double compute_steps_per_ns, double copy_bytes_per_ns, bool preloaded) {
  if (file_ == nullptr) return;
  std::string algorithms;
  for (const std::string& name : options_.algorithms) algorithms += (algorithms.empty() ? "" : ", ") + quoted(name);
  std::fprintf(file_,
               "{\"kind\": \"setup\", \"algorithms\": [%s], \"ranks\": %d, \"nodes\": %d, "
               "\"clock_error_ns\": %lld, \"mpi\": %s, \"compiler\": %s, "
               "\"compiler_flags\": %s, "
               "\"cores_of_rank_0\": %s, \"compute_steps_per_ns\": %.6f, \"copy_bytes_per_ns\": %.3f, "
               "\"stretto_preloaded\": %s}\n",
               algorithms.c_str(), world_.size(), 1 + *std::max_element(world_.nodes().begin(), world_.nodes().end()),
               static_cast<long long>(world_.clock_error_ns()), quoted(library_version()).c_str(),
               quoted(STRETTO_BENCH_COMPILER).c_str(), quoted(STRETTO_BENCH_FLAGS).c_str(), usable_cores().c_str(),
               compute_steps_per_ns, copy_bytes_per_ns, preloaded ? "true" : "false");
}

void SampleLog::add(Call call, const std::string& ran, std::int64_t arrival_ns, std::int64_t exit_ns) {
  passages_.push_back({arrival_ns, exit_ns, std::hash<std::string>{}(ran)});
  if (world_.rank() != 0) return;
  calls_.push_back(std::move(call));
  ran_.push_back(ran);
}

void SampleLog::write_size(const SizeFacts& facts) {
  const std::vector<std::byte> all = world_.gather(passages_.data(), passages_.size() * sizeof(Passage));
  if (file_ != nullptr) {
    std::fprintf(file_,
                 "{\"kind\": \"size\", \"size\": %zu, \"iterations\": %d, \"copies\": %d, "
                 "\"latency_ns\": %lld, \"copy_bound_ns\": %lld, \"half_interval\": %.6f}\n",
                 facts.size_bytes, facts.iterations, facts.copies, static_cast<long long>(facts.latency_ns),
                 static_cast<long long>(facts.copy_bound_ns), facts.half_interval);
    for (std::size_t call = 0; call < calls_.size(); ++call)
      write_call(facts.size_bytes, calls_[call], ran_[call], passages_of(call, all));
    std::fflush(file_);
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

void SampleLog::write_call(std::size_t size_bytes, const Call& call, const std::string& ran,
                           const std::vector<Passage>& passages) {
  const std::string where = options_.algorithms[call.algorithm] + ", " + std::to_string(size_bytes) +
                            " bytes, iteration " + std::to_string(call.iteration);
  std::int64_t last_arrival = passages[0].arrival_ns, first_exit = passages[0].exit_ns;
  for (const Passage& passage : passages) {
    if (passage.algorithm_hash != passages[0].algorithm_hash)
      World::fail(where + ": the ranks ran different algorithms in one call");
    last_arrival = std::max(last_arrival, passage.arrival_ns);
    first_exit = std::min(first_exit, passage.exit_ns);
  }
  if (synchronises(options_.collective) && first_exit < last_arrival)
    World::fail(where + ": a rank left " + std::to_string(last_arrival - first_exit) + " ns before the last arrived");

  std::string delays, arrivals, exits;
  for (std::size_t rank = 0; rank < passages.size(); ++rank) {
    const char* comma = rank == 0 ? "" : ", ";
    delays += comma + std::to_string(call.delays_ns[rank]);
    arrivals += comma + std::to_string(passages[rank].arrival_ns - call.start_ns);
    exits += comma + std::to_string(passages[rank].exit_ns - call.start_ns);
  }
  std::fprintf(file_,
               "{\"kind\": \"call\", \"iteration\": %d, \"algorithm\": %zu, \"ran\": %s, \"root\": %d, "
               "\"delays\": [%s], \"arrivals\": [%s], \"exits\": [%s]}\n",
               call.iteration, call.algorithm, quoted(ran).c_str(), call.root, delays.c_str(), arrivals.c_str(),
               exits.c_str());
}

void SampleLog::write_end() {
  if (file_ != nullptr) std::fprintf(file_, "{\"kind\": \"end\"}\n");
}

}  // namespace stretto::bench
