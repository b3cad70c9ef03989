# SPDX-License-Identifier: MIT
"""B19: the missing right is named in four lines, exit status 77; what isn't needed isn't asked for."""

import os
import subprocess

from agent import Player, command
from graph import BIN
from require import require

PROGRAM = os.path.join(BIN, "ezprof-bpf")
CASES = {
    "nobody": ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
    "without CAP_BPF": ["setpriv", "--bounding-set=-bpf,-sys_admin"],
    "without CAP_PERFMON": ["setpriv", "--bounding-set=-perfmon,-sys_admin"],
}


def refused(name, prefix, player):
    result = subprocess.run([*prefix, PROGRAM, "attach", str(player.pid), "--once", "--window", "0.2"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 77, (name, result.returncode, result.stderr)
    lines = [line.strip() for line in result.stderr.splitlines()]
    for start in ("why: ", "now: ", "for good: "):
        found = [line for line in lines if line.startswith(start)]
        assert len(found) == 1 and len(found[0]) > len(start), (name, start, result.stderr)
    assert "memlock" not in result.stderr.lower(), (name, result.stderr)
    assert result.stdout == ""
    return result.stderr


def main():
    require("bpf")
    with Player() as player:
        player.do("open", 1, 8)
        for name, prefix in CASES.items():
            text = refused(name, prefix, player)
            print(f"{name}:\n{text}")
            if name.startswith("without"):
                assert name.split()[1] in text, text
        limited = ["prlimit", f"--memlock={8 << 20}:{8 << 20}", "setpriv",
                   "--bounding-set=-sys_resource"]
        result = subprocess.run([*limited, PROGRAM, "attach", str(player.pid), "--once", "--window",
                                 "0.2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, timeout=60)
        assert result.returncode == 0, result.stderr
    assert command("ezprof-bpf", "attach", "--help").returncode == 0


main()
