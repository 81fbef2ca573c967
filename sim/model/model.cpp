#include "model.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "random.hpp"

namespace stretto::model {
namespace {

// Results are proven at the size itself as long as the ranks' buffers fit, else at the largest size that does.
constexpr std::size_t most_data_bytes = std::size_t{256} << 20;
constexpr std::size_t most_buffer_bytes = std::size_t{4} << 30;  // with a block for each rank
constexpr std::size_t smallest_pool_bytes = std::size_t{4} << 20;
constexpr std::size_t largest_pool_bytes = std::size_t{128} << 20;  // what STRETTO_SHM_MAX_MIB leaves by default

void combine_nothing(const void*, void*, std::size_t, const void*) {}

Element element_of(bench::Datatype datatype) {
  switch (datatype) {
    case bench::Datatype::float64:
      return Element::float64;
    case bench::Datatype::int32:
      return Element::int32;
    default:
      return Element::float32;
  }
}

Reduction reduction_of(const bench::Options& request, bool with_data) {
  const Operation operation = request.operation == bench::Operation::sum ? Operation::sum : Operation::maximum;
  Reduction reduction = predefined_reduction(operation, element_of(request.datatype));
  if (!with_data) reduction.combine = &combine_nothing;
  return reduction;
}

// The buffers of all ranks. Without data all use the same ones: no time depends on what is in them.
class Buffers {
 public:
  Buffers(const bench::Options& request, bench::CaseData* data, int ranks, std::size_t size_bytes) {
    if (data == nullptr) {
      const bool blocks = bench::has_block_for_each(request.collective);
      sends_.assign(1, std::vector<std::byte>(blocks ? size_bytes * static_cast<std::size_t>(ranks) : size_bytes));
      receives_ = sends_;
      return;
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const bench::Periods sent = data->sent_by(rank);
      sends_.emplace_back(sent.size() * size_bytes);
      bench::fill_blocks(sends_.back(), sent);
      receives_.emplace_back(std::max<std::size_t>(data->expected_by(rank).size(), 1) * size_bytes);
      if (request.in_place || request.collective == Collective::bcast)
        bench::fill_blocks(receives_.back(), {data->contribution(rank)});
    }
  }

  std::byte* send(int rank) { return at(sends_, rank).data(); }
  std::byte* receive(int rank) { return at(receives_, rank).data(); }
  const std::vector<std::byte>& result(int rank) { return at(receives_, rank); }

 private:
  static std::vector<std::byte>& at(std::vector<std::vector<std::byte>>& all, int rank) {
    return all.size() == 1 ? all.front() : all[static_cast<std::size_t>(rank)];
  }

