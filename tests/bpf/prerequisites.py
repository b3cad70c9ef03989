# SPDX-License-Identifier: MIT
"""B22: what of the kernel is needed, and that a thing that's missing is called by its name.

usage: prerequisites.py OBJECT...   (BPF objects, whose helpers are listed)
"""
import os
import re
import shutil
import subprocess
import sys

from agent import Player
from graph import BIN
from require import require, skip

PUBLISHER = 1
UPROBES = "/sys/bus/event_source/devices/uprobe/type"
# By number, of include/uapi/linux/bpf.h. Of those that read memory, only user memory may be read.
HELPERS = {
    1: "map_lookup_elem", 2: "map_update_elem", 3: "map_delete_elem", 5: "ktime_get_ns",
    8: "get_smp_processor_id", 14: "get_current_pid_tgid", 35: "get_current_task",
    87: "map_push_elem", 88: "map_pop_elem",
    112: "probe_read_user", 114: "probe_read_user_str", 120: "get_ns_current_pid_tgid",
    158: "get_current_task_btf", 174: "get_attach_cookie", 175: "task_pt_regs",
    195: "map_lookup_percpu_elem",
}


def attach(player, hidden):
    """ezprof-bpf --once in a mount namespace where `hidden` is an empty file system."""
    script = 'mount -t tmpfs none "$1" && shift && exec "$@"'
    return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", hidden,
                           os.path.join(BIN, "ezprof-bpf"), "attach", str(player.pid), "--once",
                           "--window", "0.2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)


def one_line_of(result):
    """The complaint, without the program's name."""
    lines = [line for line in result.stderr.splitlines() if "libbpf" in line or "/sys" in line]
    assert result.returncode == 1 and len(lines) == 1, (result.returncode, result.stderr)
    return lines[0]


def hidden_sys():
    with Player() as player:
        player.do("open", PUBLISHER, 32)
        # No type information of the kernel is used, so it may be missing.
        result = attach(player, "/sys/kernel")
        assert result.returncode == 0, result.stderr
        assert "cannot read /sys/devices/system/cpu/possible" in one_line_of(attach(player, "/sys"))
        result = attach(player, "/sys/bus")
        if "by uprobe_multi" in result.stderr:
            assert result.returncode == 0, result.stderr
        else:
            assert UPROBES in one_line_of(result)


def helpers_of(path):
    text = subprocess.run([shutil.which("llvm-objdump") or "llvm-objdump-14", "-d", path],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    # Calls of functions of our own carry a relocation and no number.
    return {int(n) for n in re.findall(r"\bcall (\d+)$", text, re.M)}


def only_user_memory(objects):
    if not (shutil.which("llvm-objdump") or shutil.which("llvm-objdump-14")):
        skip("no llvm-objdump (Debian package llvm)", "EZPROF_REQUIRE_BPF")
    for path in objects:
        used = helpers_of(path)
        assert used, path
        names = [HELPERS.get(n, str(n)) for n in sorted(used)]
        print(f"{os.path.basename(path)}: {', '.join(names)}")
        assert used <= HELPERS.keys(), names


def main():
    require("bpf")
    hidden_sys()
    if not os.environ.get("EZPROF_TEST_EMULATED"):  # no matter of the kernel; no tool for it there
        only_user_memory(sys.argv[1:])


sys.exit(main())
