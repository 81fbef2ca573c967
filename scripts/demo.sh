#!/usr/bin/env bash
# Trains the demo's network natively and under Stretto. Run scripts/setup.sh demo and scripts/build.sh before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
exec "$venv/bin/stretto" demo "$@"
