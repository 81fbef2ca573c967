#!/usr/bin/env bash
# Builds the C++ tests with sanitizers and runs them: address and undefined behaviour on virtual ranks and threads, data
# races on threads. Run scripts/setup.sh test before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

build_with() {  # sanitizers, directory, targets
  cmake -S . -B "$2" -G Ninja -DSTRETTO_TESTS=ON -DSTRETTO_SANITIZE="$1" >"$2.log" 2>&1 || { cat "$2.log"; return 1; }
  cmake --build "$2" --target "${@:3}"
}

short_tests=(core_test arrival_test late_rank_test topology_test network_test insides_test latency_test)
build_with address,undefined build-address "${short_tests[@]}" derived_test sim_test threads_test
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for test in "${short_tests[@]}"; do
  timeout 300 "build-address/bin/$test" --gtest_brief=1
done
timeout 900 build-address/bin/derived_test --gtest_brief=1
timeout 1500 build-address/bin/sim_test --gtest_brief=1 --gtest_filter=-*ManyRanks*
timeout 900 build-address/bin/threads_test --gtest_brief=1

build_with thread build-thread threads_test
timeout 900 build-thread/bin/threads_test --gtest_brief=1
