#!/usr/bin/env bash
# Plants defects in the sources, which the tests must find: tests/mutations. Run scripts/setup.sh test and scripts/build.sh
# before. Arguments go to mutate.py, as --only "wrong root".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
exec "$venv/bin/python" tests/mutations/mutate.py "$@"
