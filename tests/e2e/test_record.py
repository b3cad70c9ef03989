# SPDX-License-Identifier: MIT
"""Recordings: every message once, in order, with its arrows; what is missing is stated."""

import os
import signal
import subprocess
import tempfile
import threading
import time

from agent import Agent, command, profile, subscribers
from graph import Graph, wait_until
from recording import Recorder, Recording, summary_of
from require import require

COUNT = 10007


def chain(graph, *source_options, work_ms=0):
    """SRC -> FLT -> SINK, each in a process of its own; they begin when a fourth is there."""
    sink = graph.node("sink", "SYS/OUT", "--handle", "SINK", "--work-ms", work_ms)
    relay = graph.node("relay", "SYS/IN", "SYS/OUT", "--handle", "FLT")
    source = graph.node("source", "SYS/IN", "--wait-channels", 3, *source_options)
    return source, relay, sink


def pids(nodes):
    return [node.pid for node in nodes]


def arrived(graph, handle, count):
    """Waits until that subscriber has released so many (SYNC would stop the relay in between)."""
    wait_until(lambda: subscribers(profile(graph.address))[handle]["messages"]["total"] == count,
               60, f"{count} messages at {handle}")


def everything(folder):
    """Three processes, two kinds of hops, every message; the summary counts the same."""
    path = os.path.join(folder, "all.json")
    with Graph() as graph:
        nodes = chain(graph, "--count", COUNT)
        with Agent(*pids(nodes)), Recorder("--address", graph.address, "-o", path,
                                           "--summary") as recorder:
            graph.node("sink", "SYS/IN", "--handle", "STARTER")
            arrived(graph, "SINK", COUNT)
            status, text = recorder.end()
        assert status == 0, (status, recorder.stderr())
    recording = Recording(path)
    assert recording.about["lost"] == 0 and not recording.lost, recording.about
    published = recording.of("SYS/IN", "publish")
    assert [m for m, _, _ in published] == list(range(COUNT))
    for name in ("FLT", "SINK"):
        queued, processed = recording.of(name, "queue"), recording.of(name, "process")
        assert len(queued) == len(processed) == COUNT, (name, len(queued), len(processed))
        assert [(m, end) for m, _, end in queued] == [(m, begin) for m, begin, _ in processed]
        assert recording.complete_arrows(name, "process") == COUNT, name
    relayed = recording.of("SYS/OUT", "publish")
    assert len(relayed) == COUNT
    # Which message led to which is found out, and may be missed where a thread was stopped long.
    assert recording.complete_arrows("SYS/OUT", "publish") >= 0.99 * COUNT
    in_flight = recording.in_flight("SYS/IN")
    assert in_flight[-1] == 0 and 1 <= max(in_flight) <= 32 and min(in_flight) >= 0
    paths = summary_of(text)
    assert paths["SYS/IN -> FLT"]["arrival"][0] == COUNT, text
    assert paths["SYS/OUT -> SINK"]["arrival"][0] == COUNT, text
    whole = paths["SYS/IN -> FLT -> SINK"]
    assert whole["arrival"][0] >= 0.99 * COUNT, text
    assert whole["arrival"][1] >= paths["SYS/IN -> FLT"]["arrival"][1], text
    print(f"everything: {COUNT} messages, {len(recording.slices)} slices", flush=True)


def late_and_short(folder):
    """A recording that begins and ends in the midst of traffic has no hole."""
    path = os.path.join(folder, "short.json")
    with Graph() as graph:
        nodes = chain(graph, "--rate", 500)
        graph.node("sink", "SYS/IN", "--handle", "STARTER")
        with Agent(*pids(nodes)):
            for _ in range(2):
                result = command("ezprof", "record", "--address", graph.address, "-o", path,
                                 "--duration", 1)
                assert result.returncode == 0, result.stderr
                recording = Recording(path)
                assert recording.about["lost"] == 0, recording.about
                seen = [m for m, _, _ in recording.of("SYS/IN", "publish")]
                assert len(seen) > 100 and seen == list(range(seen[0], seen[0] + len(seen)))


def joins(folder):
    """By links for everybody; a process that comes in the midst is recorded without a hole."""
    path = os.path.join(folder, "join.json")
    with Graph() as graph:
        graph.node("source", "EARLY", "--rate", 300, "--monitor", "--wait-channels", 1)
        with Agent("--graph", graph.address) as agent, \
                Recorder("--address", graph.address, "-o", path) as recorder:
            late = graph.node("source", "LATE", "--rate", 300, "--monitor", "--wait-channels", 1)
            wait_until(lambda: agent.said(f"process {late.pid} (ezmsg-node): measured"), 30,
                       "the newcomer is measured")
            time.sleep(1.5)
            assert recorder.end()[0] == 0, recorder.stderr()
    recording = Recording(path)
    for topic in ("EARLY", "LATE"):
        seen = [m for m, _, _ in recording.of(topic, "publish")]
        assert len(seen) > 50 and seen == list(range(seen[0], seen[0] + len(seen))), (topic, seen)


