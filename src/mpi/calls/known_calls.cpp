#include "mpi/calls/known_calls.hpp"

#include <algorithm>

#include "algorithms/parts/blocks.hpp"
#include "mpi/calls/wrong_use.hpp"
#include "mpi/devices/gpu_drivers.hpp"
#include "mpi/engine/runtime.hpp"

namespace stretto::mpi {
namespace {

// Where the blocks of all are, in what Call counts.
class BlocksAtHand {
 public:
  // `unit`: of an element of the program's. False where the lengths are wrong by themselves, or there are too many.
  // Not among what all short calls pass through (cmake/hot.ld).
  [[gnu::noinline]] bool fill(const Lengths& lengths, std::size_t unit, int rank, int ranks) {
    const auto& [counts, displacements, own] = lengths;
    if (ranks > kMost || !counts || (displacements != nullptr && !*displacements)) return false;
    if (own != PlainCall::kUnknown && own != counts[rank]) return false;
    for (int at = 0; at < ranks; ++at) {
      if (counts[at] < 0) return false;
      const std::size_t count = static_cast<std::size_t>(counts[at]) * unit;
      const std::size_t first = displacements == nullptr ? all_ : static_cast<std::size_t>((*displacements)[at]) * unit;
      blocks_[static_cast<std::size_t>(at)] = {first, count};
      all_ += count;
    }
    return true;
  }
  const Block* blocks() const { return blocks_.data(); }
  // Together.
  std::size_t all() const { return all_; }

