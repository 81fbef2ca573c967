#include "mpi/calls/interception.hpp"

#include "board/board.hpp"
#include "mpi/calls/call_check.hpp"
#include "mpi/calls/wrong_use.hpp"
#include "mpi/entry/functions.hpp"

namespace stretto::mpi {

Interception::Interception(const PlainCall& call, const CallSite& site)
    : runtime_(Runtime::get()),
      plain_(call),
      may_be_ours_(may_serve(runtime_.configuration(), collective_) || runtime_.configuration().check),
      communicator_(needs_state() ? runtime_.communicator(comm_) : nullptr),
      caller_(site.caller),
      observation_(runtime_.profiler(), communicator_, function_of(collective_), {0, site.caller}) {
  if (!observation_.wanted()) return;
  site.describe(observation_);
  observation_.begin();
}

Interception::~Interception() {
  if (observation_.wanted() && eligible() && communicator_->engine && communicator_->engine->took_set_up()) {
    observation_.set_up();
  }
  if (experience_ != nullptr && experience_->is_noted() && !communicator_->engine->is_revoked()) experience_->end();
  runtime_.count(collective_, algorithm_);
  observation_.ran(algorithm_);
}

CallFacts Interception::facts_of(const CallOutline& call) const {
  const Engine& engine = *communicator_->engine;
  const Experience::Front::Verdict verdict = verdict_of_experience();
  return {collective_,
          call.bytes(),
          call.element_bytes,
          call.commutative,
          communicator_->size,
          engine.shares_memory(),
          engine.max_pool_window(),
          is_uneven(engine.recent_skew_ns()),
          engine.may_begin_ahead(),
          engine.shared_nodes(),
          engine.has_words(),
          engine.reads_peers(),
          engine.forecast(),
          engine.rules(),
          verdict.arrivals,
          verdict.candidate};
}

const Algorithm* Interception::choose_for(const CallOutline& call) const {
  return choose(runtime_.configuration(), facts_of(call));
}

// Whether the MPI library is to serve a call that Stretto could.
bool Interception::is_left_by_experience(const CallFacts& facts) {
  const std::optional<Adaptation::Mode> mode = adaptation_of(runtime_.configuration(), facts);
  return mode && is_left_by(runtime_.experience_of(*communicator_->engine, collective_, facts.bytes, *mode));
}

bool Interception::is_left_by(Experience::Front& experience) {
  if (experience_ == nullptr) experience.begin();
  experience_ = &experience;
  return experience.arm() == Adaptation::Arm::native;
}

// Nothing where it needs no pool; what needs one does so for messages of no bytes, too.
std::optional<std::size_t> Interception::bytes_in_pool(const Algorithm& algorithm, const CallOutline& call) const {
  const int ranks = communicator_->size;
  if (!algorithm.needs_pool(call.bytes(), ranks)) return std::nullopt;
  return algorithm.messages_in_pool(ranks, communicator_->engine->shared_nodes().at_least_one()) * call.bytes();
}

// Whether the MPI library is to serve it until such calls are known to be many. In a scatter one rank makes all pages
// of the pool, one by one, which takes five times as long as the calls that follow (docs/decisions/0043). Where
// experience chooses it has seen that.
bool Interception::is_left_for_now(const CallOutline& call) {
  if (collective_ != Collective::scatter || experience_ != nullptr) return false;
  const std::optional<std::size_t> bytes = bytes_in_pool(*algorithm_, call);
  return bytes && !communicator_->engine->is_worth_pool(*bytes);
}

// Collective, where a pool is to be made. False, on all ranks alike, if it cannot be had.
bool Interception::provide_memory(const Algorithm& algorithm, const CallOutline& call) {
  Engine& engine = *communicator_->engine;
  if (const std::optional<std::size_t> bytes = bytes_in_pool(algorithm, call)) return engine.ensure_pool(*bytes);
  engine.pass_without_pool(collective_, call.bytes());
  return true;
}

// Collective, where anything is to be made. False, on all ranks alike, if boards or the pool cannot be had.
bool Interception::set_up(const Algorithm& algorithm, const CallOutline& call) {
  Engine& engine = *communicator_->engine;
  engine.provide_for({Choice::Kind::forced, &algorithm});
  const CallFacts facts = facts_of(call);
  if (!can_serve(algorithm, facts) || !provide_memory(algorithm, call)) return false;
  const Configuration& configuration = runtime_.configuration();
  engine.ensure_insides(algorithm, configuration, is_asked_for(algorithm, configuration, facts));
  if (algorithm.needs_prediction() && !engine.anticipates(collective_)) runtime_.anticipate(engine, collective_);
  return true;
}

LatestChoices::Question Interception::question_of(const CallOutline& call) const {
  return {runtime_.configuration().choice(collective_), call.bytes(), call.element_bytes, call.commutative,
          is_uneven(communicator_->engine->recent_skew_ns())};
}

bool Interception::select(const PreparedCall& prepared) {
  const CallOutline call = prepared.outline();
  if (Engine* const engine = communicator_->engine.get(); engine != nullptr && !engine->is_revoked()) {
    const LatestChoices::Latest* const latest = engine->latest_choices().find(collective_, question_of(call));
    if (latest != nullptr && latest->experience != nullptr && is_left_by(*latest->experience)) {
      keep_native(call);
      return false;
    }
    if (latest != nullptr && latest->verdict == verdict_of_experience()) {
      algorithm_ = latest->algorithm;
      enter(*engine, call);
      keep_short(call);
      if (provide_memory(*algorithm_, call)) return engine->is_faultless();
    }
  }
  return select_anew(call);
}

int Interception::leave(const NativeCall& native) {
  if (may_keep()) KnownCalls::keep(plain_, {});
  return native();
}

bool Interception::may_keep() const { return !runtime_.profiler().active() && !runtime_.configuration().check; }

// Of a datatype or an operation of the program's, the same handle may soon be another.
bool Interception::is_plain(const CallOutline& call) const {
  const bool predefined = (plain_.datatype == MPI_DATATYPE_NULL || is_predefined(plain_.datatype)) &&
                          (plain_.op == MPI_OP_NULL || call.reduction != 0);
  return may_keep() && predefined && plain_.count != PlainCall::kUnknown;
}

bool Interception::is_chosen_however_ranks_come(const CallOutline& call) const {
  if (communicator_->engine == nullptr) return true;
  CallFacts facts = facts_of(call);
  facts.uneven = !facts.uneven;
  return choose(runtime_.configuration(), facts) == algorithm_;
}

void Interception::keep_native(const CallOutline& call) const {
  if (knows_all_lengths(collective_)) KnownCalls::note_ranks(plain_.comm, communicator_->size);
  if (!is_plain(call) || (experience_ == nullptr && !is_chosen_however_ranks_come(call))) return;
  const std::size_t bytes = call.entry(collective_, true).bytes;
  KnownCalls::keep(plain_, {communicator_->engine.get(), bytes, {.code = call.reduction}, experience_, {}, nullptr});
}

void Interception::keep_short(const CallOutline& call) const {
  const std::size_t in_slot = call.bytes() * algorithm_->blocks_of_rank(communicator_->size);
  const bool quick = algorithm_->shortly.run != nullptr && in_slot <= Board::kSmallSlotBytes;
  if (knows_all_lengths(collective_)) KnownCalls::note_ranks(plain_.comm, communicator_->size);
  if (!quick || !is_plain(call) || !is_chosen_however_ranks_come(call)) return;
  const bool has_data = plain_.datatype != MPI_DATATYPE_NULL;
  BoundReduction bound;
  if ((has_data && !layout_of(plain_.datatype)->ordered) ||
      (sums(collective_) && !bound.bind(plain_.datatype, plain_.op)))
    return;
  KnownCalls::keep(plain_, {communicator_->engine.get(), call.bytes(), bound.reduction(), experience_,
                            verdict_of_experience(), algorithm_});
}

bool Interception::select_anew(const CallOutline& call) {
  const Configuration& configuration = runtime_.configuration();
  if (!may_serve(configuration, collective_, call.bytes(), communicator_->size, runtime_.one_node())) {
    keep_native(call);
    return false;
  }
  const Choice& choice = configuration.choice(collective_);
  const bool forced = choice.kind == Choice::Kind::forced;
  if (communicator_->engine == nullptr && !forced && communicator_->is_young()) return false;
  Engine* const engine = runtime_.engine(*communicator_, comm_);
  if (engine == nullptr) return false;
  const bool wanted = forced || engine->is_provided() || choose_for(call) != nullptr;
  if (!wanted) {
    keep_native(call);
    return false;
  }
  engine->provide_for(choice);
  if (engine->is_revoked()) return false;
  // What cannot be had is known to be so from now on: then choose again.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const CallFacts facts = facts_of(call);
    algorithm_ = choose(configuration, facts);
    if (attempt == 0 && algorithm_ != nullptr) {
      if (is_left_by_experience(facts)) {
        algorithm_ = nullptr;
      } else if (experience_ != nullptr && experience_->asks_for_another()) {
        algorithm_ = choose_for(call);  // it knows how ranks come, or what is worth a trial: another question
      }
    }
    if (algorithm_ == nullptr) {
      keep_native(call);
      break;
    }
    if (attempt == 0 && !forced && is_left_for_now(call)) {
      algorithm_ = nullptr;
      break;
    }
    enter(*engine, call);
    if (set_up(*algorithm_, call) || !engine->is_faultless()) break;
  }
  if (algorithm_ == nullptr || !engine->is_faultless()) return false;
  // The next one like it finds all there that it needs, but perhaps the memory.
  const bool kept = algorithm_->is_on_board() && !algorithm_->needs_prediction();
  if (kept)
    engine->latest_choices().keep(collective_, {question_of(call), algorithm_, experience_, verdict_of_experience()});
  return true;
}

