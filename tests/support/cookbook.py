# SPDX-License-Identifier: MIT
"""Runs the scripts of docs/bpftrace/ and reads what they print."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from elf_sites import semaphores
from graph import wait_until
from require import require, skip

FOLDER = Path(os.environ.get("EZPROF_SOURCE_DIR", Path(__file__).resolve().parents[2])) / "docs/bpftrace"
REPORTS = 7
SETTLED = 50  # looks, of about 20 ms each
EACH_SECOND = r"^now is \d+ ms|^\d\d:\d\d:\d\d .*last second"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.bt"))


def probes_of(text):
    """Which it attaches to, one of them perhaps several times."""
    return re.findall(r"^usdt:\$2:ezmsg:(\w+)", text, re.M)


def edited(name, edits):
    """The script's text, with each (old, new) in place of the first that there is."""
    text = (FOLDER / f"{name}.bt").read_text()
    for old, new in edits:
        assert old in text, (name, old)
        text = text.replace(old, new, 1)
    return text


class Script:
    """
    A script that runs: until it ends by itself (arguments: seconds...) or is interrupted. `edits`: not
    as it stands, see edited(). `label`: what it is called among others of that name.
    """

    def __init__(self, name, *arguments, pid=None, edits=(), label=None):
        self.name, self.label, self.interrupted = name, label or name, False
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        text = edited(name, edits)
        self.probes = probes_of(text)
        self.source = tempfile.NamedTemporaryFile("w+", suffix=".bt")
        self.source.write(text)
        self.source.flush()
        self.process = subprocess.Popen(
            ["bpftrace", *(["-p", str(pid)] if pid else []),
             self.source.name if edits else str(FOLDER / f"{name}.bt"), *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def reports(self):
        """How many times it has printed what it does each second."""
        text = os.pread(self.out.fileno(), 1 << 24, 0).decode()
        return len(re.findall(EACH_SECOND, text, re.M))

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


def buckets_of(lines):
    """{lower end: count}: (..., 0) is -1."""
    found = {}
    for m in re.finditer(r"^(?:[\[](\d+)([KMG]?)|\(\.\.\.)[^)\]]*[)\]] +(\d+) \|", lines, re.M):
        lower = int(m[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]] if m[1] else -1
        found[lower] = int(m[3])
    assert len(found) == lines.count("\n"), lines
    return found


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
        found = [buckets for found, buckets in self.histograms(name).items() if found[:len(keys)] == keys]
        assert len(found) == 1, (self.name, name, keys, self.text)
        return found[0]

    def histograms(self, name):
        """{keys: {lower end of the bucket: count}}."""
        return {tuple(m[2].split(", ")): buckets_of(m[3]) for m in
                re.finditer(r"^@(\w+)\[(.*)\]: ?\n((?:[\[(].*\n)+)", self.text + "\n", re.M) if m[1] == name}

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
        enough = all(now >= len(script.probes) for now, script in zip(seen[-1], scripts))
        return enough and len(seen) > SETTLED and all(s == seen[-1] for s in seen[-SETTLED:])

    wait_until(settled, 60, "all scripts are attached")
    values = semaphores(pid)
    assert all(values[probe] for script in scripts for probe in script.probes), values


def wait_for_reports(scripts):
    """Until what came last is in what is printed each second, and that has been enough to see that it is each second."""
    for script, count in [(s, max(s.reports() + 2, REPORTS)) for s in scripts if s.reports()]:
        wait_until(lambda: script.reports() >= count, 30, f"{script.label}.bt goes on")


def run_all(scripts, pid, meanwhile, seconds=60):
    """Once all listen to that process, what happens meanwhile; then Ctrl-C: {name: Output}."""
    try:
        wait_until_listening(pid, scripts)
        meanwhile()
        for script in scripts:
            script.interrupt()
        return {script.label: script.finish(seconds) for script in scripts}
    finally:
        for script in scripts:
            script.kill()


def require_bpftrace(*names):
    require(*names)
    if not shutil.which("bpftrace"):
        skip("bpftrace is not installed", "EZPROF_REQUIRE_BPF")


def wait_until_left_alone(*pids):
    for pid in pids:
        wait_until(lambda: not any(semaphores(pid).values()), 30, "all semaphores read 0")
