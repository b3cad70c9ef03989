# SPDX-License-Identifier: MIT
# The formatter is a gate: scripts/format.sh would change nothing.
. "$EZPROF_SOURCE_DIR/tests/support/require.sh"
command -v clang-format >/dev/null || skip "clang-format is not installed"
cd "$EZPROF_SOURCE_DIR" || exit 1
git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout"
exec scripts/format.sh --check
