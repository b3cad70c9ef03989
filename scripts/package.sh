#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/package.sh: builds Debian packages (ezprof, libezmsg0, libezmsg-dev). Prints their names.
set -eu
cd "$(dirname "$0")/.."

scripts/build.sh package
cd build-package
rm -f ./*.deb
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cpack >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    exit 1
fi
rm -rf _CPack_Packages
for package in "$PWD"/*.deb; do
    echo "$package"
done