def slow_agent(folder):
    """An agent that has no CPU for more than a second is there all the same."""
    with Graph() as graph:
        graph.node("source", "SLOW", "--rate", 300, "--monitor", "--wait-channels", 1)
        with Agent("--graph", graph.address) as agent:
            agent.process.send_signal(signal.SIGSTOP)
            awake = threading.Timer(1.2, agent.process.send_signal, (signal.SIGCONT,))
            awake.start()
            result = command("ezprof", "record", "--address", graph.address, "-o",
                             os.path.join(folder, "slow.json"), "--duration", 0.3)
            awake.join()
            assert result.returncode == 0, result.stderr


def flight(folder):
    """The last seconds only; a signal writes a file of its own, and the recording goes on."""
    path = os.path.join(folder, "flight.json")
    with Graph() as graph:
        nodes = chain(graph, "--rate", 200)
        graph.node("sink", "SYS/IN", "--handle", "STARTER")
        with Agent(*pids(nodes)), Recorder("--address", graph.address, "-o", path, "--flight",
                                           0.5) as recorder:
            time.sleep(1.5)
            recorder.process.send_signal(signal.SIGUSR1)
            first = os.path.join(folder, "flight-1.json")
            wait_until(lambda: os.path.exists(first), 30, "the file of the signal")
            time.sleep(0.7)
            assert recorder.end()[0] == 0, recorder.stderr()
    spans = []
    for name in (first, path):
        recording = Recording(name)
        assert recording.about["flight_s"] == 0.5 and recording.about["lost"] == 0
        seen = recording.of("SYS/IN", "publish")
        spans.append(seen)
        # On a machine that does other things as well it may take a while to come to writing.
        assert 0 < seen[-1][1] - seen[0][1] < 1.0e9, (len(seen), seen[0], seen[-1])
    assert spans[1][-1][0] > spans[0][-1][0]
    assert not [f for f in os.listdir(folder) if f.endswith(".part")]


def blocked(folder):
    """A publisher that waits for long has a file written while it still waits."""
    path = os.path.join(folder, "stall.json")
    with Graph() as graph:
        sink = graph.node("sink", "T", "--handle", "SLOW", "--work-ms", 1500)
        source = graph.node("source", "T", "--num-buffers", 2, "--wait-channels", 2)
        with Agent(source.pid, sink.pid), Recorder("--address", graph.address, "-o", path,
                                                   "--flight", 10, "--blocked", 300) as recorder:
            dump = os.path.join(folder, "stall-1.json")
            wait_until(lambda: os.path.exists(dump), 30, "the file of the stall")
            assert recorder.said(f"T (pid {source.pid}) has waited for"), recorder.stderr()
            wait_until(lambda: os.path.exists(os.path.join(folder, "stall-2.json")), 30,
                       "the file of the next stall")
            recorder.end()
    waits = [(begin, end) for _, name, begin, end, _ in Recording(path).slices if name == "blocked"]
    assert waits and max(end - begin for begin, end in waits) > 0.3e9, waits


def lost(folder):
    """An agent that doesn't get to the ring: what is missing is in the file, and nothing else."""
    path = os.path.join(folder, "lost.json")
    count = 30011
    with Graph() as graph:
        source = graph.node("source", "T", "--count", count, "--monitor", "--wait-channels", 2)
        with Agent("--record-buffer", 1, source.pid) as agent, \
                Recorder("--address", graph.address, "-o", path) as recorder:
            os.kill(agent.pid, signal.SIGSTOP)
            graph.node("sink", "T", "--handle", "STARTER")
            Graph.sent(source)
            graph.sync()
            os.kill(agent.pid, signal.SIGCONT)
            status, _ = recorder.end()
        assert status == 5, (status, recorder.stderr())
    recording = Recording(path)
    about, published = recording.about, recording.of("T", "publish")
    assert 0 < len(published) < count, len(published)
    assert about["lost"] == about["lost_no_room"] > count, about
    assert sum(recording.lost) <= about["lost"], (recording.lost, about)
    # Publisher, its link to itself, its own subscriber, its link to the starter.
    assert about["spans"] + about["lost"] == 4 * count, about
    print(f"lost: {about['lost']} of {4 * count} spans", flush=True)


def stalled(folder):
    """Who doesn't take what is sent misses it, and is told how much; who does has everything."""
    slow, quick = (os.path.join(folder, f"{name}.json") for name in ("slow", "quick"))
    count = 120011
    with Graph() as graph:
        source = graph.node("source", "T", "--count", count, "--monitor", "--wait-channels", 2)
        with Agent("--record-buffer", 64, source.pid), \
                Recorder("--address", graph.address, "-o", slow) as one, \
                Recorder("--address", graph.address, "-o", quick, "--max-spans", 11) as other:
            one.process.send_signal(signal.SIGSTOP)
            graph.node("sink", "T", "--handle", "STARTER")
            Graph.sent(source)
            graph.sync()
            assert other.end()[0] == 0, other.stderr()
            one.process.send_signal(signal.SIGCONT)
            assert one.end()[0] == 5, one.stderr()
    about = Recording(quick).about
    assert (about["lost"], about["overwritten"]) == (0, 4 * count - 11), about
    about = Recording(slow).about
    assert about["lost"] == about["lost_not_sent"] > 0, about
    assert about["spans"] + about["lost"] == 4 * count, about
    print(f"stalled: {about['lost']} of {4 * count} spans", flush=True)


