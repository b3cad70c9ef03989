# SPDX-License-Identifier: MIT
"""Runs a program with probes, an agent beside it, and asks for the document."""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from preload import preloaded

BIN = Path(os.environ["EZPROF_BIN_DIR"])
HERE = Path(__file__).resolve().parent


def eventually(condition, seconds=20.0, what="condition"):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not come true in {seconds} s"
        time.sleep(0.02)
    return value


def environment(probes=True, **more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("EZMSG_", "EZPROF_USDT", "EZPROF_SEAMS", "PYTHONPATH"))}
    if probes:
        env["EZPROF_USDT"] = "1"
    return preloaded(env | more)


def descendants(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            found += [int(child), *descendants(int(child))]
    return found


def has_probes(pid):
    try:
        return "/ezmsg_usdt/_ext" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def segments(group):
    """Shared memory of ezmsg that processes of the group have mapped."""
    found = set()
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(proc.name)) == group:
                found |= set(re.findall(r"/dev/shm/psm_\w+", (proc / "maps").read_text()))
        except OSError:
            continue
    return found


class Program:
    """A Python program in a folder of its own; ended and removed at the end of the with block."""

    def __init__(self, python, *arguments, probes=True, **env):
        self.folder = Path(tempfile.mkdtemp(prefix="ezprof-python-"))
        self.log = open(self.folder / "log", "w+")
        arguments = [str(self.folder) if a == "FOLDER" else str(a) for a in arguments]
        self.process = subprocess.Popen(
            [python, *arguments], cwd=self.folder, env=environment(probes, **env),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.pid = self.process.pid

    def text(self):
        return (self.folder / "log").read_text()

    def touch(self, name):
        (self.folder / name).touch()

    def wait_for(self, name, seconds=30.0):
        def there():
            assert self.process.poll() is None or (self.folder / name).exists(), \
                f"the program ended with {self.process.returncode}:\n{self.text()[-2000:]}"
            return (self.folder / name).exists()
        eventually(there, seconds, f"file {name}")

    def facts(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def pids(self):
        """The program's processes that have probes."""
        return [pid for pid in (self.pid, *descendants(self.pid)) if has_probes(pid)]

    def finish(self, seconds=30.0):
        self.touch("stop")
        code = self.process.wait(seconds)
        assert code == 0, f"exit status {code}:\n{self.text()[-2000:]}"

    def _end(self):
        """As Ctrl-C does; by force where that isn't enough, and then nothing may stay."""
        mapped = segments(self.pid)
        os.killpg(self.pid, signal.SIGINT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            mapped |= segments(self.pid)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for path in mapped:
            Path(path).unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self._end()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Agent:
    def __init__(self, *pids):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [BIN / "ezprof-bpf", "attach", *map(str, pids)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.log)

        def ready():
            assert self.process.poll() is None, self.text()
            return "ezprof-bpf: ready" in self.text()
        eventually(ready, what="the agent")
        found = re.search(r"graph server ([\d.]+:\d+)", self.text())
        self.address = found.group(1) if found else None

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def profile(self, window=2.0, address=None):
        done = subprocess.run(
            [BIN / "ezprof", "profile", "--address", address or self.address, "--window",
             str(window)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (done.returncode, done.stderr, self.text())
        return Document(json.loads(done.stdout))

    def stop(self, how=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)
        self.log.close()


class Document:
    def __init__(self, data):
        self.data = data
        self.publishers = {p["topic"]: p for p in data["publishers"]}
        self.subscribers = {}
        for channel in data["channels"]:
            for s in channel["subscribers"]:
                self.subscribers.setdefault((s["topic"], channel["topic"]), s)
        self.tasks = {t["task"]: t for a in data["agents"] for t in a["tasks"]}

    def subscriber(self, topic):
        found = [s for (own, _), s in self.subscribers.items() if own == topic]
        assert len(found) == 1, (topic, list(self.subscribers))
        return found[0]


def own_sockets():
    """A /run/ezprof of our own: other agents on the machine are none of these tests' business."""
    clone_newns, ms_rec_private = 0x20000, 0x4000 | 0x40000
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs("/run/ezprof", exist_ok=True)
    for failed in (libc.unshare(clone_newns),
                   libc.mount(b"none", b"/", None, ms_rec_private, None),
                   libc.mount(b"tmpfs", b"/run/ezprof", b"tmpfs", 0, b"mode=755")):
        assert not failed, os.strerror(ctypes.get_errno())


def own_shm():
    """A /dev/shm of our own, after own_sockets(): what is left there is ours."""
    failed = ctypes.CDLL(None, use_errno=True).mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0,
                                                     b"mode=1777")
    assert not failed, os.strerror(ctypes.get_errno())


def run_tests(tests):
    """Each function whose name is given as an argument, or all; one line each."""
    own_sockets()
    wanted = sys.argv[1:]
    failed = 0
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        try:
            test()
            print(f"ok   {test.__name__}", flush=True)
        except AssertionError as error:
            failed += 1
            import traceback
            traceback.print_exc()
            print(f"FAIL {test.__name__}: {str(error)[:2000]}", flush=True)
    return 1 if failed else 0