  std::vector<std::vector<std::byte>> sends_;
  std::vector<std::vector<std::byte>> receives_;
};

stretto::Call call_of_rank(const bench::Options& request, Buffers& buffers, std::size_t size_bytes, int root,
                           int rank) {
  stretto::Call call;
  call.element_bytes = bench::bytes_of(request.datatype);
  call.count = size_bytes / call.element_bytes;
  call.root = root;
  const Collective collective = without_lengths(request.collective);
  const bool to_root = collective == Collective::reduce || collective == Collective::gather;
  const bool has_output = !to_root || rank == root;
  if (has_output) call.output = buffers.receive(rank);
  const bool one_buffer = collective == Collective::bcast || (request.in_place && has_output);
  call.input = one_buffer ? call.output : buffers.send(rank);
  return call;
}

Task run_in_a_row(Group& g, const Algorithm& algorithm, stretto::Call call, int times) {
  for (int i = 0; i < times; ++i) co_await run_algorithm(g, algorithm, call);
}

}  // namespace

Model::Model(const ModelOptions& options)
    : options_(options), pattern_(bench::ArrivalPattern::parse(options.request.arrival)), writer_(options.request) {
  for (int rank = 0; rank < options.machine.ranks; ++rank) nodes_.push_back(rank / options.machine.ranks_per_node);
  pattern_.check(nodes_);
  const bool blocks = bench::has_block_for_each(options.request.collective);
  for (const std::size_t size_bytes : options.request.sizes_bytes)
    if (blocks && size_bytes > most_buffer_bytes / nodes_.size())
      throw bench::UsageError("sizes=" + std::to_string(size_bytes) + ": a buffer for " +
                              std::to_string(nodes_.size()) + " ranks would exceed 4 GiB");
}

void Model::run() {
  writer_.write_setup("\"ranks\": " + std::to_string(options_.machine.ranks) + ", \"nodes\": " +
                      std::to_string(nodes_.back() + 1) + ", \"clock_error_ns\": 0, \"mpi\": \"modelled\"");
  for (std::size_t i = 0; i < options_.request.sizes_bytes.size(); ++i) run_size(i);
  writer_.write_end();
}

void Model::run_size(std::size_t size_index) {
  const bench::Options& request = options_.request;
  const std::size_t size_bytes = request.sizes_bytes[size_index];
  const int iterations = request.iterations[size_index], ranks = options_.machine.ranks;
  const std::int64_t latency = latency_ns(size_bytes);
  writer_.write_size({size_bytes, iterations, 0, latency, 0});
  for (int iteration = 0; iteration < iterations; ++iteration) {
    // Nothing warms up here; the calls are those that the benchmark makes after its warm-up.
    const int index = iteration + request.warm_up;
    const auto delays = pattern_.delays_ns(request.seed, static_cast<std::uint64_t>(index), nodes_, latency);
    for (std::size_t algorithm = 0; algorithm < request.algorithms.size(); ++algorithm)
      run_call(size_bytes, {iteration, algorithm, request.root.value_or(index % ranks), 0, delays});
  }
}

void Model::run_call(std::size_t size_bytes, const bench::Call& call) {
  const Algorithm& algorithm = *options_.algorithms[call.algorithm];
  const std::size_t element_bytes = bench::bytes_of(options_.request.datatype);
  const std::size_t most_bytes =
      most_data_bytes / static_cast<std::size_t>(options_.machine.ranks) / element_bytes * element_bytes;
  const bool fits = size_bytes <= most_bytes;
  if (call.iteration == 0 && !fits) simulate(algorithm, most_bytes, call, true);
  const std::vector<std::int64_t> exits = simulate(algorithm, size_bytes, call, call.iteration == 0 && fits);

  std::vector<bench::Passage> passages;
  for (std::size_t rank = 0; rank < exits.size(); ++rank) {
    const std::int64_t arrival = call.delays_ns[rank];
    passages.push_back({arrival, arrival + (exits[rank] - arrival) / options_.in_a_row, 0});
  }
  writer_.write_call(size_bytes, call, std::string(algorithm.name), passages);
}

std::vector<std::int64_t> Model::simulate(const Algorithm& algorithm, std::size_t size_bytes, const bench::Call& call,
                                          bool with_data) const {
  const bench::Options& request = options_.request;
  sim::Options machine = options_.machine;
  machine.arrivals_ns = call.delays_ns;
  if (pattern_.noise_hz() > 0) machine.detours = {1e9 / pattern_.noise_hz(), static_cast<double>(pattern_.noise_ns())};
  machine.seed = bench::random_bits(request.seed, static_cast<std::uint64_t>(call.iteration), size_bytes);
  machine.shared_memory = algorithm.needs.memory != Memory::none;
  const std::size_t in_pool = algorithm.messages_in_pool(machine.ranks) * size_bytes;
  machine.pool_bytes = std::clamp(std::bit_ceil(2 * in_pool), smallest_pool_bytes, largest_pool_bytes);
  machine.move_data = with_data;

  bench::CaseData data(request, machine.ranks, size_bytes);
  if (with_data) data.begin(machine.seed, call.root, bench::Values::exact);
  Buffers buffers(request, with_data ? &data : nullptr, machine.ranks, size_bytes);
  const Reduction reduction = reduction_of(request, with_data);
  const std::optional<ArrivalOrder> order = predict(call.delays_ns, machine.seed);
  std::vector<Caller> callers(call.delays_ns.size());
  const auto arguments = [&](const Group& g) {
    stretto::Call mine = call_of_rank(request, buffers, size_bytes, call.root, g.rank());
    mine.reduction = &reduction;
    mine.order = order ? &*order : nullptr;
    return mine;
  };
  const bool ahead = algorithm.begins_ahead;
  const auto begin = [&](Group& g) {
    stretto::Call mine = arguments(g);
    if (ahead) mine.ahead = &callers[static_cast<std::size_t>(g.rank())];
    return run_in_a_row(g, algorithm, mine, options_.in_a_row);
  };
  const auto arrive = [&](Group& g) {
    const stretto::Call mine = arguments(g);
    callers[static_cast<std::size_t>(g.rank())].arrive(g.endpoint().platform, mine.input, mine.output);
  };
  sim::World world(machine);
  std::vector<std::int64_t> exits = world.run(begin, ahead ? sim::World::Arrive(arrive) : nullptr);

  for (int rank = 0; with_data && rank < machine.ranks; ++rank) {
    if (const auto error = data.find_error(buffers.result(rank), data.expected_by(rank)))
      throw std::runtime_error(std::string(name_of(request.collective)) + ", " + std::string(algorithm.name) + ", " +
                               std::to_string(size_bytes) + " bytes, rank " + std::to_string(rank) + ": " + *error);
  }
  return exits;
}

std::optional<ArrivalOrder> Model::predict(const std::vector<std::int64_t>& arrivals_ns, std::uint64_t seed) const {
  if (options_.prediction == Prediction::none) return std::nullopt;
  std::vector<std::int64_t> believed = arrivals_ns;
  const auto latest = static_cast<std::uint64_t>(*std::max_element(arrivals_ns.begin(), arrivals_ns.end()));
  for (std::size_t rank = 0; rank < believed.size(); ++rank) {
    if (options_.prediction == Prediction::reversed) believed[rank] = -arrivals_ns[rank];
    if (options_.prediction == Prediction::random)
      believed[rank] = static_cast<std::int64_t>(bench::random_bits(seed, rank, 0) % (latest + 1));
  }
  return ArrivalOrder(believed);
}

std::int64_t Model::latency_ns(std::size_t size_bytes) const {
  const sim::Options& machine = options_.machine;
  const sim::Link& link = options_.one_node() ? machine.intra : machine.inter;
  return link.latency_ns() + link.wire_ns(size_bytes);
}

}  // namespace stretto::model
