# SPDX-License-Identifier: MIT
"""The package's programs where libc is and nothing else."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = ("ezprof", "ezprof-bpf", "ezprof-graphserver")
# libc's own, with its loader for either machine.
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def libraries_of(path):
    """The names of the shared libraries that the file asks for."""
    listed = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", listed))


def check_libc_only(folder):
    """Every program of the package is in the folder, and asks for nothing else."""
    for name in PROGRAMS:
        others = libraries_of(Path(folder, name)) - LIBC
        assert not others, (name, others)


def check_speaks(*command):
    for option, wanted in (("--version", r"^ezprof\S* \d+\.\d+"), ("--help", r"^[Uu]sage: ezprof")):
        done = subprocess.run([*command, option], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, option, done)
        assert re.search(wanted, done.stdout), (command, option, done)


def check_in_bare_root(folder):
    """The programs run where the root directory holds them and this machine's libc. Needs root."""
    with tempfile.TemporaryDirectory() as root:
        for name in PROGRAMS:
            shutil.copy(Path(folder, name), root)
            listed = subprocess.run(["ldd", Path(folder, name)], capture_output=True, text=True).stdout
            for path in re.findall(r"(/\S+) \(0x", listed):
                if Path(path).name in LIBC:
                    target = Path(root, path.lstrip("/"))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, target)
        for name in PROGRAMS:
            check_speaks("chroot", root, f"/{name}")
