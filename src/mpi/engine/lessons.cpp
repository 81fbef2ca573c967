#include "mpi/engine/lessons.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "mpi/engine/world.hpp"

namespace stretto::mpi {
namespace {

std::int64_t count(Tally::Count& sum, double more) {
  const auto whole = static_cast<std::int64_t>(more);
  return sum.fetch_add(whole, std::memory_order_relaxed) + whole;
}

}  // namespace

void Adapted::add(Tally& tally, const Adaptation::Savings& before, const Adaptation::Savings& now) {
  const Adaptation::Savings more{.native_ns = now.native_ns - before.native_ns,
                                 .saved_ns = now.saved_ns - before.saved_ns,
                                 .unsure_ns = now.unsure_ns - before.unsure_ns};
  count(tally.native_ns, more.native_ns);
  count(tally.saved_ns, more.saved_ns);
  count(tally.unsure_ns, more.unsure_ns);
  const auto native = static_cast<double>(count(native_ns_, more.native_ns));
  const auto saved = static_cast<double>(count(saved_ns_, more.saved_ns));
  const auto behind_ppm = static_cast<std::int64_t>(1e6 * -saved / std::max(native, 1.0));
  most_behind_ppm_ = std::max(most_behind_ppm_.load(), behind_ppm);
}

std::int64_t Adapted::sum(Tally::Count Tally::*of) const {
  std::int64_t all = 0;
  for (const Tally& tally : tallies_) all += (tally.*of).load(std::memory_order_relaxed);
  return all;
}

void Adapted::report(Collective collective) const {
  if (native_ns_ == 0) return;
  const auto seconds = [](std::int64_t ns) { return 1e-9 * static_cast<double>(ns); };
  std::fprintf(stderr,
               "stretto: %s: %.3g s of %.3g s saved (+-%.2g) by Stretto's algorithms in %lld of %lld calls; at no time "
               "more than %.1f %% behind the MPI library's own\n",
               std::string(name_of(collective)).c_str(), seconds(saved_ns_), seconds(native_ns_),
               seconds(sum(&Tally::unsure_ns)), static_cast<long long>(sum(&Tally::ours)),
               static_cast<long long>(sum(&Tally::calls)), 1e-4 * static_cast<double>(most_behind_ppm_));
}

void Lessons::open(const Configuration& configuration, const World& world) {
  const Adapt adapt = configuration.adapt;
  is_told_ = adapt >= Adapt::watch || configuration.verbose;
  if (adapt != Adapt::off) reduction_.open();  // ranks of one node may have no memory in common
  if (!configuration.memory.empty()) earlier_ = file_.open(configuration.memory, world);
}

void Lessons::close(const World& world) {
  reduction_.close();
  EarlierRuns all = learnt_;
  all.insert(earlier_.begin(), earlier_.end());
  if (!learnt_.empty()) file_.write(all, world);
}

const Adaptation::Learnt* Lessons::earlier(const KindOfCalls& kind) const {
  const auto found = earlier_.find(kind);
  return found == earlier_.end() ? nullptr : &found->second;
}

void Lessons::keep(const KindOfCalls& kind, const Adaptation::Learnt& learnt) {
  if (learnt.native_ns <= 0) return;
  const std::scoped_lock lock(learnt_mutex_);
  Adaptation::Learnt& kept = learnt_[kind];
  if (kept.native_ns < learnt.native_ns) kept = learnt;
}

void Lessons::report() const {
  if (!is_told_) return;
  for (const Collective collective : kCollectives) adapted_[static_cast<std::size_t>(collective)].report(collective);
}

void Lessons::for_each(const std::function<void(Collective, std::uint64_t, const Tally&)>& tell) const {
  for (const Collective collective : kCollectives) {
    for (std::size_t length = 0; length < kLengths; ++length) {
      const Tally& tally = adapted_[static_cast<std::size_t>(collective)].of_length(length);
      if (tally.native_ns > 0) tell(collective, length == 0 ? 0 : std::uint64_t{1} << (length - 1), tally);
    }
  }
}

}  // namespace stretto::mpi
