// Adaptation: which of two arms serves calls of a kind, the MPI library's own or Stretto's, by what both have taken.
//
// A conservative bandit (Wu, Shariff, Lattimore, Szepesvari: Conservative Bandits, ICML 2016): native is the arm that
// the promise is measured by. Stretto's is played where it is taken to be cheaper, and only as long as all calls
// together, were it as dear as the confidence interval allows, cost at most 1 + kBehind of what native would have.
// What is not counted are the calls that learn what both cost, the first time that ranks arrive in such a way.
//
// The first calls of all are Stretto's, as the rule has it, so that a program of few calls does not pay for a lesson.
// The lesson comes within the first hundred.
//
// Calls go in cycles. In a cycle they rest on one arm, some of them measured; then may come a trial, pairs of blocks
// with either arm, so that what drifts in the program cancels. Then the ranks exchange what they have seen of the
// measured calls, and learn of it a few calls later, when it has long arrived. While nothing changes trials are seldom
// and rests grow longer, until what exchanges take is kOverhead of what the calls do.
//
// How the arms compare depends on how ranks arrive, so what is known is kept by arrival class.
//
// A function of what it is told, in IEEE arithmetic: ranks that are told the same choose the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stretto {

/// What the ranks have seen of a call, together.
struct SeenCall {
  std::int64_t skew_ns = 0;  // from the first arrival to the last
  std::int64_t cost_ns = 0;  // from the last arrival to the last exit
};

/// How far apart ranks arrive, measured by what a native call takes: the MIF of Alizadeh 2021, 7.2.6.
enum class ArrivalClass : std::uint8_t { balanced, uneven, far_apart };

class Adaptation {
 public:
  enum class Arm : std::uint8_t { native, ours };

  static constexpr double kBehind = 0.01;     // of native's total
  static constexpr double kOverhead = 0.005;  // the same
  static constexpr int kBlock = 8;            // calls
  static constexpr int kFirstPairs = 5;       // of blocks, where ranks arrive as they have not before
  static constexpr int kEarliestPairs = 4;    // the same in the first cycle
  static constexpr int kSoon = 16;            // calls, from the exchange to the lesson
  static constexpr int kLate = 64;            // the same, where ranks may be so far ahead of others (board/board.hpp)
  static constexpr int kFirstRest = 32;       // calls
  static constexpr int kLongestRest = 1024;   // calls
  static constexpr int kTrialEvery = 512;     // calls, where nothing changes
  static constexpr int kLooks = 16;           // measured calls of a rest
  static constexpr std::size_t kMostMeasured = 2 * kBlock * kFirstPairs + kLooks;  // calls of a cycle

  explicit Adaptation(int learn_after = kSoon) : learn_after_(learn_after) { begin_cycle(kFirstRest, kEarliestPairs); }

  /// Of the present call.
  Arm arm() const { return arm_; }
  bool is_measured() const { return measured_; }

  enum class Due : std::uint8_t {
    nothing,
    exchange,  // of what was measured since the latest lesson
    lesson     // learn()
  };
  /// The present call is over.
  Due pass();
  /// What the exchange has brought, of all measured calls of the cycle, in order; and what an exchange takes a rank.
  void learn(std::span<const SeenCall> seen, std::int64_t exchange_ns);

  /// Calls of Stretto's arm, and by how much all of these are taken to have cost less than native.
  std::int64_t ours() const { return ours_; }
  double saved_ns() const { return -owed_ns_; }

 private:
  // The mean costs of two blocks that followed each other, in ns.
  struct Pair {
    double native = 0;
    double ours = 0;
  };
  // What our arm costs in terms of native's, and at most costs.
  struct Ratio {
    double value;
    double high;
  };
  // Of one arrival class.
  struct Knowledge {
    static constexpr std::size_t kMostPairs = 16;
    std::array<Pair, kMostPairs> pairs{};  // the latest
    std::size_t count = 0;                 // seen of them
    double native_ns = 0;                  // of a call
    double rest_ns[2] = {0, 0};            // of a call at rest, by arm; 0: none yet
    bool tried = false;                    // a trial that is not counted has begun
    void add(Pair pair);
    bool trusted() const { return count >= 4; }
    Ratio ratio() const;
  };

  void begin_cycle(int rest, int pairs);
  void place();
  static Arm arm_of_trial(int call);
  static void note_trial(std::span<const SeenCall> trial, Knowledge& knowledge);
  bool note_rest(double cost_ns, Knowledge& knowledge) const;
  void charge(const Knowledge& trial, double native_ns, double rest_cost);
  // With a third of what is promised: what is known of both arms are estimates.
  double budget_ns() const { return kBehind / 3 * native_total_ns_ - owed_ns_; }
  void plan(Knowledge& knowledge, bool changed);

  const int learn_after_;
  // Of the cycle, in calls.
  int rest_ = 0;
  int trial_ = 0;
  int position_ = 0;
  int since_trial_ = 0;  // the same, of cycles before
  int longest_rest_ = kFirstRest;
  bool free_ = true;  // not counted
  Arm resting_ = Arm::ours;
  // Of the present call.
  Arm arm_ = Arm::native;
  bool measured_ = false;

  std::array<Knowledge, 3> known_{};  // by arrival class
  ArrivalClass class_ = ArrivalClass::balanced;
  std::int64_t ours_ = 0;
  double native_total_ns_ = 0;  // that all counted calls would have taken natively
  double owed_ns_ = 0;          // by which they have cost more
};

}  // namespace stretto
