#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/perfetto-venv.sh FOLDER: a virtual environment with perfetto's message definitions, made once.
# Where that fails, FOLDER.reason says why, for the tests that are then skipped; the exit status is 0.
set -eu
folder=$1
log=$folder.log

complete() {
    [ -x "$folder/bin/python" ] && "$folder/bin/python" -c '
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace' >/dev/null 2>&1
}

if complete; then
    exit 0
fi
rm -rf "$folder" "$folder.reason"
mkdir -p "$(dirname "$folder")"
echo "perfetto: making a virtual environment with its message definitions" >&2
if python3 -m venv "$folder" >"$log" 2>&1 </dev/null &&
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input install --retries 1 \
        --timeout 20 perfetto==0.59.1 >>"$log" 2>&1 </dev/null && complete; then
    rm -f "$log"
    exit 0
fi
rm -rf "$folder"
last=$(grep -v '^ *$' "$log" | grep -iE 'error|fail' | tail -n 1 | cut -c1-200)
echo "no perfetto 0.59.1 by pip: ${last:-see the end of the log}" >"$folder.reason"
cat "$folder.reason" >&2
