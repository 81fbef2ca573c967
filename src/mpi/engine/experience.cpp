#include "mpi/engine/experience.hpp"

#include <bit>
#include <utility>

#include "core/clock.hpp"
#include "select/forecast.hpp"
#include "select/node_rule.hpp"

namespace stretto::mpi {

static_assert(Adaptation::kMostMeasured <= Sights::kMostCalls);

class Experience::Kind {
 public:
  using Arm = Adaptation::Arm;
  Kind(const Means& means, std::unique_ptr<SightExchange> exchange, const Adaptation& adaptation, Adapted& adapted,
       std::size_t length, Front* front);

  Front& front() { return front_; }
  void begin();
  void end();
  /// See SightExchange.
  void finish() {
    catch_up();
    exchange_->finish();
  }
  Adaptation::Learnt learnt() const { return adaptation_.learnt(); }

 private:
  void look_ahead() {
    front_.verdict_ = {adaptation_.arm(), adaptation_.arrivals(), static_cast<std::int8_t>(adaptation_.candidate())};
    front_.quiet_ = adaptation_.quiet();
  }
  // From when on times are told: without a clock in common, all left the latest meeting together. A call that is one
  // itself has been left by then.
  std::int64_t begin_ns() const { return means_.meetings.left_ns; }
  void count(int calls);
  void catch_up();
  bool all_have_told() const;
  void tell();
  void learn();

  const Means& means_;
  Adapted& adapted_;
  Tally& tally_;
  Front own_front_;
  Front& front_;
  std::unique_ptr<SightExchange> exchange_;
  Adaptation adaptation_;
  std::int64_t arrival_ns_ = 0;
  std::vector<Sight> mine_;       // of the measured calls since the latest telling
  int unlearnt_ = 0;              // calls since the latest lesson
  std::uint64_t meetings_ = 0;    // when this rank told
  std::uint64_t board_call_ = 0;  // the same
};

Experience::Experience(const Means& means, Lessons& lessons) : means_(means), lessons_(lessons) {}
Experience::~Experience() = default;

Experience::Front& Experience::of(Collective collective, std::size_t bytes, Adaptation::Mode mode, Front& beside,
                                  Forecast* forecast) {
  const auto length = static_cast<std::size_t>(std::bit_width(bytes));
  auto& kind = kinds_[static_cast<std::size_t>(collective)][length];
  if (!kind) kind = make(collective, bytes, mode, beside, forecast);
  return kind->front();
}

std::unique_ptr<Experience::Kind> Experience::make(Collective collective, std::size_t bytes, Adaptation::Mode mode,
                                                   Front& beside, Forecast* forecast) {
  const auto length = static_cast<std::size_t>(std::bit_width(bytes));
  const bool meets = meets_all(collective, bytes);
  const int may_leave = meets ? 0 : means_.ranks;
  const bool listens = mode == Adaptation::Mode::listens;
  Adapted& adapted = lessons_.of(collective);
  const auto adaptation = [&](int learn_after) {
    Adaptation made(learn_after, meets, mode);
    if (forecast != nullptr) {
      made.choose_among(forecast->places(collective, bytes), forecast->goes_by_arrivals(collective));
    } else {
      made.choose_among(node_candidates(collective, bytes, means_.ranks), false);
    }
    if (listens && forecast != nullptr) made.expect_native(forecast->native_ns(collective, bytes));
    if (const auto* earlier = lessons_.earlier(kind_of(collective, length))) made.recall(*earlier);
    return made;
  };
  const std::size_t number = made_++;
  Front* const front = beside.is_taken() ? nullptr : &beside;
  if (means_.sights != nullptr && number < Sights::kKinds) {
    auto exchange = std::make_unique<NodeSightExchange>(*means_.sights, number, may_leave);
    return std::make_unique<Kind>(means_, std::move(exchange), adaptation(Adaptation::kInMemory), adapted, length,
                                  front);
  }
  auto exchange =
      std::make_unique<MessageSightExchange>(means_.comm, lessons_.reduction(), means_.one_clock, may_leave);
  return std::make_unique<Kind>(means_, std::move(exchange), adaptation(Adaptation::kByMessages), adapted, length,
                                front);
}

void Experience::close() {
  for (const Collective collective : kCollectives) {
    for (std::size_t length = 0; length < kLengths; ++length) {
      const auto& kind = kinds_[static_cast<std::size_t>(collective)][length];
      if (!kind) continue;
      kind->finish();
      lessons_.keep(kind_of(collective, length), kind->learnt());
    }
  }
}

void Experience::Front::look() { kind_->begin(); }
void Experience::Front::end() { kind_->end(); }

Experience::Kind::Kind(const Means& means, std::unique_ptr<SightExchange> exchange, const Adaptation& adaptation,
                       Adapted& adapted, std::size_t length, Front* front)
    : means_(means),
      adapted_(adapted),
      tally_(adapted.of_length(length)),
      front_(front == nullptr ? own_front_ : *front),
      exchange_(std::move(exchange)),
      adaptation_(adaptation) {
  front_.kind_ = this;
  look_ahead();
}

// So many calls, of the arm that serves now.
void Experience::Kind::count(int calls) {
  tally_.calls.fetch_add(calls, std::memory_order_relaxed);
  if (adaptation_.arm() == Arm::ours) tally_.ours.fetch_add(calls, std::memory_order_relaxed);
  unlearnt_ += calls;
}

// Calls that have passed quietly count now.
void Experience::Kind::catch_up() {
  const int passed = std::exchange(front_.passed_quietly_, 0);
  if (passed == 0) return;
  count(passed);
  adaptation_.skip(passed);
}

void Experience::Kind::begin() {
  catch_up();
  if (adaptation_.is_measured()) arrival_ns_ = monotonic_ns();
}

// Through the board nobody is further ahead of others than its ring is long.
bool Experience::Kind::all_have_told() const {
  const Board* const board = means_.board;
  return means_.meetings.count > meetings_ ||
         (board != nullptr && board->call() > board_call_ + Board::kGenerations + 1);
}

void Experience::Kind::end() {
  if (adaptation_.is_measured()) mine_.push_back({arrival_ns_ - begin_ns(), monotonic_ns() - begin_ns()});
  count(1);
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
  meetings_ = means_.meetings.count;
  board_call_ = means_.board != nullptr ? means_.board->call() : 0;
}

void Experience::Kind::learn() {
  const Heard heard = exchange_->hear();
  const Adaptation::Savings before = adaptation_.savings();
  adaptation_.learn(heard.calls, heard.cost_ns);
  adapted_.add(tally_, before, adaptation_.savings());
  const auto arrivals = static_cast<std::size_t>(adaptation_.arrivals());
  tally_.arrivals[arrivals].fetch_add(std::exchange(unlearnt_, 0), std::memory_order_relaxed);
}

}  // namespace stretto::mpi
