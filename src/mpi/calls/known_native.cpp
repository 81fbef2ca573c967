#include "mpi/calls/known_native.hpp"

#include "mpi/engine/runtime.hpp"

namespace stretto::mpi {

thread_local std::array<KnownNative::Known, KnownNative::kKept> KnownNative::known_{};

std::optional<int> KnownNative::pass_on(const NativeCall& native, const PlainCall& call, int root) {
  Runtime& runtime = Runtime::get();
  const Choice& choice = runtime.configuration().choice(call.collective);
  const Known& known = place_of(call, choice);
  if (known.call != call || known.epoch != runtime.epoch() || known.choice != choice) return std::nullopt;
  if (Engine* const engine = known.engine; engine != nullptr && engine->is_provided()) {
    if (engine->is_revoked() || !engine->is_faultless()) return std::nullopt;
    engine->enter({call.collective, true, static_cast<std::uint8_t>(known.reduction), root, known.bytes}, false);
  }
  const ReentryGuard guard;
  const int result = native();
  runtime.count(call.collective, nullptr);
  return result;
}

void KnownNative::keep(const PlainCall& call, Engine* engine, std::size_t bytes, std::uint32_t reduction) {
  Runtime& runtime = Runtime::get();
  const Choice& choice = runtime.configuration().choice(call.collective);
  place_of(call, choice) = {call, runtime.epoch(), choice, engine, bytes, reduction};
}

}  // namespace stretto::mpi