def strangers(folder):
    """A user who may not see a process doesn't hear of it."""
    open_folder = os.path.join(folder, "open")
    os.mkdir(open_folder)
    os.chmod(folder, 0o755)
    os.chmod(open_folder, 0o777)
    path = os.path.join(open_folder, "strange.json")
    with Graph() as graph:
        source = graph.node("source", "SECRET", "--rate", 500, "--monitor", "--wait-channels", 1)
        with Agent(source.pid) as agent:
            result = subprocess.run(
                ["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups",
                 os.path.join(os.environ["EZPROF_BIN_DIR"], "ezprof"), "record", "-o", path,
                 "--address", graph.address, "--duration", "0.5"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, timeout=60)
            assert agent.process.poll() is None
    if result.returncode == 4:
        # It isn't told which graphs there are either.
        assert "no agent measures" in result.stderr, result
        return
    assert result.returncode == 0, result
    with open(path) as file:
        text = file.read()
    assert "SECRET" not in text and Recording(path).about["spans"] == 0, text


def ends(folder):
    """The agent leaves with the last process: what it had is there, and nothing is missing."""
    path = os.path.join(folder, "end.json")
    with Graph() as graph:
        source = graph.node("source", "T", "--rate", 1000, "--monitor", "--wait-channels", 1)
        with Agent(source.pid), Recorder("--address", graph.address, "-o", path) as recorder:
            time.sleep(0.5)
            source.process.terminate()
            status, _ = recorder.end(how=None)
        assert status == 0, (status, recorder.stderr())
    seen = [m for m, _, _ in Recording(path).of("T", "publish")]
    assert seen and seen == list(range(seen[0], seen[0] + len(seen))), seen


def bounded(folder):
    """--max-spans: the newest are kept, the others are counted."""
    path = os.path.join(folder, "few.json")
    with Graph() as graph:
        source = graph.node("source", "T", "--count", 5003, "--monitor", "--wait-channels", 2)
        with Agent(source.pid), Recorder("--address", graph.address, "-o", path, "--max-spans",
                                         1000) as recorder:
            graph.node("sink", "T", "--handle", "STARTER")
            Graph.sent(source)
            graph.sync()
            assert recorder.end()[0] == 0, recorder.stderr()
    about = Recording(path).about
    assert (about["spans"], about["overwritten"], about["lost"]) == (1000, 4 * 5003 - 1000, 0), about


def refusals(folder):
    def says(status, text, *arguments):
        result = command("ezprof", "record", *arguments)
        assert result.returncode == status, (arguments, result)
        assert text in result.stderr, (arguments, result.stderr)

    says(2, ".pftrace or .json", "-o", os.path.join(folder, "x.txt"))
    says(2, "-o FILE", "--duration", 1)
    says(2, "'0'", "-o", "x.json", "--flight", 0)
    says(1, "No such file", "-o", os.path.join(folder, "no/where.json"))
    with Graph() as graph:
        says(4, f"ezprof-bpf attach --graph {graph.address}", "--address", graph.address,
             "--summary")
        source = graph.node("source", "T", "--rate", 100, "--monitor", "--wait-channels", 1)
        with Agent("--record-buffer", 0, source.pid):
            result = command("ezprof", "record", "--address", graph.address, "--summary")
            assert result.returncode == 4 and "--record-buffer was 0" in result.stderr, result
        full = os.path.join(folder, "full.json")
        os.symlink("/dev/full", full)
        with Agent(source.pid):
            says(1, "No space left", "--address", graph.address, "-o", full, "--duration", 0.2)
            with open("/dev/full", "w") as out:
                result = subprocess.run(["ezprof", "record", "--address", graph.address,
                                         "--summary", "--duration", "0.2"], stdout=out,
                                        stderr=subprocess.PIPE, text=True, timeout=60,
                                        executable=os.path.join(os.environ["EZPROF_BIN_DIR"],
                                                                "ezprof"))
            assert result.returncode == 1 and "No space left" in result.stderr, result


def main():
    require("bpf")
    with tempfile.TemporaryDirectory() as folder:
        for test in (everything, late_and_short, joins, slow_agent, flight, blocked, lost, stalled, strangers,
                     ends, bounded, refusals):
            begun = time.monotonic()
            test(folder)
            print(f"{test.__name__}: {time.monotonic() - begun:.1f} s", flush=True)


main()
