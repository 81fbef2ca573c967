#include "mpi/engine/anticipation.hpp"

#include <algorithm>
#include <chrono>

#include "mpi/profile/clock_sync.hpp"

namespace stretto::mpi {
namespace {

constexpr int kLearnAfter = History::kWindow / 2;  // calls: long enough for the exchange to have ended by itself
constexpr std::uint64_t kForgetAfter = std::uint64_t{4} * History::kWindow;  // calls
constexpr std::uint64_t kFirstStream = kStreamsOfCall;                       // beyond those of calls beside
constexpr std::uint64_t kStreams = kStreamsOfCall / 2;                       // of calls, each expected or not
constexpr std::uint32_t kTellingStream = 2 * kStreamsOfCall + kStreamsOfAlgorithm;
constexpr unsigned kMostDoublings = 12;
constexpr std::size_t kMostAheadBytes = std::size_t{256} << 20;  // of all blocks: what comes early needs memory
constexpr std::chrono::milliseconds kHintPatience{1};            // longer than the background looks

}  // namespace

Anticipation::Anticipation(MPI_Comm comm, const Channel& channel, Endpoint& endpoint, Hints& hints, Anticipated& tally,
                           bool ahead)
    : comm_(comm), channel_(channel), endpoint_(endpoint), hints_(hints), tally_(tally), ahead_allowed_(ahead) {
  clock_offset_ns_ = compare_clocks(channel, endpoint.nodes).offset_ns;
  for (HintExchange& exchange : hint_exchanges_) exchange.all.resize(static_cast<std::size_t>(endpoint.size));
}

Anticipation::~Anticipation() { close(); }

void Anticipation::close() {
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  closed_ = true;
  give_up();
  // Some have told the others for a call that does not come: so do the rest, that it may end.
  if (hinted_ && !told_) tell_others(common_clock_ns());
  for (HintExchange& exchange : hint_exchanges_) finish(exchange);
  for (const auto& site : sites_) PMPI_Wait(&site->exchange, MPI_STATUS_IGNORE);
  update_work();
}

// The background, between two looks, yields.
std::unique_lock<std::timed_mutex> Anticipation::lock_for_program() {
  arriving_.store(true, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  arriving_.store(false, std::memory_order_relaxed);
  return lock;
}

void Anticipation::run_beside(const Algorithm& algorithm, const Call& call) {
  const auto lock = lock_for_program();
  Group group(endpoint_);
  Task task = run_algorithm(group, algorithm, call);
  endpoint_.executor.drive(task, endpoint_.transport);
  if (!task.done()) task.forsake();
  update_work();
}

void Anticipation::run(const Signature& signature, const Algorithm& algorithm, const Call& call) {
  const std::int64_t arrival_ns = common_clock_ns();
  const auto lock = lock_for_program();
  bool fresh = false;
  const std::size_t number = recurrence_.note(signature, fresh);
  if (number == sites_.size()) sites_.push_back(std::make_unique<Site>(endpoint_.size));
  if (fresh) {
    PMPI_Wait(&sites_[number]->exchange, MPI_STATUS_IGNORE);
    sites_[number] = std::make_unique<Site>(endpoint_.size);
  }
  Site& site = *sites_[number];
  if (hinted_ && !told_) tell_others(arrival_ns);
  site.mine[static_cast<std::size_t>(site.calls % History::kWindow)] = arrival_ns;

  if (ahead_ && is_expected(number, algorithm)) {
    ahead_->caller.arrive(endpoint_.platform, call.input, call.output);
    endpoint_.executor.finish(*ahead_->task, endpoint_.transport);
    if (!ahead_->task->done()) return;
    ahead_.reset();
  } else {
    if (!is_expected(number, algorithm)) give_up();
    Group group(endpoint_, algorithm.needs_prediction() ? stream(is_expected(number, algorithm)) : 0);
    Call mine = call;
    if (!may_begin(site, algorithm, call.root)) {
      finish(hint_exchange());  // nothing else of ours is under way
      hinted_order_.emplace(hint_exchange().all);
    }
    mine.order = order_for(site, algorithm);
    Task task = run_algorithm(group, algorithm, mine);
    endpoint_.executor.drive(task, endpoint_.transport);
    if (!task.done()) return task.forsake();
  }

  if (expected_) misses_ = is_expected(number, algorithm) ? 0 : misses_ + 1;
  if (misses_ > 0 && expected_) no_ahead_before_ = calls_ + (std::uint64_t{1} << std::min(misses_, kMostDoublings));
  ++calls_;
  site.algorithm = &algorithm;
  if (algorithm.order_use != OrderUse::none) {
    site.sorted = true;
    latest_sorted_ = calls_;
  }
  note_arrival(site);
  expect_next();
  begin_ahead();
  update_work();
}

// What is begun for the next call must not meet the messages of the call that comes in its stead.
std::uint32_t Anticipation::stream(bool expected) const {
  return static_cast<std::uint32_t>(kFirstStream + 2 * (calls_ % kStreams) + (expected ? 1 : 0));
}

bool Anticipation::is_expected(std::size_t number, const Algorithm& algorithm) const {
  return expected_ && *expected_ == number && sites_[number]->algorithm == &algorithm;
}

// Which call all ranks may begin ahead.
void Anticipation::expect_next() {
  expected_ = recurrence_.next();
  if (!expected_) return;
  expected_algorithm_ = sites_[*expected_]->algorithm;
  const bool ahead = expected_algorithm_ != nullptr && expected_algorithm_->begins_ahead;
  if (!ahead || !ahead_allowed_ || calls_ < no_ahead_before_) expected_.reset();
}

// Hints go before history. Those of all ranks have to be in, unless a root that alone acts on them has a prediction.
bool Anticipation::may_begin(const Site& site, const Algorithm& algorithm, int root) {
  if (algorithm.order_use == OrderUse::none || !hinted_ || others_have_told()) return true;
  if (algorithm.order_use == OrderUse::everywhere) return false;
  return endpoint_.rank != root || site.history.prediction() != nullptr;
}

// Once it may begin. The same on all ranks where all act on it: nothing of it changes between two calls then.
const ArrivalOrder* Anticipation::order_for(const Site& site, const Algorithm& algorithm) {
  if (algorithm.order_use == OrderUse::none) return nullptr;
  if (hinted_ && others_have_told()) {
    ++tally_.by_hints;
    return &*hinted_order_;
  }
  if (site.history.prediction() != nullptr) ++tally_.by_history;
  return site.history.prediction();
}

// After the call: all ranks exchange what they noted every so many calls, if it is of use, and learn a few calls later.
void Anticipation::note_arrival(Site& site) {
  bool all_give_hints = hinted_;
  const int in_window = ++site.calls % History::kWindow;
  if (site.exchanging && in_window == kLearnAfter) {
    learn(site);
    site.exchanging = false;
    all_give_hints = true;
    constexpr std::size_t kRow = History::kWindow + 1;
    for (std::size_t i = kRow - 1; i < site.all.size(); i += kRow) all_give_hints = all_give_hints && site.all[i] != 0;
  }
  if (calls_ - latest_sorted_ > kForgetAfter) all_give_hints = false;  // nobody would act on them
  if (in_window == 0 && site.sorted) {
    site.sorted = false;
    site.exchanging = true;
    site.mine.back() = hints_.marks() > site.marks ? 1 : 0;
    site.marks = hints_.marks();
    site.all.resize(static_cast<std::size_t>(endpoint_.size) * site.mine.size());
    site.sent = site.mine;
    PMPI_Iallgather(site.sent.data(), History::kWindow + 1, MPI_INT64_T, site.all.data(), History::kWindow + 1,
                    MPI_INT64_T, comm_, &site.exchange);
  }
  hinted_order_.reset();
  told_ = false;
  hinted_ = all_give_hints;
}

void Anticipation::learn(Site& site) {
  PMPI_Wait(&site.exchange, MPI_STATUS_IGNORE);
  std::vector<std::int64_t> arrivals;
  arrivals.reserve(site.all.size());
  for (std::size_t i = 0; i < site.all.size(); ++i) {
    if (i % (History::kWindow + 1) != History::kWindow) arrivals.push_back(site.all[i]);
  }
  site.history.learn(arrivals);
}

void Anticipation::tell_others(std::int64_t expected_ns) {
  HintExchange& now = hint_exchange();
  finish(now);  // of an earlier call that this rank could do without
  told_ = true;
  now.mine = expected_ns;
  static const Algorithm* const allgather = find_algorithm(Collective::allgather, "bruck");
  Call call;
  call.input = reinterpret_cast<const std::byte*>(&now.mine);
  call.output = reinterpret_cast<std::byte*>(now.all.data());
  call.count = sizeof now.mine;
  const auto number = static_cast<std::uint32_t>(&now - hint_exchanges_.data());
  now.group.emplace(endpoint_, kTellingStream + number * kStreamsOfAlgorithm);
  now.task.emplace(run_algorithm(*now.group, *allgather, call));
  now.task->start();
}

void Anticipation::finish(HintExchange& exchange) {
  if (exchange.task) endpoint_.executor.finish(*exchange.task, endpoint_.transport);
}

bool Anticipation::others_have_told() {
  if (hinted_order_ || !told_) return hinted_order_.has_value();
  if (hint_exchange().under_way()) endpoint_.executor.poll(endpoint_.transport);
  if (!hint_exchange().under_way()) hinted_order_.emplace(hint_exchange().all);
  return hinted_order_.has_value();
}

void Anticipation::hint() {
  const std::unique_lock lock(mutex_, kHintPatience);
  if (!lock || closed_) return;
  const auto expected_ns = hints_.expected_end_ns();
  // A mark waits for nobody: where others are so far behind, this rank tells when it arrives.
  if (hinted_ && !told_ && expected_ns && !hint_exchange().under_way()) tell_others(*expected_ns - clock_offset_ns_);
  update_work();
}

void Anticipation::expect(Collective collective, const Algorithm* algorithm) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  for (std::size_t number = 0; number < sites_.size(); ++number) {
    if (recurrence_.signature(number).collective == static_cast<int>(collective)) sites_[number]->algorithm = algorithm;
  }
  if (expected_ && expected_algorithm_ != sites_[*expected_]->algorithm) give_up();
  expect_next();
  begin_ahead();
  update_work();
}

bool Anticipation::poll() {
  if (arriving_.load(std::memory_order_relaxed)) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || closed_) return false;
  const bool had_begun = ahead_ != nullptr;
  others_have_told();  // or nobody drives the messages by which they do
  if (!had_begun) begin_ahead();
  const bool any = endpoint_.executor.poll(endpoint_.transport);
  update_work();
  return any || had_begun != (ahead_ != nullptr);
}

