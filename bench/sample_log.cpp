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

SampleLog::SampleLog(const Options& options, World& world) : world_(world) {
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
  char numbers[128];
  std::snprintf(numbers, sizeof(numbers),
                "\"cores_of_rank_0\": %d, \"compute_steps_per_ns\": %.6f, \"copy_bytes_per_ns\": %.3f, ",
                usable_cores(), compute_steps_per_ns, copy_bytes_per_ns);
  writer_->write_setup("\"ranks\": " + std::to_string(world_.size()) + ", \"mpi\": " + quoted(library_version()) +
                       ", \"compiler\": " + quoted(STRETTO_BENCH_COMPILER) +
                       ", \"compiler_flags\": " + quoted(STRETTO_BENCH_FLAGS) + ", " + numbers +
                       "\"stretto_preloaded\": " + (preloaded ? "true" : "false"));
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
    std::vector<Passage> passages(static_cast<std::size_t>(world_.size()));
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      for (std::size_t rank = 0; rank < passages.size(); ++rank)
        std::memcpy(&passages[rank], all.data() + (rank * calls_.size() + call) * sizeof(Passage), sizeof(Passage));
      writer_->write_call(facts.size_bytes, calls_[call], ran_[call], passages);
    }
    writer_->flush();
  }
  calls_.clear();
  ran_.clear();
  passages_.clear();
}

void SampleLog::write_end() {
  if (writer_) writer_->write_end();
}

}  // namespace stretto::bench
