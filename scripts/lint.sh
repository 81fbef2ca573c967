#!/usr/bin/env bash
# Checks the style of every source: clang-format, clang-tidy, ruff, mypy. `scripts/lint.sh --changed` of those that differ
# from the last commit; `scripts/lint.sh --fix` rewrites instead what can be rewritten. Run scripts/build.sh test before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

mapfile -t compiled < <(find src include sim tests bench apps tools -type f \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) 2>/dev/null)
python_sources=(python tests apps scripts bench)

case "${1:-}" in
  --fix)
    clang-format -i "${compiled[@]}"
    ruff format "${python_sources[@]}"
    ruff check --fix "${python_sources[@]}"
    exit
    ;;
  --changed)
    changed() { { git diff --name-only --diff-filter=d HEAD; git ls-files --others --exclude-standard; } | grep -E "$1" || true; }
    mapfile -t compiled < <(changed '\.(cpp|hpp|c|h)$')
    mapfile -t python_sources < <(changed '\.py$')
    ;;
esac

failed=0
step() { printf 'lint: %s\n' "$1"; shift; "$@" || failed=1; }
if [ ${#compiled[@]} -gt 0 ]; then
  step clang-format clang-format --dry-run -Werror "${compiled[@]}"
  step clang-tidy "$venv/bin/python" scripts/tidy.py ${1:+"${compiled[@]}"}
fi
if [ ${#python_sources[@]} -gt 0 ]; then
  step 'ruff check' ruff check --quiet "${python_sources[@]}"
  step 'ruff format' ruff format --quiet --check "${python_sources[@]}"
  step mypy mypy python/stretto apps/training apps/horovod/{characterise,check_pipelined}.py tests/mpi_jobs.py tests/python
  step mypy mypy tests/conftest.py tests/mpi_jobs.py tests/mpi/*.py tests/apps/*.py tests/interposition/test_*.py tests/profile/*.py scripts/*.py
  step mypy mypy scripts/bundle/*.py
  step mypy mypy tests/mpi_jobs.py tests/cluster/*.py
  step mypy mypy tests/mpi_jobs.py tests/bench/*.py
  step mypy mypy tests/mpi_jobs.py tests/fuzz/*.py tests/devices/*.py
  step mypy mypy tests/mpi_jobs.py tests/mutations/*.py
  step mypy mypy bench/experiments/*.py
fi
[ "$failed" = 0 ] && echo 'lint: passed' || { echo 'lint: failed' >&2; exit 1; }
