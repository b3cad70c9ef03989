# SPDX-License-Identifier: MIT
# pid_namespace.sh PROGRAM: runs a test in a pid namespace of its own, where processes have other
# numbers than BPF sees by default.
. "$EZPROF_SOURCE_DIR/tests/support/require.sh"

require bpf
unshare --pid --fork --mount-proc true || skip "no right to make a pid namespace" EZPROF_REQUIRE_BPF
exec unshare --pid --fork --mount-proc "$1"
