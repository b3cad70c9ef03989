#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/bench.sh [--json FILE] [--only PREFIX]: builds for release, runs the benchmarks, prints a row per
# figure. Exit status 3 when a row falls short of its bar.
set -eu
cd "$(dirname "$0")/.."
for argument in "$@"; do
    case $argument in
    -h | --help) exec python3 tests/bench/run.py --help ;;
    esac
done
scripts/build.sh release
build=$PWD/build-release
# ezmsg, to be compared with.
scripts/interop-venv.sh "$build/venv-3.9.0"
exec python3 tests/bench/run.py --list "$build/benches.txt" "$@" </dev/null
