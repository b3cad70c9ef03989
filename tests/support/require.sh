# SPDX-License-Identifier: MIT
# For tests in shell:   . "$EZPROF_SOURCE_DIR/tests/support/require.sh"; require bpf interop

require() {
    "$EZPROF_TEST_BIN_DIR/require" "$@" || exit $?
}

# skip REASON [VARIABLE]: failed instead where the variable is 1
skip() {
    require skip "$@"
}