void Anticipation::begin_ahead() {
  if (ahead_ || !expected_) return;
  const Site& site = *sites_[*expected_];
  const Signature& signature = recurrence_.signature(*expected_);
  if (signature.bytes * static_cast<std::size_t>(endpoint_.size) > kMostAheadBytes) return;
  if (!may_begin(site, *site.algorithm, signature.root)) return;
  ahead_.reset(new Ahead{site.algorithm, {}, Group(endpoint_, stream(true)), {}});
  Call call;
  call.count = signature.bytes;
  call.root = signature.root;
  call.order = order_for(site, *site.algorithm);
  call.ahead = &ahead_->caller;
  ahead_->task.emplace(run_algorithm(ahead_->group, *site.algorithm, call));
  endpoint_.transport.begin_abandonable(stream(true));
  ahead_->task->start();
  ++tally_.begun;
}

// The expected call does not come; collective. Its receives end, and the messages without data that some have sent for
// it already, such as a root's questions, are taken by those who were meant to have them.
void Anticipation::give_up() {
  if (!expected_) return;
  std::vector<int> sent(static_cast<std::size_t>(endpoint_.size));
  if (ahead_) {
    endpoint_.executor.poll(endpoint_.transport);  // so that nothing of it is about to be resumed
    sent = endpoint_.transport.abandon(stream(true), endpoint_.size);
    endpoint_.executor.forget_waits();
    ahead_.reset();
    ++tally_.given_up;
  }
  std::vector<int> coming(sent.size());
  PMPI_Alltoall(sent.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, comm_);
  for (int rank = 0; rank < endpoint_.size; ++rank) {
    for (int left = coming[static_cast<std::size_t>(rank)]; left > 0; --left)
      channel_.receive(nullptr, 0, rank, stream(true));
  }
}

// What has begun and has no messages under way waits for the program alone.
void Anticipation::update_work() {
  const bool under_way = (ahead_ && endpoint_.transport.busy()) || (told_ && !hinted_order_);
  has_work_.store(!closed_ && under_way, std::memory_order_release);
}

}  // namespace stretto::mpi
