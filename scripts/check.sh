#!/usr/bin/env bash
# The inner loop, after a change: builds it, and runs the C++ tests of what differs from the last commit, a few programs on
# real MPI, and the linters of the changed files. Usage: scripts/check.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/parts.sh
cores="$(nproc)"
mapfile -t changed < <({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sort -u)

# The algorithms that have been changed, as a filter of GoogleTest's; nothing if anything else of the library has been.
filter_of_changed_algorithms() {
  local file filter=
  for file in "${changed[@]}"; do
    case "$file" in
      src/algorithms/parts/*) return ;;
      src/algorithms/*/*.cpp) file="${file#src/algorithms/}" filter+="*/${file%%/*}*_*$(basename "${file%_tree.cpp}" .cpp)*:" ;;
      src/* | tests/*.cpp | tests/*.hpp | cmake/* | CMakeLists.txt) return ;;
    esac
  done
  printf '%s' "$filter"
}

cpp_tests() {
  local filter test
  filter="$(filter_of_changed_algorithms)"
  if [ -z "$filter" ]; then
    ctest --test-dir build -j "$cores" --output-on-failure --no-tests=error
    return
  fi
  for test in sim_test derived_test threads_test scheduled_test; do
    "build/bin/$test" --gtest_brief=1 --gtest_filter="$filter" || return
  done
}

smoke_tests() {
  "$venv/bin/python" -m pytest -q -n "$cores" --dist worksteal tests/mpi/test_mpi_conformance.py tests/interposition/test_programs.py \
    -k '(test_every_count_and_root and 3) or exit_code or without_a_launcher'
}

export STRETTO_SEEDS=1
[ -d "$venv" ] && [ -f build/CMakeCache.txt ] || needed_part 'install' scripts/setup.sh test
needed_part 'build' scripts/build.sh test
part 'C++ tests of what has changed' cpp_tests
part 'a few programs on real MPI' smoke_tests
part 'linters of changed files' scripts/lint.sh --changed
end_of_parts
