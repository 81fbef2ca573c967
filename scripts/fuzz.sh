#!/usr/bin/env bash
# Random MPI programs, natively and under Stretto: 10 000 legal ones, 500 that are wrong, and those under STRETTO_CHECK=1.
# An hour. Run scripts/build.sh before; tests/fuzz/fuzzing.py --help tells what else there is.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
status=0
"$venv/bin/python" tests/fuzz/fuzzing.py legal || status=1
"$venv/bin/python" tests/fuzz/fuzzing.py illegal || status=1
"$venv/bin/python" tests/fuzz/fuzzing.py illegal --check || status=1
exit $status
