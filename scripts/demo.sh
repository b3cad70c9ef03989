#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds, runs a graph of four processes on a free port, profiles it, names the slowest subscriber, and
# takes everything away again. On stdout: what `ezprof profile --window 2.0` answers. Needs root.
# EZPROF_BIN_DIR: programs that are built already. As installed (libexec/ezprof/demo.sh) it takes those
# that were installed with it, and builds nothing.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)

say() { echo "demo: $*" >&2; }
fail() {
    say "$*"
    exit 1
}
if [ "$(id -u)" -ne 0 ]; then
    say "attaching to probes needs root; type: sudo $0"
    exit 77
fi
bin=${EZPROF_BIN_DIR:-}
if [ -x "$here/ezmsg-node" ]; then
    bin=$(cd "$here/../../bin" && pwd)
elif [ -z "$bin" ]; then
    "$here/build.sh" dev
    bin=$here/../build/bin
fi
node=$bin/ezmsg-node
[ -x "$node" ] || node=$here/ezmsg-node
for tool in python3 bpftool; do
    command -v $tool >/dev/null || fail "$tool is missing; type: sudo apt-get install $tool"
done
work=$(mktemp -d)
declare -A pids=() # what runs: name -> pid

# At any exit, planned or not: nothing that was started here goes on.
clean_up() {
    local status=$? name
    # Before the server goes: that the nodes miss it then is no news.
    for name in "${!pids[@]}"; do
        [ ! -s "$work/$name.log" ] || [ "$status" -ge 128 ] || {
            say "$name (pid ${pids[$name]}), its last words:"
            tail -n 5 "$work/$name.log" >&2
        }
    done
    [ ${#pids[@]} -eq 0 ] || kill -TERM "${pids[@]}" 2>/dev/null || true
    for name in "${!pids[@]}"; do
        timeout 3 tail --pid="${pids[$name]}" -f /dev/null || kill -KILL "${pids[$name]}" 2>/dev/null || true
    done
    rm -rf "$work"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start NAME COMMAND...
start() {
    local name=$1
    shift
    "$@" </dev/null >"$work/$name.out" 2>"$work/$name.log" &
    pids[$name]=$!
}

# wait_for WHAT COMMAND...: until the command succeeds, at most 10 s
wait_for() {
    local what=$1 tries=0
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "waited in vain for $what"
        sleep 0.05
    done
}

ready_or_gone() { grep -q "$2" "$work/$1.out" "$work/$1.log" || gone "${pids[$1]}"; }

# wait_ready NAME TEXT: until one that was started has written that, and no longer than it lives
wait_ready() {
    local name=$1 status=0
    wait_for "$name" ready_or_gone "$name" "$2"
    gone "${pids[$name]}" || return 0
    wait "${pids[$name]}" || status=$?
    say "$name has ended; what it said:"
    cat "$work/$name.log" >&2
    unset "pids[$name]"
    exit "$status"
}

# stop NAME [SIGNAL]: ends a program and insists on a clean exit
stop() {
    local name=$1 pid=${pids[$1]} status=0
    kill -"${2:-TERM}" "$pid" 2>/dev/null || fail "$name had ended already"
    wait "$pid" || status=$?
    unset "pids[$name]"
    [ "$status" -eq 0 ] || {
        tail -n 5 "$work/$name.log" >&2
        fail "$name: exit status $status"
    }
}

gone() { ! kill -0 "$1" 2>/dev/null; }
program_gone() { ! bpftool prog show id "$1"; }

# A process's children are part of it: the agent's opener.
with_children() { echo "$1" && cat "/proc/$1/task/$1/children"; }

# The kernel objects that a process and its children hold, and the shared memory that processes map.
bpf_programs_of() {
    local pid
    for pid in $(with_children "$1"); do
        cat /proc/"$pid"/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p'
    done | sort -un
}
shm_files_of() {
    local pid
    for pid in "$@"; do
        sed -n 's|.* \(/dev/shm/[^ ]*\).*|\1|p' "/proc/$pid/maps"
    done | sort -u
}

say "a graph of four processes"
start server "$bin/ezprof" serve --address 127.0.0.1:0
wait_ready server '^127'
address=$(head -n 1 "$work/server.out")

# The source's monitor gets its messages within the process, the workers by shared memory, the sink by tcp.
start source "$node" source samples --address "$address" \
    --rate 250 --bytes 4096 --monitor --wait-channels 3
start worker-fast "$node" relay samples features/fast --address "$address" \
    --work-ms 0.5 --handle worker-fast --tcp
start worker-slow "$node" relay samples features/slow --address "$address" \
    --work-ms 5 --handle worker-slow --tcp
start sink "$node" sink features/fast features/slow --address "$address" --handle sink
nodes=(source worker-fast worker-slow sink)
node_pids=()
for node in "${nodes[@]}"; do
    wait_ready "$node" ready
    node_pids+=("${pids[$node]}")
done

say "ezprof-bpf attach ${node_pids[*]}"
start agent "$bin/ezprof-bpf" attach "${node_pids[@]}" --address "$address"
wait_ready agent ready
cat "$work/agent.log" >&2
# Raised now, so that reading 0 later means something.
! "$here/semaphores.py" "${node_pids[@]}" >/dev/null || fail "attached, and no semaphore is raised"
all_pids=("${node_pids[@]}" "${pids[server]}" $(with_children "${pids[agent]}"))
run_files=("/run/ezprof/agent-${pids[agent]}.sock" "/run/ezprof/server-${address##*:}")
programs=$(bpf_programs_of "${pids[agent]}")
shm_files=$(shm_files_of "${node_pids[@]}")
[ -n "$programs" ] || fail "the agent holds no BPF program"
[ -n "$shm_files" ] || fail "no shared memory in use"
sleep 2.2 # one whole window

say "ezprof profile --window 2.0"
"$bin/ezprof" profile --window 2.0 --address "$address" >"$work/profile.json"
cat "$work/profile.json"
say "ezprof why"
COLUMNS=100 "$bin/ezprof" why "$work/profile.json" >&2

# The agent goes first, so that its targets, still alive, can show that nobody listens any more.
stop agent
wait_for "the semaphores to fall" "$here/semaphores.py" "${node_pids[@]}"
for node in source worker-fast worker-slow sink; do
    stop "$node"
done
stop server

for program in $programs; do
    wait_for "BPF program $program to go" program_gone "$program"
done
for pid in "${all_pids[@]}"; do
    wait_for "process $pid to go" gone "$pid"
done
for file in $shm_files "${run_files[@]}"; do
    [ ! -e "$file" ] || fail "$file was left behind"
done
say "stopped: all semaphores read 0 before the targets ended; no process, shared memory or BPF program is left"
