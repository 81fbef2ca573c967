// One call of a collective on its way through Stretto.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/calls/known_calls.hpp"
#include "mpi/calls/native_segments.hpp"
#include "mpi/calls/prepared_call.hpp"
#include "mpi/engine/runtime.hpp"
#include "mpi/entry/native.hpp"
#include "mpi/profile/observation.hpp"

namespace stretto::mpi {

/// Where a collective was called from, and what it moves. Refers to the caller's stack.
struct CallSite {
  Caller caller;
  Description describe;
};

/// A blocking call: selected, run or passed on, observed, counted.
class Interception {
 public:
  using Origin = CallSite;
  Interception(const PlainCall& call, const CallSite& site);
  ~Interception();
  Interception(const Interception&) = delete;
  Interception& operator=(const Interception&) = delete;

  /// What the call returns, where it is known what serves such calls.
  static std::optional<int> serve_if_known(const NativeCall& native, const PlainCall& call, const Operands& operands) {
    return KnownCalls::serve(native, call, operands);
  }

  /// Runs the call, or leaves it to the MPI library; the same on all ranks. `prepare(prepared)` fills what is made of
  /// `arguments`; false for what Stretto cannot serve.
  template <class Prepared, class Prepare, class... Arguments>
  int serve(const NativeCall& native, const Prepare& prepare, Arguments... arguments) {
    if (!is_candidate()) return leave(native);
    Prepared prepared(arguments...);
    const bool fits = prepare(prepared);
    if (runtime_.configuration().check) [[unlikely]] {
      if (const int error = check(fits ? &prepared : nullptr); error != MPI_SUCCESS) return error;
    }
    if (fits && select(prepared)) return run(prepared);
    return pass_on(native, fits ? &prepared : nullptr);
  }
  /// Whether the user wants the MPI library's own in segments (`native+4`).
  bool is_native_in_segments() const { return native_segments() != nullptr; }
  /// Then, by `start`, see run_native_segments. Seldom: not to be in the way of other calls.
  template <class Prepared, class Prepare, class Start>
  [[gnu::noinline]] int run_segments(const NativeCall& native, const Prepare& prepare, const Start& start) {
    const Pipelining pipelining = native_segments()->pipelining;
    Prepared prepared;
    if (!eligible() || !prepare(prepared) || !segments_fit(pipelining, prepared.outline())) return native();
    algorithm_ = native_segments();
    const int result = run_native_segments(pipelining, prepared.begin(), start);
    prepared.end();
    return result;
  }

  bool root_is_valid(int root) const { return eligible() && root >= 0 && root < communicator_->size; }
  bool is_rank(int rank) const { return eligible() && communicator_->rank == rank; }
  int rank() const { return eligible() ? communicator_->rank : 0; }
  int size() const { return eligible() ? communicator_->size : 0; }

 private:
  /// Whether any call of this collective on this communicator may be ours.
  bool is_candidate() const { return may_be_ours_ && eligible(); }
  /// Chooses the algorithm by what all ranks know alike of the call, and sets up what it needs; false if the call is to
  /// be passed on. The same on all ranks.
  bool select(const PreparedCall& prepared);
  [[gnu::noinline]] bool select_anew(const CallOutline& call);

  int run(PreparedCall& prepared) {
    Engine& engine = *communicator_->engine;
    observation_.arrived(engine.run(*algorithm_, prepared.begin()));
    prepared.end();
    return engine.is_faultless() ? MPI_SUCCESS : report(engine);
  }
  /// No such call can be ours.
  int leave(const NativeCall& native);
  /// `prepared` is null where Stretto cannot serve what the program gave.
  int pass_on(const NativeCall& native, const PreparedCall* prepared);
  /// The MPI library's own call itself; an engine, if there is one, notes whether all have met in it.
  int pass_to(const NativeCall& native, const PreparedCall* prepared);
  /// Tells the others of the node which call this is. `unsure`: its arguments may be wrong.
  void enter(Engine& engine, const CallOutline& call, bool unsure = false);
  /// Under STRETTO_CHECK: compares the call with those of all other ranks.
  [[gnu::cold]] int check(const PreparedCall* prepared);
  /// Raises the error of a call that was wrong.
  [[gnu::cold]] int report(Engine& engine);

  const Algorithm* native_segments() const {
    const Choice& choice = runtime_.configuration().choice(collective_);
    return choice.kind == Choice::Kind::native ? choice.algorithm : nullptr;
  }
  bool needs_state() const { return may_be_ours_ || runtime_.profiler().active() || native_segments() != nullptr; }
  inline CallFacts facts_of(const CallOutline& call) const;  // inline: some ten ns of each call
  inline const Algorithm* choose_for(const CallOutline& call) const;
  /// Calls like this one are the MPI library's from now on.
  void keep_native(const CallOutline& call) const;
  /// The same of the algorithm's, where it is quick.
  void keep_short(const CallOutline& call) const;
  /// Whether their arguments tell all that choosing goes by, but for how ranks come.
  bool is_plain(const CallOutline& call) const;
  bool is_chosen_however_ranks_come(const CallOutline& call) const;
  bool may_keep() const;
  inline LatestChoices::Question question_of(const CallOutline& call) const;
  bool is_left_for_now(const CallOutline& call);
  std::optional<std::size_t> bytes_in_pool(const Algorithm& algorithm, const CallOutline& call) const;
  inline bool is_left_by_experience(const CallFacts& facts);
  inline bool is_left_by(Experience::Front& experience);
  Experience::Front::Verdict verdict_of_experience() const {
    return experience_ == nullptr ? Experience::Front::Verdict{} : experience_->verdict();
  }
  inline bool provide_memory(const Algorithm& algorithm, const CallOutline& call);
  inline bool set_up(const Algorithm& algorithm, const CallOutline& call);
  bool eligible() const { return communicator_ != nullptr && communicator_->eligible; }

  const ReentryGuard guard_;
  Runtime& runtime_;
  const PlainCall plain_;
  const Collective collective_ = plain_.collective;
  const MPI_Comm comm_ = plain_.comm;
  const bool may_be_ours_;  // as far as the user's settings and the rule tell
  Communicator* communicator_;
  const Caller caller_;
  const Algorithm* algorithm_ = nullptr;
  bool entered_ = false;
  Experience::Front* experience_ = nullptr;
  Observation observation_;
};

}  // namespace stretto::mpi
