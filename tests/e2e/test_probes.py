# SPDX-License-Identifier: MIT
"""`ezprof probes`: each probe of the list with its arguments; its line for bpftrace works as it stands."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from agent import command
from elf_sites import semaphores
from graph import Graph, wait_until
from require import require, skip

SOURCE = os.environ["EZPROF_SOURCE_DIR"]


def listed():
    """{probe: [argument...]} of the list in the source."""
    with open(os.path.join(SOURCE, "usdt", "probe_list.h"), encoding="utf-8") as file:
        return {m[1]: m[2].split(", ") for m in
                re.finditer(r'^\tX\((\w+), \d, "([^"]*)"', file.read(), re.M)}


def library_of(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libezmsg.so" in line)


def probes(what, status=0):
    result = command("ezprof", "probes", what)
    assert result.returncode == status, (what, result)
    assert bool(result.stdout) == (status == 0), result
    if status:
        assert result.stderr.startswith("ezprof probes: "), result
        assert "\x1b" not in result.stderr, result
    return result.stdout if status == 0 else result.stderr


def check_list(text):
    found = {}
    for block in text.split("\n\n")[1:]:
        name = re.match(r"ezmsg:(\w+): \w", block)[1]
        found[name] = re.findall(r"^    arg\d+ (\w+) +\S", block, re.M)
    assert found == listed() and len(found) > 10, found


def listen(graph, pid, line):
    """What a line counts of the topic while it is listening: up to a moment after its semaphore is."""
    tracer = graph.program("sh", "-c", "exec " + line)
    wait_until(lambda: semaphores(pid)["publish"], 30, "the semaphore is up")
    assert probes(pid).count("(1 listening)") == 1
    time.sleep(1)
    try:
        out = tracer.stop(signal.SIGINT, 40)
    except subprocess.TimeoutExpired:
        print("bpftrace did not end when it was told to")
        out = ""
    wait_until(lambda: not semaphores(pid)["publish"], 30, "the semaphore is down")
    found = re.search(r"^@\[TOP/IC\]: (\d+)$", out, re.M)
    return int(found[1]) if found else 0


def as_json(what, text):
    """The same in JSON."""
    result = command("ezprof", "probes", "--json", what)
    assert result.returncode == 0, result
    document = json.loads(result.stdout)
    [file] = document["files"]
    assert document["pid"] == (what if isinstance(what, int) else None), document
    assert {p["name"]: [a["name"] for a in p["arguments"]] for p in file["probes"]} == listed()
    assert [p["bpftrace"] for p in file["probes"]] == re.findall(r"^    (bpftrace .*)$", text, re.M), text
    for probe in file["probes"]:
        assert f"ezmsg:{probe['name']}: {probe['what']}" in text and probe["sites"] > 0, probe
        assert (probe["listeners"] is None) == (document["pid"] is None), probe


def file_and_process():
    with Graph() as graph:
        source = graph.node("source", "TOP/IC", "--rate", 200)
        library = library_of(source.pid)
        text = probes(library)
        check_list(text)
        assert " -p " not in text and "listening" not in text, text
        as_json(library, text)
        text = probes(source.pid)
        check_list(text)
        as_json(source.pid, text)
        odd(library)
        if not shutil.which("bpftrace"):
            skip("bpftrace is not installed", "EZPROF_REQUIRE_BPF")
        [line] = [s.strip() for s in text.splitlines() if "bpftrace" in s and ":publish" in s]
        assert f"-p {source.pid} " in line and "(0 listening)" in text, text
        # Its probe is there some time after its semaphore.
        assert any(listen(graph, source.pid, line) for _ in range(5))


def odd(library):
    """A name that neither a shell nor bpftrace takes; a copy that is damaged, byte by byte."""
    with tempfile.TemporaryDirectory() as folder:
        strange = os.path.join(folder, "it's\n\x1b[31m.so")
        shutil.copy(library, strange)
        text = probes(strange)
        assert "can't be told this file's name" in text and "\x1b" not in text, text
        [named] = json.loads(command("ezprof", "probes", "--json", strange).stdout)["files"]
        assert named["path"] == strange and named["probes"][0]["bpftrace"] is None, named
        with open(library, "rb") as file:
            content = file.read()
        for size in (0, 3, 63, 64, 1000, len(content) // 2, len(content) - 1):
            cut = os.path.join(folder, "cut")
            with open(cut, "wb") as file:
                file.write(content[:size])
            probes(cut, 4)
        fifo, text_file = os.path.join(folder, "fifo"), os.path.join(folder, "4242")
        os.mkfifo(fifo)
        with open(text_file, "w", encoding="utf-8") as file:
            file.write("text")
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(os.path.join(folder, "socket"))
            for name, says in ((fifo, "is no file"), (folder, "is no file"),
                               (text_file, "is not an ELF file"),
                               (os.path.join(folder, "none"), "No such file"),
                               (os.path.join(folder, "socket"), "No such device"),
                               (sys.executable, "no probes"), ("x" * 5000, "File name too long")):
                assert says in probes(name, 4), name


def bad_processes():
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert "no such process" in probes(child.pid, 4)
    assert "no ezprof probes: searched" in probes(os.getpid(), 4)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    assert f"is a thread of process {os.getpid()}" in probes(thread.native_id, 4)
    end.set()
    thread.join()
    for arguments in ([], ["1", "2"], ["--x"]):
        result = command("ezprof", "probes", *arguments)
        assert result.returncode == 2 and not result.stdout and result.stderr, result


require("bpf")
for story in (file_and_process, bad_processes):
    story()
    print(f"{story.__name__}: ok", flush=True)
