#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/format.sh [--check]: formats all C files of the tree in place, or says which would change.
set -eu
cd "$(dirname "$0")/.."
mode=(-i)
if [ "${1:-}" = --check ]; then
    mode=(--dry-run -Werror)
fi
# New files count too, before they are added.
git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    xargs -0 -r clang-format "${mode[@]}"
