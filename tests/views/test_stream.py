# SPDX-License-Identifier: MIT
"""`ezprof profile --interval`: each report visible at once, and an end that is as it should be."""
import json
import os
import select
import signal
import subprocess
import time

from graph import BIN, Graph

INTERVAL_S = 0.3


def stream(address, *options, stdout=subprocess.PIPE):
    return subprocess.Popen([os.path.join(BIN, "ezprof"), "profile", "--address", address,
                             "--interval", str(INTERVAL_S), *options], stdin=subprocess.DEVNULL,
                            stdout=stdout, stderr=subprocess.PIPE, text=True)


def next_line(program, seconds=20):
    ready, _, _ = select.select([program.stdout], [], [], seconds)
    assert ready, "no report in time"
    return program.stdout.readline()


def ends(program, status, seconds=20):
    _, errors = program.communicate(timeout=seconds)
    assert program.returncode == status, (program.returncode, errors)
    return errors


def counted(address):
    begin = time.monotonic()
    program = stream(address, "--count", "4")
    text, errors = program.communicate(timeout=30)
    assert program.returncode == 0, errors
    documents = [json.loads(line) for line in text.splitlines()]
    assert len(documents) == 4
    assert time.monotonic() - begin >= 3 * INTERVAL_S
    times = [d["time_ns"] for d in documents]
    assert times == sorted(times) and len(set(times)) == 4
    assert {d["window_s"] for d in documents} == {INTERVAL_S}, "windows one behind the other"


def visible_at_once(address):
    """A pipe is no reason to keep a report back."""
    program = stream(address, "--format", "jsonl")
    for _ in range(2):
        lines = [next_line(program)]
        while '"summary"' not in lines[-1]:
            lines.append(next_line(program))
        assert '"meta"' in lines[0]
    program.send_signal(signal.SIGTERM)
    ends(program, 0)


def one_header(address):
    program = stream(address, "--format", "csv", "--count", "3")
    text, _ = program.communicate(timeout=30)
    assert text.count("time_unix_s,scope") == 1 and text.count(",graph,") == 3, text[:300]
    program = stream(address, "--format", "openmetrics", "--count", "2")
    text, _ = program.communicate(timeout=30)
    assert text.count("# EOF\n") == 2


def signals(address):
    """The last interval is reported, whole, and it is no failure."""
    for number in (signal.SIGTERM, signal.SIGINT):
        program = stream(address)
        next_line(program)
        time.sleep(INTERVAL_S / 2 + 0.05)
        program.send_signal(number)
        rest, errors = program.communicate(timeout=20)
        assert program.returncode == 0 and errors == "", (program.returncode, errors)
        assert rest.endswith("\n"), rest[-100:]
        for line in rest.splitlines():
            json.loads(line)


def interrupted_any_time(address):
    """Whenever it comes: dead by it before the first report, 0 after; never half a line."""
    for step in range(12):
        program = stream(address, "--format", "jsonl")
        time.sleep(0.004 * step)
        program.send_signal(signal.SIGINT)
        text, errors = program.communicate(timeout=20)
        assert program.returncode in (0, -signal.SIGINT), (program.returncode, errors)
        assert text == "" or text.endswith("\n"), text[-100:]
        assert program.returncode == 0 or text == "", text
        assert errors == "", errors


def closed_pipe(address):
    """Quiet, soon, and no failure."""
    program = stream(address, "--format", "jsonl")
    next_line(program)
    program.stdout.close()
    begin = time.monotonic()
    assert program.wait(20) == 0 and program.stderr.read() == ""
    assert time.monotonic() - begin < 10
    program.stderr.close()


def closed_while_waiting(address):
    """Not only when there is something to write."""
    program = subprocess.Popen([os.path.join(BIN, "ezprof"), "profile", "--address", address,
                                "--interval", "3600", "--window", "0.3"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    next_line(program)
    time.sleep(0.1)
    program.stdout.close()
    assert program.wait(20) == 0 and program.stderr.read() == ""
    program.stderr.close()


def full_disk(address):
    for options in (("--count", "3"), ("--format", "table"), ("--format", "csv")):
        with open("/dev/full", "w") as full:
            program = stream(address, *options, stdout=full)
            assert "No space left" in ends(program, 1)


def checked(address):
    """Rules on a running graph; without an agent nobody knows how long processing takes."""
    for rule, status in (("pub.messages_total < 1", 0), ("pub.messages_total > 1", 3),
                         ("sub.process_p99_ms > 5", 4)):
        done = subprocess.run([os.path.join(BIN, "ezprof"), "check", "--address", address, "--count",
                               "2", "--window", "0.2", "--fail-if", rule], text=True, timeout=30,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == status, (rule, done.returncode, done.stdout, done.stderr)
        assert status == 4 or "in 2 documents" in done.stdout, done.stdout


def every_command(address):
    """A full disk is a failure in one line, a reader that has gone is none, for each of them."""
    file = os.path.join(os.environ["EZPROF_SOURCE_DIR"], "tests", "data", "why_chain.json")
    where = ("--address", address)
    for words in (("why", *where), ("why", file), ("why", "--json", file), ("graph", *where, "--live"),
                  ("check", "--fail-if", "pub.rate_hz < 0", file), ("diff", file, file),
                  *(("profile", "--from", file, "--format", form)
                    for form in ("json", "table", "jsonl", "csv", "openmetrics"))):
        program = [os.path.join(BIN, "ezprof"), *words]
        with open("/dev/full", "w") as full:
            done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
        assert done.returncode == 1 and "No space left" in done.stderr, (words, done)
        assert done.stderr.count("\n") == 1, done.stderr
        gone, end = os.pipe()
        os.close(gone)
        done = subprocess.run(program, stdout=end, stderr=subprocess.PIPE, text=True, timeout=20)
        os.close(end)
        assert done.returncode == 0 and done.stderr == "", (words, done)


def server_goes(graph):
    program = stream(graph.address)
    next_line(program)
    graph.server.stop()
    errors = ends(program, 1, 30)
    assert errors.count("\n") == 1 and graph.address in errors, errors


def main():
    with Graph() as graph:
        graph.node("sink", "T")
        graph.node("source", "T", "--rate", 100, "--wait-channels", 1)
        for story in (counted, visible_at_once, one_header, signals, interrupted_any_time,
                      closed_pipe, closed_while_waiting, full_disk, checked, every_command):
            story(graph.address)
            print(f"{story.__name__}: ok", flush=True)
        server_goes(graph)
        print("server_goes: ok")


main()
