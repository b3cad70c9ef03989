# SPDX-License-Identifier: MIT
"""Hosts of their own on one machine: a network and a host name each, and folders that others don't see."""

import os
import subprocess

from graph import Program, end_all
from require import skip

NAMESPACES = ("--net", "--uts", "--mount")
SETUP = """
hostname "$1"; shift
for folder; do
    # Where the checkout lies in it, that stays.
    case "$EZPROF_SOURCE_DIR" in
    "$folder"/*)
        mount --bind "$EZPROF_SOURCE_DIR" /mnt
        mount -t tmpfs tmpfs "$folder"
        mkdir -p "$EZPROF_SOURCE_DIR"
        mount --bind /mnt "$EZPROF_SOURCE_DIR" ;;
    *) mount -t tmpfs tmpfs "$folder" ;;
    esac
done
ip link set lo up
echo $$
exec cat
"""


def require_namespaces():
    if subprocess.run(["unshare", *NAMESPACES, "true"], stderr=subprocess.DEVNULL).returncode:
        skip("no right to make namespaces", "EZPROF_REQUIRE_BPF")


class Host:
    """A context: what is started in there ends with it. Own folders are empty at first; others are those of beside."""

    def __init__(self, name, address, own_folders=(), beside=None):
        self.name, self.address, self.programs = name, address, []
        enter = [*beside.wrapper[:3], "--mount"] if beside else []
        self.holder = subprocess.Popen([*enter, "unshare", *NAMESPACES, "sh", "-ec", SETUP, "sh", name, *own_folders],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.wrapper = ["nsenter", "--target", self.holder.stdout.readline().strip(), *NAMESPACES]

    def run(self, *command):
        subprocess.run([*self.wrapper, *command], check=True, stdin=subprocess.DEVNULL)

    def output(self, name, *arguments, env=None):
        """Of one of our programs, when it has ended: the finished process."""
        path = os.path.join(os.environ["EZPROF_BIN_DIR"], name)
        return subprocess.run([*self.wrapper, path, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              env={**os.environ, **(env or {})})

    def start(self, name, *arguments, env=None):
        path = os.path.join(os.environ["EZPROF_BIN_DIR"], name)
        program = Program([*self.wrapper, path, *map(str, arguments)], env)
        self.programs.append(program)
        return program

    def cable(self, state):
        self.run("ip", "link", "set", "lan", state)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_all(self.programs)
        self.holder.communicate()


def connect(one, other):
    subprocess.run(["ip", "link", "add", "lan", "netns", one.wrapper[2], "type", "veth",
                    "peer", "name", "lan", "netns", other.wrapper[2]], check=True)
    for host in (one, other):
        host.run("ip", "address", "add", f"{host.address}/24", "dev", "lan")
        host.cable("up")
