#!/usr/bin/env bash
# Builds the C++ tests with sanitizers: address and undefined behaviour in build-address, data races in build-thread.
# `scripts/sanitizers.sh test` runs them instead, with as many seeds as STRETTO_SEEDS says, or all. Run scripts/setup.sh
# test before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
on_virtual_ranks=(core_test arrival_test late_rank_test topology_test network_test insides_test latency_test
  configuration_test derived_test sim_test arena_test)
on_threads=(threads_test doorbell_test)

build_with() {  # sanitizers, directory, targets
  cmake -S . -B "$2" -G Ninja -DSTRETTO_TESTS=ON -DSTRETTO_SANITIZE="$1" >"$2.log" 2>&1 || { cat "$2.log"; return 1; }
  cmake --build "$2" --target "${@:3}"
}

any_of() { (IFS='|' && echo "^($*)"); }

if [ "${1:-}" = test ]; then
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  failed=0
  ctest --test-dir build-address -j "$(nproc)" --output-on-failure -R "$(any_of "${on_virtual_ranks[@]}" "${on_threads[@]}")" || failed=1
  ctest --test-dir build-thread -j "$(nproc)" --output-on-failure -R "$(any_of "${on_threads[@]}")" || failed=1
  exit "$failed"
fi
build_with address,undefined build-address "${on_virtual_ranks[@]}" "${on_threads[@]}"
build_with thread build-thread "${on_threads[@]}"
