#include "mpi/calls/known_native.hpp"

#include <algorithm>

#include "mpi/engine/runtime.hpp"

namespace stretto::mpi {

thread_local std::array<KnownNative::Known, KnownNative::kKept> KnownNative::known_{};

std::optional<int> KnownNative::pass_on(const NativeCall& native, const PlainCall& call, const Operands& operands) {
  Runtime& runtime = Runtime::get();
  const Choice& choice = runtime.configuration().choice(call.collective);
  const Known& known = place_of(call, choice);
  if (known.call != call || known.epoch != runtime.epoch() || known.choice != choice) return std::nullopt;
  const auto& [engine, bytes, reduction, experience] = known.entered;
  const bool enters = engine != nullptr && engine->is_provided();
  if (enters &&
      (!operands.are_sound(engine->rank(), engine->size()) || engine->is_revoked() || !engine->is_faultless()))
    return std::nullopt;
  if (experience != nullptr) {
    if (experience->arm() != Adaptation::Arm::native) return std::nullopt;
    experience->begin();
  }
  const int root = std::max(operands.root, 0);
  if (enters) engine->enter({call.collective, true, static_cast<std::uint8_t>(reduction), root, bytes}, false);
  const ReentryGuard guard;
  const int result = native();
  if (experience != nullptr && experience->is_noted() && !engine->is_revoked()) experience->end();
  runtime.count(call.collective, nullptr);
  return result;
}

void KnownNative::keep(const PlainCall& call, const Entered& entered) {
  Runtime& runtime = Runtime::get();
  const Choice& choice = runtime.configuration().choice(call.collective);
  place_of(call, choice) = {call, runtime.epoch(), choice, entered};
}

}  // namespace stretto::mpi
