#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/compare.sh [TOOL...]: runs the tools of docs/compared.md on the same job and prints what each
# says; then what they cost. TOOL: ezprof ezmsg dashboard pr206 py-spy bpftrace lttng cost. Needs root.
# EZPROF_PR206: a checkout of ezmsg at commit 7a931a2, else that one is left out. About four minutes.
set -eu
cd "$(dirname "$0")/.."
scripts/build.sh dev
export EZPROF_BIN_DIR=$PWD/build/bin EZPROF_TEST_BIN_DIR=$PWD/build/tests/bin
export PYTHONPATH=$PWD/tests/compared:$PWD/tests/support PYTHONDONTWRITEBYTECODE=1

# environment FOLDER PACKAGE...: a virtual environment with these, made once; fails where pip does
environment() {
    local folder=$1
    shift
    if [ ! -e "$folder/complete" ]; then
        echo "compare: making $folder with $*" >&2
        python3 -m venv "$folder" >&2 && EZPROF_PROGRAMS=0 "$folder/bin/python" -m pip install -q \
            --disable-pip-version-check --no-input "$@" </dev/null >&2 || return 1
        touch "$folder/complete"
    fi
}
if environment build/venv-compared ezmsg==3.9.0 numpy py-spy ./python; then
    export EZPROF_COMPARED_PYTHON=$PWD/build/venv-compared/bin/python
fi
# It wants an ezmsg of its own.
if environment build/venv-dashboard ezmsg-dashboard; then
    export EZPROF_COMPARED_DASHBOARD=$PWD/build/venv-dashboard/bin/python
fi

tools=()
cost=$([ $# -eq 0 ] && echo 1 || echo 0)
for tool in "$@"; do
    if [ "$tool" = cost ]; then cost=1; else tools+=("$tool"); fi
done
if [ $# -eq 0 ] || [ ${#tools[@]} -gt 0 ]; then
    python3 tests/compared/compare.py "${tools[@]}"
fi
[ "$cost" = 0 ] || python3 tests/compared/compared_cost.py
