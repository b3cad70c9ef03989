# SPDX-License-Identifier: MIT
"""B22: what of the kernel is needed, and that a thing that's missing is called by its name."""
import os
import subprocess
import sys

from agent import Player
from graph import BIN, PATIENCE
from require import require

PUBLISHER = 1
UPROBES = "/sys/bus/event_source/devices/uprobe/type"


def attach(player, hidden):
    """ezprof-bpf --once in a mount namespace where `hidden` is an empty file system."""
    script = 'mount -t tmpfs none "$1" && shift && exec "$@"'
    return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", hidden,
                           os.path.join(BIN, "ezprof-bpf"), "attach", str(player.pid), "--once",
                           "--window", "0.2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60 * PATIENCE)


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


def main():
    require("bpf")
    hidden_sys()


sys.exit(main())
