# SPDX-License-Identifier: MIT
"""Runs the scripts of docs/bpftrace/ and reads what they print."""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

from elf_sites import semaphores
from graph import wait_until

FOLDER = Path(os.environ.get("EZPROF_SOURCE_DIR", Path(__file__).resolve().parents[2])) / "docs/bpftrace"
SETTLED = 50  # looks, of about 20 ms each
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.bt"))


def probes_of(name):
    """{probe: how many times it is attached}."""
    found = {}
    for probe in re.findall(r"^usdt:\$2:ezmsg:(\w+)", (FOLDER / f"{name}.bt").read_text(), re.M):
        found[probe] = found.get(probe, 0) + 1
    return found


class Script:
    """A script that runs: until it ends by itself (arguments: seconds...) or is interrupted."""

    def __init__(self, name, *arguments, pid=None):
        self.name, self.interrupted = name, False
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            ["bpftrace", *(["-p", str(pid)] if pid else []), str(FOLDER / f"{name}.bt"),
             *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def events(self):
        """How many perf events it holds; each attached probe is one."""
        folder = f"/proc/{self.process.pid}/fd"
        assert self.process.poll() is None, (self.name, self.process.returncode)
        found = 0
        for fd in os.listdir(folder):
            try:
                found += "perf_event" in os.readlink(os.path.join(folder, fd))
            except OSError:
                pass
        return found

    def interrupt(self):
        self.interrupted = True
        self.process.send_signal(signal.SIGINT)

    def finish(self, seconds=60):
        """What it printed. A complaint is a fault, and so is a line that bpftrace says it lost."""
        wait_until(self.ended, seconds, f"{self.name}.bt ends")
        status = self.process.returncode
        self.out.seek(0)
        self.err.seek(0)
        out, err = self.out.read(), self.err.read()
        assert status == 0, (self.name, status, err)
        assert "WARNING" not in err and "Lost" not in err + out, (self.name, err, out)
        return Output(self.name, out)

    def ended(self):
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            # bpftrace 0.17 heeds a signal only while it waits for events, not while it prints.
            if self.interrupted:
                self.process.send_signal(signal.SIGINT)
            return False
        return True

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Output:
    """What a script printed: `lines`, and its maps as lists, since some are printed each second."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.lines = text.splitlines()
        self.values = [(m[1], tuple(m[2].split(", ")), int(m[3])) for m in
                       re.finditer(r"^@(\w+)\[(.*)\]: (-?\d+)$", text, re.M)]

    def map(self, name):
        """{keys: value}; of what is printed each second, the last."""
        return {keys: value for map_name, keys, value in self.values if map_name == name}

    def all(self, name, *keys):
        """Every print of the entries of a map whose keys begin like that."""
        return [value for map_name, found, value in self.values
                if map_name == name and found[:len(keys)] == keys]

    def histogram(self, name, *keys):
        """{lower end of the bucket: count} of the one whose keys begin like that."""
        found = [m for m in re.finditer(r"^@(\w+)\[(.*)\]: ?\n((?:[\[(].*\n)+)", self.text + "\n", re.M)
                 if m[1] == name and tuple(m[2].split(", "))[:len(keys)] == keys]
        assert len(found) == 1, (self.name, name, keys, self.text)
        buckets = {}
        for m in re.finditer(r"^[\[(](\d+)([KM]?)[^)\]]*[)\]] +(\d+) \|", found[0][3], re.M):
            buckets[int(m[1]) * {"": 1, "K": 1024, "M": 1 << 20}[m[2]]] = int(m[3])
        assert buckets, (self.name, found[0][3])
        return buckets

    def mode(self, name, *keys):
        """Where most of a histogram lies."""
        buckets = self.histogram(name, *keys)
        return max(buckets, key=buckets.get)


def wait_until_listening(pid, scripts):
    """
    Until all scripts have attached all their probes. A semaphore says that somebody listens, not how
    many do; so each script's own events are counted, until there are enough, and no more come.
    """
    seen = []

    def settled():
        seen.append([script.events() for script in scripts])
        enough = all(now >= sum(probes_of(script.name).values()) for now, script in zip(seen[-1], scripts))
        return enough and len(seen) > SETTLED and all(s == seen[-1] for s in seen[-SETTLED:])

    wait_until(settled, 60, "all scripts are attached")
    values = semaphores(pid)
    assert all(values[probe] for script in scripts for probe in probes_of(script.name)), values


def run_all(scripts, pid, meanwhile, seconds=60):
    """Once all listen to that process, what happens meanwhile; then Ctrl-C: {name: Output}."""
    try:
        wait_until_listening(pid, scripts)
        meanwhile()
        for script in scripts:
            script.interrupt()
        return {script.name: script.finish(seconds) for script in scripts}
    finally:
        for script in scripts:
            script.kill()


def wait_until_left_alone(*pids):
    for pid in pids:
        wait_until(lambda: not any(semaphores(pid).values()), 30, "all semaphores read 0")
