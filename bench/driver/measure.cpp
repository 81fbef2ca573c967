#include "measure.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "clock.hpp"
#include "noise.hpp"
#include "random.hpp"
#include "repetition.hpp"

namespace stretto::bench {
namespace {

constexpr std::int64_t start_lead_ns = 2'000'000;
constexpr std::int64_t wake_up_ns = 100'000;
constexpr std::int64_t progress_step_ns = 500'000'000;
// From the first arrival until the others begin to compute.
constexpr std::int64_t head_start_ns = 1'000'000;
// Past the MPI library: no interposer, no cost. "passthrough" takes the way through Stretto to the same function.
constexpr const char* native_name = "native";
constexpr const char* passthrough_name = "passthrough";
// The MPI library forced to another than its default; `native:*` stands for all that it can be forced to.
const std::string variant_prefix = "native:";
const std::string every_variant = "native:*";

// To the clock's tick, which a sleeper's wake-up is not.
void wait_awake_until(std::int64_t when_ns) {
  sleep_until_ns(when_ns - wake_up_ns);
  while (now_ns() < when_ns) {
  }
}

// How many private copies of the message a collective must write: the results that it hands out.
int results_of(Collective collective, int ranks) {
  switch (without_lengths(collective)) {
    case Collective::allreduce:
    case Collective::reduce_scatter_block:
      return ranks;
    case Collective::allgather:
    case Collective::alltoall:
      return ranks * (ranks - 1);
    case Collective::bcast:
    case Collective::gather:
    case Collective::scatter:
      return ranks - 1;
    case Collective::reduce:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Measurement::Measurement(const Options& options, World& world)
    : options_(options),
      world_(world),
      variants_(options.collective),
      pattern_(ArrivalPattern::parse(options.arrival)),
      manner_(pattern_.manner() == Manner::together && is_sleep_exact() ? Manner::sleeping : pattern_.manner()),
      load_(world),
      log_(options_, world) {
  if (options.root && (*options.root < 0 || *options.root >= world.size()))
    throw UsageError("root=" + std::to_string(*options.root) + ": there are " + std::to_string(world.size()) +
                     " ranks");
  pattern_.check(world.nodes());
  if (options.hints && !steering_.available()) throw UsageError("hints=1 needs Stretto preloaded");
  options_.algorithms.clear();
  for (const std::string& name : options.algorithms) {
    if (name != every_variant) {
      add_contender(name);
      continue;
    }
    for (const std::string& variant : variants_.names()) add_contender(variant_prefix + variant);
  }
  if (contenders_.empty())
    throw UsageError("native:*: this MPI library's " + std::string(name_of(options.collective)) +
                     " can be forced to nothing; measure `native`");
}

void Measurement::add_contender(const std::string& algorithm) {
  options_.algorithms.push_back(algorithm);
  if (algorithm == native_name) {
    contenders_.push_back({"", world_.native(), false});
  } else if (algorithm.starts_with(variant_prefix)) {
    const std::string variant = algorithm.substr(variant_prefix.size());
    contenders_.push_back({variant, world_.native(), false, variants_.communicator_for(variant)});
  } else {
    if (!steering_.available())
      throw UsageError("algorithm '" + algorithm +
                       "' needs Stretto preloaded: `stretto bench` does so once it is built");
    const std::string forced = algorithm == passthrough_name ? native_name : algorithm;
    steering_.use(options_.collective, forced);
    contenders_.push_back({forced, CallTable::of_program(), true});
  }
}

void Measurement::run() {
  log_.write_setup(load_.steps_per_ns(), measure_copy_bandwidth(world_), steering_.available());
  for (std::size_t i = 0; i < options_.sizes_bytes.size(); ++i) measure_size(i);
  log_.write_end();
}

void Measurement::measure_size(std::size_t size_index) {
  const std::size_t size = options_.sizes_bytes[size_index];
  world_.compare_clocks();  // again and again, as clocks drift
  const int iterations = options_.iterations[size_index];
  const std::int64_t latency_ns = measure_latency_ns(world_, size);
  const int copies = results_of(options_.collective, world_.size());
  const std::int64_t bound_ns = measure_copy_bound_ns(world_, size, copies);
  CollectiveCase work(options_, world_, size);
  const Noise noise(pattern_, load_, options_.seed + size_index, world_.rank());
  std::uint64_t number = random_bits(options_.seed, size_index, 0);
  Repetition repetition(options_, world_, iterations, !pattern_.is_tight());
  int iteration = -options_.warm_up;
  for (; iteration < 0 || repetition.goes_on(iteration, log_); ++iteration) {
    const auto index = static_cast<std::uint64_t>(iteration) + static_cast<std::uint64_t>(options_.warm_up);
    const int root = options_.root.value_or(static_cast<int>(index % static_cast<std::uint64_t>(world_.size())));
    const auto delays = pattern_.delays_ns(options_.seed, index, world_.nodes(), latency_ns);
    tell_progress(size_index, iteration);
    for (const std::size_t algorithm : order_of(index))
      measure_call(work, Call{iteration, algorithm, root, 0, delays}, ++number);
  }
  log_.write_size({size, iteration, copies, latency_ns, bound_ns, repetition.reached()});
}

void Measurement::tell_progress(std::size_t size_index, int iteration) {
  if (!options_.progress || world_.rank() != 0 || now_ns() < next_progress_ns_) return;
  std::fprintf(stderr, "progress %zu %d\n", size_index, std::max(0, iteration));
  next_progress_ns_ = now_ns() + progress_step_ns;
}

// A seeded shuffle, so that no algorithm always finds the state that the same other one leaves behind.
std::vector<std::size_t> Measurement::order_of(std::uint64_t iteration) const {
  std::vector<std::size_t> order(contenders_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return random_bits(options_.seed + 2, iteration, left) < random_bits(options_.seed + 2, iteration, right);
  });
  return order;
}

void Measurement::measure_call(CollectiveCase& work, Call call, std::uint64_t number) {
  const Contender& contender = contenders_[call.algorithm];
  // Warm-up calls see data whose sums depend on the order, so that ranks which combine differently are found out.
  const Values values = call.iteration < 0 ? Values::rough : Values::exact;
  work.prepare(number, call.root, values);
  if (options_.cold_cache) work.cool();
  if (contender.steered) steering_.use(options_.collective, contender.name);
  // The MPI library's own barrier, which synchronises them all, leaves the library's code and data in the caches; this
  // one leaves the contender's, as in a program that has barriers. Between nodes Stretto takes up here how ranks come.
  contender.calls.barrier(MPI_COMM_WORLD);

  call.start_ns = synchronise();
  // Around the call only: what is around it is called, too.
  if (!contender.steered) variants_.select(contender.name);
  spend_delay(call.start_ns, call.delays_ns[static_cast<std::size_t>(world_.rank())]);
  const std::int64_t arrival_ns = now_ns();
  work.run(contender.calls, contender.communicator);
  const std::int64_t exit_ns = now_ns();
  variants_.select("");
  settle();

  verify(work, call, values);
  const std::string ran = contender.steered ? steering_.last(options_.collective) : options_.algorithms[call.algorithm];
  if (ran.empty()) World::fail(contender.name + ": Stretto is preloaded, but did not see the call");
  if (call.iteration >= 0) log_.add(std::move(call), ran, arrival_ns, exit_ns);
}

// Returns the moment from which delays count; for ranks that sleep until then it lies ahead and is the same for all.
std::int64_t Measurement::synchronise() {
  const bool sleep_first = manner_ == Manner::sleeping || manner_ == Manner::computing_late || options_.window;
  return world_.agree_on_start(sleep_first ? start_lead_ns : 0);
}

// With hints in two halves, between which the rank tells that it is half-way (Proficz 2020, Fig. 13).
void Measurement::spend_delay(std::int64_t start_ns, std::int64_t delay_ns) const {
  if (!options_.hints) return spend(start_ns, delay_ns);
  steering_.compute_begin();
  const std::int64_t half_ns = delay_ns / 2;
  spend(start_ns, half_ns);
  steering_.progress_mark(0.5);
  if (manner_ == Manner::sleeping) return spend(start_ns, delay_ns);
  load_.run(delay_ns - half_ns);
}

void Measurement::spend(std::int64_t start_ns, std::int64_t delay_ns) const {
  switch (manner_) {
    case Manner::together:
      if (options_.window) wait_awake_until(start_ns);
      break;
    case Manner::sleeping:
      sleep_until_ns(start_ns + delay_ns);
      break;
    case Manner::computing:
      if (options_.window) wait_awake_until(start_ns);
      load_.run(delay_ns);
      break;
    case Manner::computing_late:
      sleep_until_ns(delay_ns == 0 ? start_ns : start_ns + head_start_ns);
      load_.run(delay_ns);
      break;
  }
}

// Keeps ranks that are out from disturbing those still in the call.
void Measurement::settle() {
  if (pattern_.is_tight())
    world_.barrier();
  else
    world_.quiet_barrier();
}

void Measurement::verify(const CollectiveCase& work, const Call& call, Values values) const {
  const auto where = [&] {
    return std::string(name_of(options_.collective)) + ", " + options_.algorithms[call.algorithm] + ", " +
           std::to_string(work.size_bytes()) + " bytes, iteration " + std::to_string(call.iteration) + ", rank " +
           std::to_string(world_.rank()) + ", root " + std::to_string(call.root);
  };
  if (const auto error = work.find_error()) World::fail(where() + ": " + *error);
  if (values != Values::rough || options_.collective != Collective::allreduce) return;
  const std::uint64_t hash = work.result_hash();
  const std::vector<std::byte> hashes = world_.gather(&hash, sizeof(hash));
  for (std::size_t offset = 0; offset < hashes.size(); offset += sizeof(hash))
    if (std::memcmp(hashes.data() + offset, &hash, sizeof(hash)) != 0)
      World::fail(where() + ": rank " + std::to_string(offset / sizeof(hash)) + " has a result of other bits");
}

}  // namespace stretto::bench
