#!/usr/bin/env bash
# Checks the style of every source: clang-format, clang-tidy where .clang-tidy is there, ruff, mypy.
# `scripts/lint.sh --fix` rewrites instead what can be rewritten. Run scripts/setup.sh test before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
python_sources=(python tests apps scripts bench)

mapfile -d '' compiled < <(find src include sim tests bench apps -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0 2>/dev/null || true)

if [ "${1:-}" = --fix ]; then
  [ ${#compiled[@]} = 0 ] || clang-format -i "${compiled[@]}"
  ruff format "${python_sources[@]}"
  ruff check --fix "${python_sources[@]}"
  exit
fi

failed=0
step() { printf 'lint: %s\n' "$1"; shift; "$@" || failed=1; }
[ ${#compiled[@]} = 0 ] || step clang-format clang-format --dry-run -Werror "${compiled[@]}"
if [ -f .clang-tidy ] && [ -f build/compile_commands.json ]; then
  step clang-tidy run-clang-tidy -quiet -p build -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option "$repository/(src|sim|bench|apps)/.*"
fi
step 'ruff check' ruff check --quiet "${python_sources[@]}"
step 'ruff format' ruff format --quiet --check "${python_sources[@]}"
step mypy mypy python/stretto apps/training apps/horovod/{characterise,check_pipelined}.py tests/mpi_jobs.py tests/python
step mypy mypy tests/conftest.py tests/mpi_jobs.py tests/mpi/*.py tests/intercept/test_*.py tests/profile/*.py scripts/*.py
step mypy mypy tests/mpi_jobs.py tests/cluster/*.py
step mypy mypy tests/mpi_jobs.py tests/bench/*.py
[ "$failed" = 0 ] && echo 'lint: passed' || { echo 'lint: failed' >&2; exit 1; }
