# SPDX-License-Identifier: MIT
"""Every command, however it is cut short: readers that go, full disks, closed streams, signals,
terminals of any size.

EZPROF_FULL=1: 60 signals at each command line instead of a few.
"""
import fcntl
import glob
import itertools
import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor

from agent import Agent, bpf_programs
from command_lines import lines
from graph import Graph, wait_until
from graph_client import CONNECT, Link, string
from recording import Recorder
from require import require

DOCUMENT = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "why_chain.json")
SIGNALS = 60 if os.environ.get("EZPROF_FULL") else 5
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
FULL_DISK = "No space left"
# "It worked" in all its shades; a rule broken; nothing there; partial.
FINE = (0, 3, 4, 5)
SECONDS = 60


def run(words, out=subprocess.PIPE, err=subprocess.PIPE, env=None, **keywords):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=SECONDS,
                          env={**os.environ, **(env or {})}, **keywords)


def text_of(done):
    return (done.stdout or b"").decode(), (done.stderr or b"").decode()


def key_of(words):
    """The same for each round of a command line."""
    return tuple(re.sub(r"/out\d+", "/out", word) for word in words)


class Endings:
    """The stories, for all command lines of a program."""

    def __init__(self, program, folder, chosen=lambda line: True, **values):
        self.chosen = chosen
        self.folder, self.numbers = folder, itertools.count()
        self.program, self.values = program, values
        self.took, self.prints = {}, {}

    def lines(self):
        """With a new name for what is written, each time."""
        return [[word.replace("{O}", os.path.join(self.folder, f"out{next(self.numbers)}")) for word in line]
                for line in lines(self.program, F=DOCUMENT, O="{O}", **self.values) if self.chosen(line)]

    def each(self, story, at_once=3):
        with ThreadPoolExecutor(at_once) as pool:
            for _ in pool.map(story, self.lines()):
                pass

    def as_it_should(self, words):
        begin = time.monotonic()
        done = run(words)
        self.took[key_of(words)] = time.monotonic() - begin
        self.prints[key_of(words)] = bool(done.stdout)
        assert done.returncode in FINE, (words, done)
        assert b"\x1b" not in done.stdout, (words, done.stdout)

    def gone_reader(self, words):
        """Before the first byte."""
        read, write = os.pipe()
        os.close(read)
        done = run(words, out=write)
        os.close(write)
        assert done.returncode in FINE and b"annot write" not in done.stderr, (words, done)

    def leaving_reader(self, words):
        """ezprof X | head -c 1"""
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as program:
            os.read(program.stdout.fileno(), 1)
            program.stdout.close()
            errors = program.stderr.read()
            assert program.wait(SECONDS) in FINE and b"annot write" not in errors, (words, errors)

    def full_disk(self, words):
        with open("/dev/full", "w") as full:
            done = run(words, out=full)
        _, errors = text_of(done)
        if self.prints[key_of(words)]:
            assert done.returncode == 1 and errors.count(FULL_DISK) == 1, (words, done)

    def closed_streams(self, words):
        for number in (0, 1, 2):
            done = run(["sh", "-c", f'exec "$@" {number}{"<" if number == 0 else ">"}&-', "sh", *words])
            expected = (1,) if number == 1 and self.prints[key_of(words)] else FINE
            assert done.returncode in expected, (words, number, done)

    def plain_places(self, words):
        """No colour, no cursor, and the same words, whatever the environment says of terminals."""
        if words[1] not in ("why", "check", "diff", "explain", "profile") or "--address" in words:
            return
        plain = run(words).stdout
        for env in ({"LANG": "C", "LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8"}, {"NO_COLOR": "1"},
                    {"TERM": "dumb"}, {"TERM": ""}):
            assert run(words, env=env).stdout == plain, (words, env)

    def signalled(self, words):
        chance = random.Random(f"{SEED} {words[1:]}")
        took = self.took[key_of(words)]
        for number in range(SIGNALS):
            signum = (signal.SIGINT, signal.SIGTERM)[number % 2]
            # Another name each time: what the last one left is no excuse.
            mine = [re.sub(r"/out(\d+)", lambda m: f"/out{m[1]}-{number}", word) for word in words]
            with subprocess.Popen(mine, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as program:
                time.sleep(chance.uniform(0, 1.1 * took))
                program.send_signal(signum)
                _, errors = program.communicate(timeout=SECONDS)
                status = program.returncode
            assert status in (*FINE, -signum) or (status == 1 and "nothing is recorded" in errors), \
                (mine, signum, status, errors)
            self.check_files(mine, status)

    def check_files(self, words, status):
        """Nothing that looks whole and isn't; nothing half."""
        for word in words:
            if "/out" not in word:
                continue
            assert not glob.glob(word + ".*"), (word, status, glob.glob(word + ".*"))
            if not os.path.exists(word):
                assert status not in (0, 5), (word, status)
                continue
            with open(word, "rb") as file:
                content = file.read()
            if word.endswith(".json"):
                assert content.rstrip().endswith(b"}"), (word, content[-80:])
            assert content, word

    def terminals(self, words):
        """A terminal that is hardly one: the command ends, leaves its modes alone, draws nothing else."""
        for rows, columns in ((5, 20), (1, 1), (0, 0)):
            status, text, same = on_terminal(words, rows, columns)
            refused = status == 2 and "not for a terminal" in text
            assert status in FINE or refused, (words, rows, columns, status, text[-500:])
            assert same, (words, "the terminal's modes have changed")
            assert "\x1b" not in text or words[1] == "top", (words, text[:200])


def on_terminal(words, rows, columns):
    """(exit status, what came, whether the terminal's modes are as before)"""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    before = termios.tcgetattr(follower)
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    with subprocess.Popen(words, stdin=follower, stdout=follower, stderr=follower, env=env,
                          start_new_session=True) as program:
        text, end = b"", time.monotonic() + SECONDS
        while time.monotonic() < end:
            if select.select([leader], [], [], 0.02)[0]:
                text += os.read(leader, 65536)
            elif program.poll() is not None:
                break
        status = program.wait(5)
    after = termios.tcgetattr(follower)
    os.close(follower)
    os.close(leader)
    return status, text.decode(errors="replace"), before == after


STORIES = ("as_it_should", "gone_reader", "leaving_reader", "full_disk", "closed_streams", "plain_places",
           "terminals", "signalled")


def small_disk(folder, address):
    """A file that doesn't fit: said, status 1, and nothing that looks like one."""
    place = os.path.join(folder, "small")
    ezprof = os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof")
    os.mkdir(place)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", place], check=True)
    try:
        for name, words in (
                ("a.pftrace", ("record", "--address", address, "--duration", "0.5", "-o")),
                ("a.json", ("record", "--address", address, "--duration", "0.5", "-o")),
                ("a.html", ("report", "--from", DOCUMENT, "-o")),
                ("a.prom", ("export", "--address", address, "--window", "0.3", "--textfile"))):
            done = run([ezprof, *words, os.path.join(place, name)])
            assert done.returncode == 1 and FULL_DISK.encode() in done.stderr, done
            assert os.listdir(place) == [], os.listdir(place)
    finally:
        subprocess.run(["umount", place], check=True)


def hung_agent(folder, address, agent):
    """Who asks twice doesn't wait for it; what came until then is written, and said to be partial."""
    path = os.path.join(folder, "hung.json")
    with Recorder("--address", address, "-o", path) as recorder:
        time.sleep(0.5)
        os.kill(agent.pid, signal.SIGSTOP)
        try:
            recorder.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert recorder.process.poll() is None, recorder.stderr()
            begin = time.monotonic()
            status, _ = recorder.end(signal.SIGINT)
        finally:
            os.kill(agent.pid, signal.SIGCONT)
    assert status == 5 and time.monotonic() - begin < 20, (status, recorder.stderr())
    with open(path, encoding="utf-8") as file:
        assert json.load(file)["traceEvents"]


def left_programs(before):
    """Ids of programs that are new since and that no program of another build holds."""
    new, others = bpf_programs() - before, set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").startswith(os.environ["EZPROF_BIN_DIR"] + "/"):
                continue
            for fd in os.listdir(f"/proc/{pid}/fdinfo"):
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as file:
                    others |= set(map(int, re.findall(r"^prog_id:\t(\d+)", file.read(), re.MULTILINE)))
        except OSError:
            continue
    return new - others


def main():
    measured = sys.argv[1] == "measured"
    print(f"seed {SEED}", flush=True)
    if measured:
        require("bpf")
    with Graph() as graph, tempfile.TemporaryDirectory() as folder:
        sink = graph.node("sink", "T", "--handle", "SINK")
        source = graph.node("source", "T", "--rate", 500, "--wait-channels", 1)
        with Link(graph.address) as link:
            link.send(CONNECT, string("T"), string("ELSEWHERE"))
            link.expect(0)
        values = {"A": graph.address, "P": source.pid}
        if not measured:
            endings = Endings("ezprof", folder, **values)
            for story in STORIES:
                begin = time.monotonic()
                endings.each(getattr(endings, story))
                print(f"{story}: ok, {time.monotonic() - begin:.1f} s", flush=True)
            return
        before = bpf_programs()
        with Agent(source.pid, sink.pid) as agent:
            endings = Endings("ezprof", folder, lambda line: line[1] == "record", **values)
            assert endings.lines()
            for story in STORIES:
                begin = time.monotonic()
                endings.each(getattr(endings, story))
                print(f"record: {story}: ok, {time.monotonic() - begin:.1f} s", flush=True)
            small_disk(folder, graph.address)
            hung_agent(folder, graph.address, agent)
            print("small_disk, hung_agent: ok", flush=True)
            with_agent = bpf_programs()
            endings = Endings("ezprof-bpf", folder, **values)
            for story in STORIES:
                begin = time.monotonic()
                endings.each(getattr(endings, story))
                print(f"ezprof-bpf: {story}: ok, {time.monotonic() - begin:.1f} s", flush=True)
            wait_until(lambda: not left_programs(with_agent), 20, "the programs of attach are gone")
        wait_until(lambda: not left_programs(before), 20, "all programs are gone")


main()
