#!/usr/bin/env bash
# Where Stretto wins and loses against the best that the MPI can be forced to. Run scripts/setup.sh build and
# scripts/build.sh before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
exec "$venv/bin/stretto" bench --quick "$@"
