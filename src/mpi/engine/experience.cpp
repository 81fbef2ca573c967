#include "mpi/engine/experience.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <utility>

#include "core/clock.hpp"

namespace stretto::mpi {
namespace {

static_assert(Adaptation::kMostMeasured <= Sights::kMostCalls);
constexpr int kSoon = 1;    // calls, from a telling to the lesson
constexpr int kLater = 16;  // the same, by messages: these have long arrived then

}  // namespace

void Adapted::add(const Adaptation::Savings& before, const Adaptation::Savings& now) {
  const auto count = [](std::atomic<std::int64_t>& sum, double more) {
    return sum.fetch_add(static_cast<std::int64_t>(more), std::memory_order_relaxed) + static_cast<std::int64_t>(more);
  };
  const auto native = count(native_ns, now.native_ns - before.native_ns);
  const auto saved = count(saved_ns, now.saved_ns - before.saved_ns);
  count(unsure_ns, now.unsure_ns - before.unsure_ns);
  const double behind = 1e6 * -static_cast<double>(saved) / std::max(static_cast<double>(native), 1.0);
  most_behind_ppm = std::max(most_behind_ppm.load(), static_cast<std::int64_t>(behind));
}

void Adapted::report(Collective collective) const {
  if (native_ns == 0) return;
  const auto seconds = [](std::int64_t ns) { return 1e-9 * static_cast<double>(ns); };
  std::fprintf(stderr,
               "stretto: %s: %.3g s of %.3g s saved (+-%.2g) by Stretto's algorithms in %lld of %lld calls; at no time "
               "more than %.1f %% behind the MPI library's own\n",
               std::string(name_of(collective)).c_str(), seconds(saved_ns), seconds(native_ns), seconds(unsure_ns),
               static_cast<long long>(ours), static_cast<long long>(calls),
               1e-4 * static_cast<double>(most_behind_ppm));
}

class Experience::Kind {
 public:
  using Arm = Adaptation::Arm;
  /// `meets_all`: no rank leaves a call before all have come.
  Kind(const Means& means, std::unique_ptr<SightExchange> exchange, int learn_after, bool meets_all, Adapted& tally,
       Front* front);

  Front& front() { return front_; }
  void begin();
  void end();
  /// See SightExchange.
  void finish() {
    catch_up();
    exchange_->finish();
  }

 private:
  void look_ahead() {
    front_.arm_ = adaptation_.arm();
    front_.quiet_ = adaptation_.quiet();
  }
  void catch_up();
  bool all_have_told() const;
  void tell();
  void learn();

  const Means& means_;
  Adapted& tally_;
  Front own_front_;
  Front& front_;
  std::unique_ptr<SightExchange> exchange_;
  Adaptation adaptation_;
  const bool meets_all_;
  std::int64_t arrival_ns_ = 0;
  std::vector<Sight> mine_;       // of the measured calls since the latest telling
  std::uint64_t meetings_ = 0;    // when this rank told
  std::uint64_t board_call_ = 0;  // the same
};

Experience::Experience(const Means& means, AdaptedCalls& tallies) : means_(means), tallies_(tallies) {}
Experience::~Experience() = default;

Experience::Front& Experience::of(Collective collective, std::size_t bytes, Front& beside) {
  auto& kind = kinds_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(std::bit_width(bytes))];
  if (!kind) kind = make(collective, meets_all(collective, bytes), beside);
  return kind->front();
}

std::unique_ptr<Experience::Kind> Experience::make(Collective collective, bool meets_all, Front& beside) {
  Adapted& tally = tallies_[static_cast<std::size_t>(collective)];
  const std::size_t number = made_++;
  Front* const front = beside.is_taken() ? nullptr : &beside;
  if (means_.sights != nullptr && number < Sights::kKinds) {
    auto exchange = std::make_unique<NodeSightExchange>(*means_.sights, number);
    return std::make_unique<Kind>(means_, std::move(exchange), kSoon, meets_all, tally, front);
  }
  auto exchange =
      std::make_unique<MessageSightExchange>(means_.comm, means_.reduction, means_.one_clock, means_.clock_offset_ns);
  return std::make_unique<Kind>(means_, std::move(exchange), kLater, meets_all, tally, front);
}

void Experience::close() {
  for (auto& sizes : kinds_) {
    for (auto& kind : sizes) {
      if (kind) kind->finish();
    }
  }
}

void Experience::Front::look() { kind_->begin(); }
void Experience::Front::end() { kind_->end(); }

Experience::Kind::Kind(const Means& means, std::unique_ptr<SightExchange> exchange, int learn_after, bool meets_all,
                       Adapted& tally, Front* front)
    : means_(means),
      tally_(tally),
      front_(front == nullptr ? own_front_ : *front),
      exchange_(std::move(exchange)),
      adaptation_(learn_after, meets_all),
      meets_all_(meets_all) {
  front_.kind_ = this;
  look_ahead();
}

// Calls that have passed quietly count now.
void Experience::Kind::catch_up() {
  const int passed = std::exchange(front_.passed_quietly_, 0);
  if (passed == 0) return;
  tally_.calls.fetch_add(passed, std::memory_order_relaxed);
  if (adaptation_.arm() == Arm::ours) tally_.ours.fetch_add(passed, std::memory_order_relaxed);
  adaptation_.skip(passed);
}

void Experience::Kind::begin() {
  catch_up();
  if (adaptation_.is_measured()) arrival_ns_ = monotonic_ns();
}

// Through the board nobody is further ahead of others than its ring is long.
bool Experience::Kind::all_have_told() const {
  const Board* const board = means_.board;
  return means_.meetings > meetings_ || (board != nullptr && board->call() > board_call_ + Board::kGenerations + 1);
}

void Experience::Kind::end() {
  if (adaptation_.is_measured()) mine_.push_back({arrival_ns_, monotonic_ns()});
  const bool ours = adaptation_.arm() == Arm::ours;
  tally_.calls.fetch_add(1, std::memory_order_relaxed);
  if (ours) tally_.ours.fetch_add(1, std::memory_order_relaxed);
  if (meets_all_ && !ours) ++means_.meetings;
  switch (adaptation_.pass(all_have_told())) {
    case Adaptation::Due::nothing:
      break;
    case Adaptation::Due::exchange:
      tell();
      break;
    case Adaptation::Due::lesson:
      learn();
      break;
  }
  look_ahead();
}

void Experience::Kind::tell() {
  exchange_->tell(mine_);
  mine_.clear();
  meetings_ = means_.meetings;
  board_call_ = means_.board != nullptr ? means_.board->call() : 0;
}

void Experience::Kind::learn() {
  const Heard heard = exchange_->hear();
  const Adaptation::Savings before = adaptation_.savings();
  adaptation_.learn(heard.calls, heard.cost_ns);
  tally_.add(before, adaptation_.savings());
}

}  // namespace stretto::mpi