 private:
  static constexpr int kMost = 16;
  std::array<Block, kMost> blocks_;
  std::size_t all_ = 0;
};

// Nothing where an algorithm cannot work with what the program gave.
std::optional<Call> with_buffers(Call call, Collective collective, const Operands& operands, int rank) {
  const bool has_both = collective != Collective::bcast && collective != Collective::barrier;
  const bool needs_both = has_both && operands.needs_both(rank);
  const bool in_place = operands.own == MPI_IN_PLACE;
  if (in_place && !needs_both) return std::nullopt;
  if (needs_both && (operands.at_root == MPI_IN_PLACE || !operands.are_alike)) return std::nullopt;
  auto* const all = needs_both ? static_cast<std::byte*>(const_cast<void*>(operands.at_root)) : nullptr;
  // Where the rank's own is among all.
  const bool is_block = collective == Collective::gather || without_lengths(collective) == Collective::allgather ||
                        collective == Collective::scatter;
  std::byte* const here = is_block && all != nullptr ? all + offset(call, block_of(call, rank)) : all;
  if (has_both && operands.own == here && !kTakesSameBuffer) return std::nullopt;  // let it say what is wrong
  std::byte* const own = in_place ? here : static_cast<std::byte*>(const_cast<void*>(operands.own));
  const bool hands_out = collective == Collective::scatter;
  call.input = hands_out ? all : own;
  call.output = hands_out || !has_both ? own : all;
  return call;
}

// If there is one: the program is about to leave the call.
void end(Experience::Front* experience, const Engine& engine) {
  if (experience != nullptr && experience->is_noted() && !engine.is_revoked()) experience->end();
}

}  // namespace

thread_local std::array<KnownCalls::Set, std::size_t{1} << KnownCalls::kSetBits> KnownCalls::sets_{};

thread_local KnownCalls::Noted KnownCalls::noted_{};

int KnownCalls::ranks_of(MPI_Comm comm) {
  return noted_.comm == comm && noted_.epoch == Runtime::get().epoch() ? noted_.ranks : 0;
}

void KnownCalls::note_ranks(MPI_Comm comm, int ranks) { noted_ = {comm, Runtime::get().epoch(), ranks}; }

KnownCalls::Set& KnownCalls::set_of(const PlainCall& call) {
  const auto key = static_cast<std::uint64_t>(call.count) * 31 + static_cast<std::uint64_t>(call.collective);
  return sets_[key * 0x9E3779B97F4A7C15U >> (64 - kSetBits)];  // Knuth, volume 3, 6.4
}

const KnownCalls::Known* KnownCalls::find(const PlainCall& call, const Choice& choice) {
  const std::uint64_t epoch = Runtime::get().epoch();
  for (const Known& known : set_of(call)) {
    if (known.call == call && known.epoch == epoch && known.choice == choice) return &known;
  }
  return nullptr;
}

std::optional<int> KnownCalls::serve(const NativeCall& native, const PlainCall& call, const Operands& operands) {
  const Choice& choice = Runtime::get().configuration().choice(call.collective);
  const Known* const known = find(call, choice);
  if (known == nullptr) return std::nullopt;
  const Engine* const engine = known->entered.engine;
  if (engine != nullptr && engine->is_provided() &&
      (!operands.are_sound(engine->rank(), engine->size()) || engine->is_revoked() || !engine->is_faultless()))
    return std::nullopt;
  const Experience::Front* const experience = known->entered.experience;
  if (known->entered.algorithm != nullptr) {
    if (experience != nullptr && experience->verdict() != known->entered.verdict) return std::nullopt;
    return run(*known, operands);
  }
  if (experience != nullptr && experience->arm() != Adaptation::Arm::native) return std::nullopt;
  return pass_on(native, *known, operands);
}

int KnownCalls::pass_on(const NativeCall& native, const Known& known, const Operands& operands) {
  const auto& [engine, bytes, reduction, experience, verdict, algorithm] = known.entered;
  const Collective collective = known.call.collective;
  if (experience != nullptr) experience->begin();
  if (engine != nullptr && engine->is_provided()) {
    const int root = std::max(operands.root, 0);
    engine->enter({collective, true, static_cast<std::uint8_t>(reduction.code), root, bytes}, false);
  }
  const ReentryGuard guard;
  const int result = native();
  if (engine != nullptr) {
    engine->meet(collective, bytes);
    end(experience, *engine);
  }
  Runtime::get().count(collective, nullptr);
  return result;
}

std::optional<int> KnownCalls::run(const Known& known, const Operands& operands) {
  const auto& [engine, bytes, reduction, experience, verdict, algorithm] = known.entered;
  const Collective collective = known.call.collective;
  gpu_drivers.look();
  Call plain;
  plain.element_bytes = std::max<std::size_t>(reduction.element_bytes, 1);
  plain.count = bytes / plain.element_bytes;
  plain.reduction = &reduction;
  plain.root = std::max(operands.root, 0);
  std::size_t entered_bytes = bytes;
  BlocksAtHand blocks;
  if (operands.lengths != nullptr && plain.count > 0) {
    const std::size_t unit = plain.count / static_cast<std::size_t>(known.call.count);
    if (!blocks.fill(*operands.lengths, unit, engine->rank(), engine->size())) return std::nullopt;
    plain.blocks = blocks.blocks();
    plain.count = blocks.blocks()[engine->rank()].count;
    entered_bytes = blocks.all() * plain.element_bytes;
  }
  const std::optional<Call> call = with_buffers(plain, collective, operands, engine->rank());
  if (!call || !gpu_drivers.are_none()) return std::nullopt;
  const ReentryGuard guard;
  if (experience != nullptr) experience->begin();
  engine->enter({collective, false, static_cast<std::uint8_t>(reduction.code), plain.root, entered_bytes}, false);
  engine->pass_without_pool(collective, bytes);
  engine->run_short(*algorithm, *call);
  end(experience, *engine);
  Runtime::get().count(collective, algorithm);
  if (engine->is_faultless()) [[likely]]
    return MPI_SUCCESS;
  return raise(engine->find_fault(), collective, engine->rank(), known.call.comm);
}

void KnownCalls::keep(const PlainCall& call, const Entered& entered) {
  Runtime& runtime = Runtime::get();
  const Choice& choice = runtime.configuration().choice(call.collective);
  Set& set = set_of(call);
  auto place =
      std::ranges::find_if(set, [&](const Known& known) { return known.call == call && known.choice == choice; });
  if (place == set.end()) --place;
  std::shift_right(set.begin(), place + 1, 1);
  set.front() = {call, runtime.epoch(), choice, entered};
}

}  // namespace stretto::mpi
