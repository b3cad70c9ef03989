#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/sanitize.sh address|thread|memcheck [REGEX]: the whole suite, or the tests whose names match,
# with AddressSanitizer and UndefinedBehaviorSanitizer, with ThreadSanitizer, or (unit tests in C and what
# they start) under valgrind's memcheck. What can't run there is left out, and the summary says why.
# EZPROF_SANITIZE_BUILT=1: in the build that there is, without looking for what is missing.
set -eu -o pipefail
cd "$(dirname "$0")/.."

usage() {
    echo "usage: scripts/sanitize.sh address|thread|memcheck [REGEX]" >&2
    exit 2
}

[ $# -ge 1 ] && [ $# -le 2 ] || usage
kind=$1
regex=${2:-.}
case $kind in
address) preset=asan-ubsan build=build-asan-ubsan ;;
thread) preset=tsan build=build-tsan ;;
memcheck) preset=dev build=build ;;
*) usage ;;
esac

# Names and the reason, one group a line; test_install and others leave parts out themselves.
left_out='style_.*: look at sources
fuzz_.*: have sanitizers of their own in every build
abi_(sites|builds): compare the instructions of probe sites, which a sanitizer changes
qemu_.*|cross_.*: build for other machines, without sanitizers
e2e_package: looks at the package, which is a release build
python_(own_tests|package|elf): look at the package as it is shipped
runtime_valgrind|views_growth: valgrind has no room beside a sanitizer'
if [ "$kind" = thread ]; then
    left_out+='
test_fork|e2e_forks|e2e_discovery: it cannot follow a fork of a process with threads
e2e_both_ways|e2e_cookbook: compare durations that it stretches unevenly
e2e_top: is stopped and continued by signals, which it delivers late
e2e_cookbook_python|python_.*: Python with the thread sanitizer ahead of it'
fi

if [ "${EZPROF_SANITIZE_BUILT:-0}" != 1 ]; then
    scripts/build.sh "$preset"
    scripts/interop-venv.sh "$PWD/$build/venv-3.9.0"
    scripts/perfetto-venv.sh "$PWD/$build/venv-perfetto"
fi

if [ "$kind" = memcheck ]; then
    ctest=$(command -v ctest)
    export EZPROF_FULL=1 EZPROF_VALGRIND_REGEX=$regex
    exec "$ctest" --test-dir "$build" -R '^runtime_valgrind$' --verbose --timeout 7200
fi

# Whichever process it was, and whatever its test made of that.
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export ASAN_OPTIONS=log_path=$reports/report UBSAN_OPTIONS=log_path=$reports/report \
    TSAN_OPTIONS=log_path=$reports/report

names=$(cut -d: -f1 <<<"$left_out" | paste -sd '|')
status=0
ctest --test-dir "$build" -R "$regex" -E "^($names)\$" --output-on-failure --no-tests=error -j 2 \
    </dev/null || status=$?
echo "left out:"
sed 's/^/  /' <<<"$left_out"
if grep -lE 'ERROR: |runtime error: |WARNING: ThreadSanitizer' "$reports"/* 2>/dev/null |
    xargs -r cat | grep -v 'runtime does not come first'; then
    status=1
fi
exit $status
