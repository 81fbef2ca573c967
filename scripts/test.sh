#!/usr/bin/env bash
# Installs, builds, and runs the tests and linters. Usage: scripts/test.sh [night]
#
# Without an argument, what a change must pass. `night`: what that leaves out, with more seeds, schedules and ranks.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/parts.sh
cores="$(nproc)"
pytest() { "$venv/bin/python" -m pytest tests -q -rs "$@"; }
cpp_tests() { ctest --test-dir build -j "$cores" --output-on-failure --no-tests=error "$@"; }
build_sim() {
  local code=0
  scripts/build_sim.sh || code=$?
  [ "$code" != 77 ] || { echo 'test: no SimGrid: the tests of stretto sim are skipped'; code=0; }
  return "$code"
}

needed_part 'install' scripts/setup.sh test
source scripts/environment.sh  # once more: it goes by what is installed
needed_part 'build' scripts/build.sh test
needed_part 'build for SimGrid' build_sim
needed_part 'build with sanitizers' scripts/sanitizers.sh
case "${1:-}" in
  '')
    STRETTO_SEEDS=2 part 'C++ tests' cpp_tests
    STRETTO_SEEDS=1 part 'C++ tests with sanitizers' scripts/sanitizers.sh test
    # The linters compute, and these tests mostly wait for each other's processes.
    part_beside 'linters' scripts/lint.sh
    part 'Python tests, side by side' pytest -n "$cores" --dist worksteal -m 'not alone'
    join_part
    part 'Python tests, one by one' pytest -m alone
    part 'a few tests with MPICH' scripts/test_all_mpis.sh --few mpich-debian
    ;;
  night)
    part 'C++ tests, every seed' cpp_tests
    part 'C++ tests of the night' cpp_tests -C night -L night
    part 'C++ tests with sanitizers, every seed' scripts/sanitizers.sh test
    part 'defects that must be found' scripts/mutations.sh
    export CHECK_THOROUGH=1
    part 'Python tests, thorough, side by side' pytest -n "$cores" --dist worksteal -m '(night or not night) and not alone'
    part 'Python tests, thorough, one by one' pytest -m '(night or not night) and alone'
    ;;
  *)
    echo 'usage: scripts/test.sh [night]' >&2
    exit 2
    ;;
esac
end_of_parts
