#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing, and says nothing when none is.
# Not root, or not Debian: prints what is needed and leaves the machine alone.
set -eu

packages=(
    # to build
    gcc libc6-dev cmake ninja-build pkg-config clang bpftool
    libbpf-dev libelf-dev zlib1g-dev libjson-c-dev libevent-dev uthash-dev uuid-dev
    libcap-ng-dev libseccomp-dev libncurses-dev
    # to test
    g++ libcmocka-dev bpftrace valgrind universal-ctags clang-format groff-base zsh fish
    python3 python3-venv python3-dev python3.11-dbg git procps iproute2
)
# Without these some tests are skipped, saying so: an old kernel in a virtual machine, builds for
# aarch64, other linkers; a benchmark against LTTng-UST; formats as other programs read them; what
# comes with a Debian package; pages as a browser shows them.
for_some_tests=(
    qemu-system-x86
    prometheus
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    lld binutils libclang-rt-14-dev
    liblttng-ust-dev lttng-tools
    graphviz python3-prometheus-client
    lintian man-db bash-completion
    chromium-headless-shell fonts-dejavu-core
)
# Two packages have it, and exclude each other.
command -v busybox >/dev/null || for_some_tests+=(busybox)

if ! command -v dpkg-query >/dev/null; then
    echo "deps: not a Debian system; needed are what Debian calls: ${packages[*]}" >&2
    exit 0
fi

# missing_of PACKAGE...: those that aren't installed
missing_of() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}
mapfile -t missing < <(missing_of "${packages[@]}")
mapfile -t missing_for_some < <(missing_of "${for_some_tests[@]}")
[ $((${#missing[@]} + ${#missing_for_some[@]})) -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    [ ${#missing[@]} -gt 0 ] || exit 0
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
# install PACKAGE...: if need be after fetching the package lists, which may be absent or old
install() {
    [ $# -gt 0 ] || return 0
    echo "deps: installing $*" >&2
    apt install --no-install-recommends "$@" ||
        { apt update && apt install --no-install-recommends "$@"; }
}
if ! install "${missing[@]}"; then
    tail -n 15 "$log" >&2
    echo "deps: could not install ${missing[*]}. With a network that reaches Debian's packages, type:" >&2
    echo "    apt-get update && apt-get install ${missing[*]}" >&2
    exit 1
fi
# Debian starts it at once; tests want the program alone, and to start their own.
no_service() {
    if [[ " ${missing_for_some[*]} " == *" prometheus "* ]] && [ -d /run/systemd/system ]; then
        systemctl disable --now prometheus >>"$log" 2>&1 || true
    fi
}
install "${missing_for_some[@]}" ||
    echo "deps: could not install ${missing_for_some[*]}; some tests will be skipped" >&2
no_service
