#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/old-kernel.sh FOLDER: Debian 12's stock cloud kernel, unpacked from its package and not
# installed; done once. FOLDER/vmlinuz is the kernel. Where that fails, FOLDER.reason says why, for
# the tests that are then skipped; the exit status is 0.
set -eu
folder=$1
meta=linux-image-cloud-amd64

if [ -e "$folder/vmlinuz" ]; then
    exit 0
fi
rm -rf "$folder" "$folder.reason"
mkdir -p "$folder.new"
trap 'rm -rf "$folder.new"' EXIT

give_up() {
    echo "no kernel from $meta: $*" >"$folder.reason"
    cat "$folder.reason" >&2
    exit 0
}

command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || give_up "not a Debian system"
# What the meta package depends on today: linux-image-6.1.0-N-cloud-amd64. Package lists that are
# absent or old are fetched once.
find_package() {
    apt-cache depends --no-recommends --no-suggests "$meta" 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-6\.1\.[^ ]*\)$/\1/p' | head -n 1
}
package=$(find_package)
if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then
    apt-get -q update >"$folder.new/log" 2>&1 </dev/null || true
    package=$(find_package)
fi
[ -n "$package" ] || give_up "apt knows no such package for Linux 6.1"
echo "old-kernel: fetching $package" >&2
download() {
    (cd "$folder.new" && apt-get -q -o APT::Sandbox::User=root download "$package") \
        >"$folder.new/log" 2>&1 </dev/null
}
download || give_up "$(grep -E '^[EW]:' "$folder.new/log" | head -n 1)"
dpkg-deb --fsys-tarfile "$folder.new/$package"_*.deb |
    tar -x -C "$folder.new" --wildcards './boot/vmlinuz-*' './boot/config-*'
mv "$folder.new"/boot/vmlinuz-* "$folder.new/vmlinuz"
mv "$folder.new"/boot/config-* "$folder.new/config"
echo "$package" >"$folder.new/package"
rm -rf "$folder.new/boot" "$folder.new/log" "$folder.new"/*.deb
mv "$folder.new" "$folder"
