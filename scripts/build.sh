#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/build.sh [PRESET]: installs what is missing, configures, builds; default preset dev.
# All output goes to stderr. EZPROF_WERROR=1 makes warnings errors, as CI does.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-dev}

scripts/deps.sh
exec 1>&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
options=()
if [ "${EZPROF_WERROR:-0}" = 1 ]; then
    options+=(-DEZPROF_WERROR=ON)
fi
if ! cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 </dev/null; then
    cat "$log"
    exit 1
fi
if ! cmake --build --preset "$preset" -j "$(nproc)" >"$log" 2>&1 </dev/null; then
    cat "$log"
    exit 1
fi
grep -A 5 'warning:' "$log" || true
