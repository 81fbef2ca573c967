#include "sample_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace stretto::bench {
namespace {

// An MPI guarantee that no message may break: nobody leaves before everybody has come.
bool synchronises(Collective collective) {
  return collective == Collective::barrier || collective == Collective::allreduce;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

SampleWriter::SampleWriter(const Options& options) : options_(options), file_(std::fopen(options.output.c_str(), "w")) {
  if (file_ == nullptr) throw UsageError("cannot write " + options.output + ": " + std::strerror(errno));
}

SampleWriter::~SampleWriter() { std::fclose(file_); }

void SampleWriter::write_setup(const std::string& facts) {
  std::string names;
  for (const std::string& name : options_.algorithms) names += (names.empty() ? "" : ", ") + quoted(name);
  std::fprintf(file_, "{\"kind\": \"setup\", \"algorithms\": [%s], %s}\n", names.c_str(), facts.c_str());
}

void SampleWriter::write_size(const SizeFacts& facts) {
  std::fprintf(file_,
               "{\"kind\": \"size\", \"size\": %zu, \"iterations\": %d, \"copies\": %d, "
               "\"latency_ns\": %lld, \"copy_bound_ns\": %lld, \"half_interval\": %.6f}\n",
               facts.size_bytes, facts.iterations, facts.copies, static_cast<long long>(facts.latency_ns),
               static_cast<long long>(facts.copy_bound_ns), facts.half_interval);
}

void SampleWriter::write_call(std::size_t size_bytes, const Call& call, const std::string& ran,
                              const std::vector<Passage>& passages, std::int64_t tolerance_ns) {
  const std::string where = options_.algorithms[call.algorithm] + ", " + std::to_string(size_bytes) +
                            " bytes, iteration " + std::to_string(call.iteration);
  std::int64_t last_arrival = passages[0].arrival_ns, first_exit = passages[0].exit_ns;
  for (const Passage& passage : passages) {
    if (passage.algorithm_hash != passages[0].algorithm_hash)
      throw std::runtime_error(where + ": the ranks ran different algorithms in one call");
    last_arrival = std::max(last_arrival, passage.arrival_ns);
    first_exit = std::min(first_exit, passage.exit_ns);
  }
  if (synchronises(options_.collective) && first_exit + tolerance_ns < last_arrival)
    throw std::runtime_error(where + ": a rank left " + std::to_string(last_arrival - first_exit) +
                             " ns before the last arrived");

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

void SampleWriter::write_end() { std::fprintf(file_, "{\"kind\": \"end\"}\n"); }

}  // namespace stretto::bench