int Interception::pass_to(const NativeCall& native, const PreparedCall* prepared) {
  const int result = native();
  Engine* const engine = communicator_->engine.get();
  if (engine != nullptr && prepared != nullptr) engine->meet(collective_, prepared->outline().bytes());
  return result;
}

int Interception::pass_on(const NativeCall& native, const PreparedCall* prepared) {
  Engine* const engine = communicator_->engine.get();
  if (engine == nullptr || !engine->is_provided()) return pass_to(native, prepared);
  if (engine->is_revoked()) return report(*engine);
  const bool unsure = prepared == nullptr;
  enter(*engine, unsure ? CallOutline{} : prepared->outline(), unsure);
  if (!engine->is_faultless()) return report(*engine);
  const int result = pass_to(native, prepared);
  // Arguments that are wrong by themselves: no call has been made, and the program may make the right one.
  if (unsure) engine->decide(result == MPI_SUCCESS);
  return result;
}

void Interception::enter(Engine& engine, const CallOutline& call, bool unsure) {
  if (entered_) return;
  entered_ = true;
  engine.enter(call.entry(collective_, algorithm_ == nullptr), unsure);
}

int Interception::check(const PreparedCall* prepared) {
  Engine* const engine = runtime_.engine(*communicator_, comm_);
  if (engine == nullptr) return MPI_SUCCESS;
  engine->provide_for(runtime_.configuration().choice(collective_));
  return engine->is_revoked() ? MPI_SUCCESS : check_call(*communicator_, collective_, prepared, caller_, comm_);
}

int Interception::report(Engine& engine) {
  algorithm_ = nullptr;
  return raise(engine.find_fault(), collective_, communicator_->rank, comm_);
}

}  // namespace stretto::mpi
