#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/test.sh [LABEL...]: installs what is missing, builds, runs all tests or those with a label
# (unit, bpf, interop, e2e, slow, style), and ends with ctest's own summary and exit status.
# EZPROF_PRESET=asan-ubsan (or tsan, release) tests that build instead.
set -eu -o pipefail
cd "$(dirname "$0")/.."
preset=${EZPROF_PRESET:-dev}
case $preset in
dev) build=build ;;
*) build=build-$preset ;;
esac

for label in "$@"; do
    case $label in
    unit | bpf | interop | e2e | slow | style) ;;
    *)
        echo "test: no label '$label'; there are unit, bpf, interop, e2e, slow, style" >&2
        exit 2
        ;;
    esac
done

scripts/build.sh "$preset"

selection=()
if [ $# -gt 0 ]; then
    selection=(-L "^($(IFS='|' && echo "$*"))\$")
fi
case " $* " in
*interop* | *e2e* | *slow* | "  ") scripts/interop-venv.sh "$PWD/$build/venv-3.9.0" ;;
esac

case " $* " in
*e2e* | *slow* | "  ") scripts/perfetto-venv.sh "$PWD/$build/venv-perfetto" ;;
esac
case " $* " in
*bpf* | *slow* | "  ") scripts/old-kernel.sh "$PWD/$build/linux-6.1" ;;
esac

# ctest doesn't show why a test was skipped: tests write it here, and it is shown in the summary.
skips=$build/skips.txt
: >"$skips"
status=0
EZPROF_SKIP_LOG=$PWD/$skips ctest --test-dir "$build" --output-on-failure --no-tests=error -j 2 \
    "${selection[@]}" </dev/null 2>&1 | sed -u "/ tests passed, /r $skips" || status=$?
exit $status
