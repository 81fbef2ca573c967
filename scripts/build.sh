#!/usr/bin/env bash
# Builds into build/: what Stretto runs with, and with `scripts/build.sh test` its tests too. Run scripts/setup.sh before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
remove_moved_build build "$repository"
# Tests take most of the time and need GoogleTest. Once asked for they stay, so that nothing is built twice.
options=()
if [ "${1:-}" = test ]; then
  options=(-DSTRETTO_TESTS=ON)
elif [ ! -f build/CMakeCache.txt ]; then
  options=(-DSTRETTO_TESTS=OFF)
fi
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${options[@]}"
cmake --build build
