# SPDX-License-Identifier: MIT
"""B19: the missing right is named in four lines, exit status 77; what isn't needed isn't asked for."""

import ctypes
import os
import struct
import subprocess

from agent import Player, command
from graph import BIN, PATIENCE
from require import require

PROGRAM = os.path.join(BIN, "ezprof-bpf")
CASES = {
    "nobody": ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
    "without CAP_BPF": ["setpriv", "--bounding-set=-bpf,-sys_admin"],
    "without CAP_PERFMON": ["setpriv", "--bounding-set=-perfmon,-sys_admin"],
}


# struct sock_filter: load the system call's number; if it is that one: "not permitted"; else go on.
LOAD, EQUAL, RETURN, NOT_PERMITTED, ALLOW = 0x20, 0x15, 0x06, 0x00050001, 0x7FFF0000
NUMBERS = {"x86_64": {"bpf": 321}, "aarch64": {"bpf": 280}}


def refuse_call(name):
    """A seccomp filter, as containers have it; for the child, before it executes."""
    number = NUMBERS[os.uname().machine][name]
    code = b"".join(struct.pack("<HBBI", *line) for line in (
        (LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RETURN, 0, 0, NOT_PERMITTED), (RETURN, 0, 0, ALLOW)))
    buffer = ctypes.create_string_buffer(code)
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(buffer)))
        # PR_SET_SECCOMP, SECCOMP_MODE_FILTER; root needs no PR_SET_NO_NEW_PRIVS.
        if libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0):
            os._exit(99)
    return install


def refused(name, prefix, player, before=None):
    result = subprocess.run([*prefix, PROGRAM, "attach", str(player.pid), "--once", "--window", "0.2"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=60 * PATIENCE, preexec_fn=before)
    assert result.returncode == 77, (name, result.returncode, result.stderr)
    lines = [line.strip() for line in result.stderr.splitlines()]
    for start in ("why: ", "now: ", "for good: "):
        found = [line for line in lines if line.startswith(start)]
        assert len(found) == 1 and len(found[0]) > len(start), (name, start, result.stderr)
    assert "memlock" not in result.stderr.lower(), (name, result.stderr)
    assert result.stdout == ""
    return result.stderr


def inside(apart):
    """Agent and process in one user namespace: it may look into it, and still not load BPF."""
    with Player(*apart) as player:
        player.do("open", 1, 8)
        text = refused("user namespace, both inside", ["nsenter", f"--target={player.pid}", "--user"], player)
        assert "BPF wants them outside" in text, text


def main():
    require("bpf")
    with Player() as player:
        player.do("open", 1, 8)
        for name, prefix in CASES.items():
            text = refused(name, prefix, player)
            print(f"{name}:\n{text}")
            if name.startswith("without"):
                assert name.split()[1] in text, text
                # Not even root can have it: sudo and setcap bring nothing.
                right = name.split("_")[1]
                assert f"for good: start the container with --cap-add {right} (a systemd" in text, text
                assert "now: run it on the host" in text and "sudo" not in text, text
        text = refused("seccomp", [], player, refuse_call("bpf"))
        print(f"seccomp:\n{text}")
        assert "a seccomp filter is in force" in text, text
        apart = ["unshare", "--user", "--map-root-user"]
        if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL).returncode:
            print("no user namespace can be made here")
        else:
            text = refused("user namespace, process outside", apart, player)
            print(f"user namespace:\n{text}")
            assert "inside of this user namespace" in text, text
            inside(apart)
        limited = ["prlimit", f"--memlock={8 << 20}:{8 << 20}", "setpriv",
                   "--bounding-set=-sys_resource"]
        result = subprocess.run([*limited, PROGRAM, "attach", str(player.pid), "--once", "--window",
                                 "0.2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, timeout=60 * PATIENCE)
        assert result.returncode == 0, result.stderr
    assert command("ezprof-bpf", "attach", "--help").returncode == 0


main()
