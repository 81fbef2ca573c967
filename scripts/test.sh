#!/usr/bin/env bash
# Runs every test of a built tree, C++ and Python. Run scripts/setup.sh test and scripts/build.sh before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
failed=0
ctest --test-dir build --output-on-failure --no-tests=error || failed=1
"$venv/bin/python" -m pytest tests -q -rs || failed=1
exit "$failed"
