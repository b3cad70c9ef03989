# SPDX-License-Identifier: MIT
"""A virtual machine with an old kernel, in software emulation: an initramfs of our programs with the
libraries that they need, and what its console says of the jobs that it runs.

/dev/kvm is not used: where it is there and doesn't work, QEMU hangs.
"""
import os
import re
import select
import shlex
import shutil
import signal
import stat
import subprocess
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
QEMU = "qemu-system-x86_64"
BUSYBOX = "/bin/busybox"


@dataclass
class Job:
    name: str
    seconds: int  # then it is killed
    command: list
    environment: dict


@dataclass
class Result:
    status: int
    seconds: int
    text: str


class Archive:
    """cpio in the "newc" format, which the kernel unpacks as its first file system."""

    def __init__(self):
        self.parts = []
        self.names = set()

    def _entry(self, name, mode, data=b"", seconds=0, device=(0, 0)):
        name = name.lstrip("/")
        if name in self.names:
            return
        if "/" in name:
            self._entry(os.path.dirname(name), stat.S_IFDIR | 0o755)
        self.names.add(name)
        raw = name.encode() + b"\0"
        fields = (len(self.names), mode, 0, 0, 1, seconds, len(data), 0, 0, *device, len(raw), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + raw
        self.parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]

    def text(self, name, text, executable=False):
        self._entry(name, stat.S_IFREG | (0o755 if executable else 0o644), text.encode())

    def console(self):
        """What the kernel opens as the first process's stdout."""
        self._entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))

    def file(self, path):
        """A file of this machine, in the same place; Python wants the times of its caches kept."""
        with open(path, "rb") as source:
            data = source.read()
            status = os.fstat(source.fileno())
        mode = 0o755 if status.st_mode & 0o100 else 0o644
        self._entry(path, stat.S_IFREG | mode, data, int(status.st_mtime))

    def program(self, path):
        """The libraries that it is linked with come along."""
        self.file(path)
        out = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True).stdout
        for library in re.findall(r"(?:=>|^)\s*(/\S+) \(0x", out, re.M):
            self.file(library)

    def tree(self, folder, without=()):
        for path, folders, files in os.walk(folder):
            folders[:] = [f for f in folders if f not in without and not f.startswith("config-")]
            for name in files:
                self.file(os.path.join(path, name))

    def write(self, path):
        self._entry("TRAILER!!!", 0)
        with open(path, "wb") as target:
            target.write(b"".join(self.parts))


def missing(kernel):
    """Why no guest can be started here, or None."""
    if os.uname().machine != "x86_64":
        return f"the guest is x86-64, and this machine is {os.uname().machine}"
    if not shutil.which(QEMU):
        return f"no {QEMU} (Debian package qemu-system-x86)"
    if not os.path.exists(BUSYBOX):
        return f"no {BUSYBOX} (Debian package busybox)"
    if os.path.exists(kernel):
        return None
    try:
        with open(os.path.dirname(kernel) + ".reason", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return "no old kernel; scripts/old-kernel.sh fetches one"


def script_of(job):
    lines = [f"export {key}={shlex.quote(value)}" for key, value in job.environment.items()]
    return "\n".join(["#!/bin/sh", *lines, "exec " + shlex.join(job.command), ""])


def start_archive(jobs):
    """An archive with init and the jobs; what they run is the caller's to add."""
    archive = Archive()
    archive.console()
    archive.program(BUSYBOX)
    with open(os.path.join(HERE, "init.sh"), encoding="utf-8") as file:
        archive.text("init", file.read(), executable=True)
    archive.text("etc/passwd", "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    archive.text("jobs", "".join(f"{job.name} {job.seconds}\n" for job in jobs))
    for job in jobs:
        archive.text(f"job/{job.name}", script_of(job), executable=True)
    return archive


def console(process, seconds, echo):
    """The console's text until the machine ends or the time is over."""
    end = time.monotonic() + seconds
    data = b""
    while time.monotonic() < end:
        ready, _, _ = select.select([process.stdout], [], [], 1)
        if not ready:
            continue
        part = os.read(process.stdout.fileno(), 65536)
        if not part:
            return data.decode(errors="replace").replace("\r", ""), True
        echo(part.decode(errors="replace").replace("\r", ""))
        data += part
    return data.decode(errors="replace").replace("\r", ""), False


def boot(kernel, initrd, seconds, smp="2", memory="2G", append="", echo=lambda text: None):
    """Runs the machine to its end; (console's text, whether it ended by itself)."""
    command = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", smp, "-m", memory,
               "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio", "-kernel", kernel,
               "-initrd", initrd, "-append",
               f"console=ttyS0 quiet panic=-1 oops=panic mitigations=off nokaslr {append}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    # A time limit of ctest ends us by SIGTERM or not at all: the machine must not outlive us.
    signal.signal(signal.SIGTERM, lambda *_: (process.kill(), os._exit(1)))
    try:
        return console(process, seconds, echo)
    finally:
        process.kill()
        process.wait()


def results(text):
    """{name: Result} of the jobs that ended."""
    pattern = r"^@@ start (\S+)\n(.*?)^@@ end \1 (\d+) (\d+)$"
    return {m[1]: Result(int(m[3]), int(m[4]), m[2])
            for m in re.finditer(pattern, text, re.M | re.S)}
