#!/usr/bin/env bash
# Builds everything into build/. Run scripts/setup.sh before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
# A build directory that was copied or moved here does not configure: it names the old place.
if [ -f build/CMakeCache.txt ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$repository" build/CMakeCache.txt; then
  rm -rf build
fi
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
cmake --build build
