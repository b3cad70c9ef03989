#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing, and says nothing when none is.
# Not root, or not Debian: prints what is needed and leaves the machine alone.
set -eu

packages=(
    # to build
    gcc libc6-dev cmake ninja-build pkg-config clang bpftool
    libbpf-dev libelf-dev zlib1g-dev libjson-c-dev libevent-dev uthash-dev uuid-dev
    libcap-ng-dev
    # to test
    g++ libcmocka-dev bpftrace valgrind universal-ctags clang-format groff-base
    python3 python3-venv git procps iproute2
)

if ! command -v dpkg-query >/dev/null; then
    echo "deps: not a Debian system; needed are what Debian calls: ${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "deps: missing packages, and only root can install them. Type:" >&2
    echo "    sudo apt-get install ${missing[*]}" >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 \
        "$@" </dev/null >>"$log" 2>&1
}
echo "deps: installing ${missing[*]}" >&2
if ! apt install --no-install-recommends "${missing[@]}"; then
    # The usual reason: the package lists are absent or old.
    if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
        tail -n 15 "$log" >&2
        echo "deps: could not install ${missing[*]}" >&2
        exit 1
    fi
fi
