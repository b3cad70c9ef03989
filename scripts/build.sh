#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/build.sh [PRESET]: installs what is missing, configures, builds; default preset dev.
# All output goes to stderr. EZPROF_WERROR=1 makes warnings errors, as CI does.
set -eu -o pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}

scripts/deps.sh
exec 1>&2
case $preset in
dev) folder=build ;;
*) folder=build-$preset ;;
esac
# What cmake says of these two helps nobody.
denied=
for place in . "$folder" "$folder/CMakeCache.txt"; do
    [ ! -e "$place" ] || [ -w "$place" ] || denied=$place
done
if [ -n "$denied" ]; then
    [ "$denied" = . ] && denied=$PWD || denied=$PWD/$denied
    echo "build: this user may not write to $denied, perhaps since root made it. Type:"
    echo "    sudo chown -R $(id -u) '$PWD'"
    exit 1
fi
home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
if [ -n "$home" ] && [ "$home" != "$PWD" ]; then
    echo "build: $folder was made when the tree was at $home. Type:"
    echo "    rm -rf '$PWD/$folder'"
    exit 1
fi
# Minutes of silence look like a program that hangs: each tenth of a long build is told.
tenths() {
    local line told=0 now
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] && ${BASH_REMATCH[2]} -ge 200 ]] || continue
        now=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        [ "$now" -eq "$told" ] || echo "build: ${now}0 %"
        told=$now
    done
}
[ -e "$folder/build.ninja" ] || echo "build: compiles into $PWD/$folder; the first time takes some minutes" >&2
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
if ! cmake --build --preset "$preset" -j "$(nproc)" 2>&1 </dev/null | tee "$log" | tenths; then
    cat "$log"
    exit 1
fi
grep -A 5 'warning:' "$log" || true
